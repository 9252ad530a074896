/** Launch options: sources and sinks, plan, Spark master. */

import { create } from "zustand";

import { api } from "../api/client";
import type { AskCompile, AskPlan, AskRun, InjectorSource, Strategy } from "../api/types";
import type { Network } from "../model/network";
import { useDoc } from "./doc";
import { openTemplate } from "./files";
import { usePalette } from "./palette";
import { chooseRun, isOver, loadRuns, useRuns } from "./runs";
import { complain, openDialog, setMode } from "./studio";

interface Launch {
  sources: Record<string, string>;
  sinks: Record<string, string>;
  tables: Record<string, string>;
  strategy: Strategy;
  instances: number | null;
  perSubquery: Record<string, number>;
  buckets: number;
  epochRows: number;
  master: string | null;
  groups: Record<string, string[]>;
  pool: string;
  /** Generated tuples per second, from the start; null for none. */
  feed: number | null;
  starting: boolean;
}

const FRESH: Launch = {
  sources: {},
  sinks: {},
  tables: {},
  strategy: "operator-set-cloud",
  instances: null,
  perSubquery: {},
  buckets: 64,
  epochRows: 100_000,
  master: null,
  groups: {},
  pool: "",
  feed: 500,
  starting: false,
};

export const useLaunch = create<Launch>(() => FRESH);
const { getState: get, setState: set } = useLaunch;

export const setLaunch = (part: Partial<Launch>): void => set(part);

useDoc.subscribe((state, before) => {
  if (state.file !== before.file || state.doc.network.name !== before.doc.network.name)
    set({ groups: {}, perSubquery: {} });
});

const asPlain = (network: Network) => network as unknown as Record<string, unknown>;

/** Only the addresses that are set: inputs without one are injected. */
const named = (addresses: Record<string, string>, names: readonly string[]) =>
  Object.fromEntries(Object.entries(addresses).filter(([name, a]) => a && names.includes(name)));

export function askPlan(): AskPlan {
  const l = get();
  const many = Object.keys(l.perSubquery).length > 0;
  return {
    network: asPlain(useDoc.getState().doc.network),
    strategy: l.strategy,
    instances: many ? l.perSubquery : l.instances,
    buckets: l.buckets,
    groups: l.groups,
  };
}

export function askCompile(): AskCompile {
  const { network } = useDoc.getState().doc;
  const l = get();
  return {
    ...askPlan(),
    sources: named(l.sources, Object.keys(network.inputs ?? {})),
    sinks: named(l.sinks, Object.keys(network.outputs ?? {})),
    pool: l.pool.split(/[\s,]+/).filter(Boolean),
    master: l.master,
  };
}

/** The source of generated tuples for a network: its own template, or a generator. */
export function generatedSource(network: Network): InjectorSource {
  const { templates } = usePalette.getState();
  const own = templates.find((template) => template.name === network.name);
  return own
    ? { template: own.name, rows: own.rows, seed: 1, endless: true }
    : { generator: { fields: {}, seed: 1 }, rows: 1_000_000, seed: 1 };
}

const EXAMPLE = "high-mobility";

/** The first-run example: a template on Spark, with its own generated tuples. */
export async function runExample(): Promise<void> {
  set(FRESH);
  if (await openTemplate(EXAMPLE)) await startRun();
}

/** Start a run of the network as drawn, fed with generated tuples if requested. */
export async function startRun(): Promise<void> {
  const { network } = useDoc.getState().doc;
  const l = get();
  const { sources = {}, sinks = {} } = askCompile();
  const ask: AskRun = {
    ...askPlan(),
    name: network.name,
    document: useDoc.getState().origins.at(-1) ?? "",
    sources,
    sinks,
    tables: named(l.tables, Object.keys(network.tables ?? {})),
    template: l.feed === null ? null : (generatedSource(network).template ?? null),
    epoch_rows: l.epochRows,
    master: l.master,
  };
  set({ starting: true });
  try {
    const run = await api.start(ask);
    openDialog(null);
    chooseRun(run.id);
    setMode("watch");
    await loadRuns();
    set({ starting: false });
    if (l.feed !== null && Object.keys(sources).length < inputsOf(network).length)
      await feed(run.id, network, l.feed);
  } catch (error) {
    complain(error);
  } finally {
    set({ starting: false });
  }
}

const inputsOf = (network: Network): string[] => Object.keys(network.inputs ?? {});

/** Wait until a run accepts tuples; false if it has ended. */
async function takesTuples(id: string): Promise<boolean> {
  for (;;) {
    const run = useRuns.getState().runs.find((r) => r.id === id);
    if (!run || isOver(run)) return false;
    if (run.state !== "starting") return true;
    await new Promise((done) => window.setTimeout(done, 300));
  }
}

async function feed(run: string, network: Network, rate: number): Promise<void> {
  if (!(await takesTuples(run))) return;
  const source = generatedSource(network);
  const rest = { rate, batch: Math.max(1, Math.min(1000, Math.round(rate / 5))), injectors: 1 };
  const common = { source, ...rest, speed: 1, fast: false, stamp: false };
  if (source.template) await api.inject(run, { input: null, ...common });
  else
    for (const input of inputsOf(network))
      if (!get().sources[input]) await api.inject(run, { input, ...common });
}
