/** Calls of the studio's API. A failure is an error whose message is a sentence for the user. */

import type { Network, Positions } from "../model/network";
import { setLost } from "../state/studio";
import type * as T from "./types";

const TOKEN = "boxcars.token";

/** Take the token from the fragment of the address, and keep it in this tab. */
function takeToken(): string {
  const found = /[#&]token=([^&]+)/.exec(location.hash)?.[1];
  if (found !== undefined) {
    sessionStorage.setItem(TOKEN, decodeURIComponent(found));
    history.replaceState(null, "", location.pathname + location.search);
  }
  return sessionStorage.getItem(TOKEN) ?? "";
}

let token = takeToken();

/**
 * A restarted studio has a new token and may open a new tab. That tab sends the token to the older
 * tabs; opening the new address in one of them does the same.
 */
const tabs = new BroadcastChannel(TOKEN);
if (token) tabs.postMessage(token);
tabs.onmessage = (event: MessageEvent<string>) => {
  sessionStorage.setItem(TOKEN, event.data);
  token = event.data;
};
window.addEventListener("hashchange", () => {
  token = takeToken();
});

const authorized = (): Record<string, string> =>
  token ? { Authorization: `Bearer ${token}` } : {};

/** The studio refused a request, or can't be reached. */
export class ApiError extends Error {
  constructor(
    message: string,
    readonly status: number,
  ) {
    super(message);
  }
}

const GONE =
  "The studio does not respond. Your work is still here: restart it with 'boxcars studio', and this page reconnects.";

/** The message of an error response. */
async function sentence(answer: Response): Promise<string> {
  try {
    const said = (await answer.json()) as { detail?: unknown };
    if (typeof said.detail === "string") return said.detail;
    if (Array.isArray(said.detail)) return "The studio did not understand the request.";
  } catch {
    return `The studio answered with ${answer.status} ${answer.statusText}.`;
  }
  return `The studio answered with ${answer.status} ${answer.statusText}.`;
}

async function call<Answer>(
  method: string,
  path: string,
  body?: unknown,
  signal?: AbortSignal,
): Promise<Answer> {
  let answer: Response;
  try {
    answer = await fetch(path, {
      method,
      headers: {
        ...authorized(),
        ...(body !== undefined && { "Content-Type": "application/json" }),
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
      ...(signal && { signal }),
    });
  } catch (error) {
    if (signal?.aborted) throw error;
    lose();
    throw new ApiError(GONE, 0);
  }
  setLost(false);
  if (!answer.ok) throw new ApiError(await sentence(answer), answer.status);
  return (answer.status === 204 ? undefined : await answer.json()) as Answer;
}

let looking = false;

/** Poll the studio until it responds again. */
export function lose(): void {
  setLost(true);
  if (looking) return;
  looking = true;
  const timer = window.setInterval(() => {
    fetch("/api/about", { headers: authorized() }).then(
      (answer) => {
        if (!answer.ok) return;
        looking = false;
        window.clearInterval(timer);
        setLost(false);
      },
      () => undefined,
    );
  }, 1000);
}

const e = encodeURIComponent;
const get = <A>(path: string, signal?: AbortSignal) => call<A>("GET", path, undefined, signal);
const post = <A>(path: string, body: unknown = {}, signal?: AbortSignal) =>
  call<A>("POST", path, body, signal);

/** A document, with the types of the page. */
export interface Opened {
  network: Network;
  positions: Positions;
  format: string;
  problems: T.Problem[];
  version: string;
}
const opened = (document: T.Document): Opened => document as unknown as Opened;

export const api = {
  about: () => get<T.About>("/api/about"),
  palette: () => get<T.Palette>("/api/palette"),
  templates: () => get<T.TemplateInfo[]>("/api/templates"),
  template: async (name: string) => opened(await get(`/api/templates/${e(name)}`)),
  networks: () => get<T.NetworkFile[]>("/api/networks"),
  data: () => get<T.DataFile[]>("/api/data"),
  open: async (file: string) => opened(await get(`/api/networks/${e(file)}`)),
  save: async (file: string, ask: T.SaveNetwork & { network: Network }) =>
    opened(await call("PUT", `/api/networks/${e(file)}`, ask)),
  removeFile: (file: string) => call<undefined>("DELETE", `/api/networks/${e(file)}`),
  read: async (text: string, format: T.ReadFormat, name: string) =>
    opened(await post("/api/read", { text, format, name })),
  write: async (network: Network, format: T.WriteFormat, positions: Positions) =>
    (await post<{ text: string }>("/api/write", { network, format, positions })).text,
  check: (network: Network, signal?: AbortSignal) =>
    post<T.CheckAnswer>("/api/check", { network }, signal),
  complete: (ask: Omit<T.AskComplete, "network"> & { network: Network }) =>
    post<T.Completion>("/api/complete", ask),
  diff: (before: Network, after: Network) => post<T.Diff>("/api/diff", { old: before, new: after }),
  group: (network: Network, boxes: readonly string[], name: string) =>
    post<T.Regrouped>("/api/group", { network, boxes, name }),
  ungroup: (network: Network, box: string) => post<T.Regrouped>("/api/ungroup", { network, box }),
  sample: (network: Network, input: string, rows: number, seed: number) =>
    post<T.Sample>("/api/sample", { network, input, rows, seed }),
  plan: (ask: T.AskPlan, signal?: AbortSignal) => post<T.PlanAnswer>("/api/plan", ask, signal),
  compile: (ask: T.AskCompile) => post<T.Compiled>("/api/compile", ask),
  preview: (ask: T.AskPreview) => post<T.Preview>("/api/previews", ask),
  step: (id: string, ask: T.AskStep) => post<T.Preview>(`/api/previews/${e(id)}/step`, ask),
  back: (id: string) => post<T.Preview>(`/api/previews/${e(id)}/back`),
  endPreview: (id: string) => call<undefined>("DELETE", `/api/previews/${e(id)}`),
  tests: (file: string) => get<T.KeptCases>(`/api/networks/${e(file)}/tests`),
  saveTests: (file: string, tests: T.Case[], over: string | null) =>
    call<T.KeptCases>("PUT", `/api/networks/${e(file)}/tests`, { tests, over }),
  runTests: (network: Network, tests: T.Case[]) =>
    post<T.CaseResult[]>("/api/tests/run", { network, tests }),
  runs: () => get<T.Run[]>("/api/runs"),
  start: (ask: T.AskRun) => post<T.Run>("/api/runs", ask),
  stop: (id: string) => post<T.Run>(`/api/runs/${e(id)}/stop`),
  forget: (id: string) => call<undefined>("DELETE", `/api/runs/${e(id)}`),
  modify: (id: string, ask: T.AskModify) => post<T.Run>(`/api/runs/${e(id)}/modify`, ask),
  history: (id: string, since = 0) =>
    get<T.HistoryAnswer>(`/api/runs/${e(id)}/history?since=${since}`),
  log: async (id: string) => (await get<{ lines: string[] }>(`/api/runs/${e(id)}/log`)).lines,
  arc: async (id: string, arc: string) =>
    (await get<{ rows: T.Row[] }>(`/api/runs/${e(id)}/arcs/${e(arc)}`)).rows,
  output: (id: string, name: string) => get<T.OutputRows>(`/api/runs/${e(id)}/outputs/${e(name)}`),
  enqueue: (id: string, input: string, data: T.Enqueue) =>
    post<{ tuples: number; dead: number }>(`/api/runs/${e(id)}/inputs/${e(input)}`, data),
  injectors: (id: string) => get<T.Injector[]>(`/api/runs/${e(id)}/injectors`),
  inject: (id: string, ask: T.AskInjector) => post<T.Injector>(`/api/runs/${e(id)}/injectors`, ask),
  changeInjector: (id: string, ask: T.ChangeInjector) =>
    call<T.Injector>("PATCH", `/api/injectors/${e(id)}`, ask),
  endInjector: (id: string) => call<undefined>("DELETE", `/api/injectors/${e(id)}`),
};

/** The address of the WebSocket with the live messages of a run. */
export function watchAddress(id: string): string {
  const scheme = location.protocol === "https:" ? "wss" : "ws";
  return `${scheme}://${location.host}/api/runs/${e(id)}/watch?token=${e(token)}`;
}
