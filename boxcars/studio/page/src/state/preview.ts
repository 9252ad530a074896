/** The preview: sample data goes through the network step by step. */

import { create } from "zustand";

import { api } from "../api/client";
import type { AskStep, InputData, Preview } from "../api/types";
import type { Network } from "../model/network";
import { useDoc } from "./doc";
import { clearOverlay, overlay, type ArcMark, type BoxMark } from "./overlay";
import { complain, say, useStudio } from "./studio";
import { addCase } from "./tests";

interface Previewed {
  network: Network;
  data: Record<string, string>;
  tables: Record<string, string>;
}

interface PreviewState {
  /** The text of each input, as CSV or JSON lines. */
  data: Record<string, string>;
  tables: Record<string, string>;
  rows: number;
  train: number;
  preview: Preview | null;
  /** The network and the data as they were when the preview started. */
  of: Previewed | null;
  busy: boolean;
  /** Breakpoints: arcs, each with a condition or none. */
  stops: Record<string, string>;
  trouble: string | null;
}

export const usePreview = create<PreviewState>(() => ({
  data: {},
  tables: {},
  rows: 200,
  train: 10,
  preview: null,
  of: null,
  busy: false,
  stops: {},
  trouble: null,
}));

const { getState: get, setState: set } = usePreview;

const asData = (text: string): InputData => ({
  format: text.trimStart().startsWith("{") ? "jsonl" : "csv",
  text,
  rows: [],
});

const nonEmpty = (texts: Record<string, string>): Record<string, InputData> =>
  Object.fromEntries(
    Object.entries(texts)
      .filter(([, text]) => text.trim() !== "")
      .map(([name, text]) => [name, asData(text)]),
  );

function show(preview: Preview | null): void {
  set({ preview });
  draw();
}

/** Show the counts on the drawing. */
export function draw(): void {
  const { preview, stops } = get();
  if (useStudio.getState().mode !== "preview") return;
  if (!preview) {
    const marks = Object.keys(stops).map((arc): [string, ArcMark] => [arc, { stop: true }]);
    overlay({ boxes: {}, arcs: Object.fromEntries(marks) });
    return;
  }
  const arcs: Record<string, ArcMark> = {};
  for (const [name, arc] of Object.entries(preview.arcs))
    arcs[name] = {
      ...(arc.total > 0 && {
        text: arc.fresh ? `${arc.total}  +${arc.fresh}` : String(arc.total),
      }),
      level: arc.fresh ? "good" : "quiet",
      fresh: arc.fresh > 0,
      width: arc.fresh ? 2.6 : 1.6,
      stop: name in stops,
    };
  const boxes: Record<string, BoxMark> = {};
  for (const [name, { stats, state }] of Object.entries(preview.boxes)) {
    const held = state.reduce((sum, table) => sum + table.total, 0);
    const text = `${stats.tuples_in} in, ${stats.tuples_out} out${held ? `, holds ${held}` : ""}`;
    boxes[name] = { text };
  }
  for (const name of Object.keys(useDoc.getState().doc.network.boxes ?? {}))
    boxes[name] ??= inside(preview, name);
  for (const [name, output] of Object.entries(preview.outputs))
    boxes[`-> ${name}`] = {
      text: output.total === 1 ? "1 tuple" : `${output.total} tuples`,
      ...(output.fresh && { tone: "active" as const }),
    };
  overlay({ boxes, arcs });
}

/** The combined counts of the boxes inside a superbox. */
function inside(preview: Preview, use: string): BoxMark {
  const parts = Object.entries(preview.boxes).filter(([name]) => name.startsWith(`${use}/`));
  const held = parts.reduce((sum, [, b]) => sum + b.state.reduce((s, t) => s + t.total, 0), 0);
  return parts.length ? { text: held ? `holds ${held}` : `${parts.length} boxes inside` } : {};
}

async function attempt(work: () => Promise<void>): Promise<void> {
  set({ busy: true, trouble: null });
  try {
    await work();
  } catch (error) {
    set({ trouble: error instanceof Error ? error.message : String(error) });
  } finally {
    set({ busy: false });
  }
}

/** Generate tuples for all inputs, or only for the named one. */
export const sample = (only?: string): Promise<void> =>
  attempt(async () => {
    const { network } = useDoc.getState().doc;
    const names = only === undefined ? Object.keys(network.inputs ?? {}) : [only];
    for (const name of names) {
      const made = await api.sample(network, name, get().rows, 1);
      set({ data: { ...get().data, [name]: made.text } });
      for (const [table, records] of Object.entries(made.tables))
        if (!get().tables[table])
          set({
            tables: { ...get().tables, [table]: records.map((r) => JSON.stringify(r)).join("\n") },
          });
    }
  });

export function putData(input: string, text: string): void {
  set({ data: { ...get().data, [input]: text } });
}

export function putTable(table: string, text: string): void {
  set({ tables: { ...get().tables, [table]: text } });
}

async function begin(): Promise<Preview> {
  const { preview } = get();
  if (preview) void api.endPreview(preview.id).catch(() => undefined);
  const { network } = useDoc.getState().doc;
  const { data, tables, train } = get();
  const started = await api.preview({
    network: network as unknown as Record<string, unknown>,
    data: nonEmpty(data),
    tables: nonEmpty(tables),
    train,
  });
  set({ of: { network, data, tables } });
  return started;
}

/** Start from the first tuple; generates data if there is none. */
export async function start(): Promise<void> {
  const inputs = Object.keys(useDoc.getState().doc.network.inputs ?? {});
  if (!inputs.some((name) => get().data[name]?.trim())) await sample();
  await attempt(async () => show(await begin()));
}

/** What has changed since the preview started ("network" or "data"); null if nothing has. */
export function changedSince(state: PreviewState, network: Network): string | null {
  const { of, data, tables } = state;
  if (of === null) return null;
  if (of.network !== network) return "network";
  return same(of.data, data) && same(of.tables, tables) ? null : "data";
}

const same = (one: Record<string, string>, other: Record<string, string>): boolean =>
  [...new Set([...Object.keys(one), ...Object.keys(other)])].every(
    (name) => (one[name] ?? "") === (other[name] ?? ""),
  );

/** Step; restarts if nothing was started, or the network or the data has changed. */
async function go(ask: AskStep): Promise<void> {
  const state = get();
  if (!state.preview || changedSince(state, useDoc.getState().doc.network) !== null) await start();
  const now = get().preview;
  if (!now || get().trouble !== null) return;
  await attempt(async () => show(await api.step(now.id, ask)));
}

export const step = (): Promise<void> => go({ tuples: get().train });
export const toEnd = (): Promise<void> => go({ to: "end" });

/** Step until a tuple reaches one of the breakpoints. */
export async function toStop(): Promise<void> {
  await go({ until: Object.entries(get().stops).map(([arc, where]) => ({ arc, where })) });
  const { preview } = get();
  if (preview?.stopped_at) say(`Stopped: a tuple reached ${preview.stopped_at}.`);
  else if (preview?.finished) say("The data ended before a tuple reached a breakpoint.");
}

export const back = (): Promise<void> =>
  attempt(async () => {
    const { preview } = get();
    if (preview) show(await api.back(preview.id));
  });

export function restart(): void {
  const { preview } = get();
  if (preview) void api.endPreview(preview.id).catch(complain);
  set({ preview: null, of: null, trouble: null });
  draw();
}

/** Set a breakpoint, change its condition, or remove it. */
export function putStop(arc: string, where: string | null): void {
  const { [arc]: _, ...rest } = get().stops;
  set({ stops: where === null ? rest : { [arc]: where, ...rest } });
  draw();
}

/** Save the data and the results as a test of the network. */
export function keepAsTest(): void {
  const { preview, of } = get();
  if (!preview || !of) return;
  const full = (texts: Record<string, string>) =>
    Object.fromEntries(Object.entries(texts).filter(([, text]) => text.trim()));
  const expect = Object.entries(preview.outputs).map(([name, out]) => [name, out.rows] as const);
  addCase({
    name: "from a preview",
    given: full(of.data),
    tables: full(of.tables),
    expect: Object.fromEntries(expect),
  });
  say("Saved as a test: see Tests below the canvas.", "good");
}

useStudio.subscribe((state, before) => {
  if (state.mode === before.mode) return;
  if (state.mode === "preview") draw();
  else if (before.mode === "preview") clearOverlay();
});
