/** The runs of the studio, and which of them are shown. */

import { create } from "zustand";

import { api } from "../api/client";
import type { Injector, Run } from "../api/types";
import type { Network, Positions, Scope } from "../model/network";
import { complain } from "./studio";

export type WatchTab = "results" | "boxes" | "arc" | "events" | "log";

interface RunsState {
  runs: Run[];
  chosen: string | null;
  /** Runs shown side by side. */
  beside: readonly string[];
  injectors: Injector[];
  /** The run's drawing: open superbox, selection, and positions. */
  scope: Scope;
  box: string | null;
  arc: { id: string; flat: string; text: string } | null;
  places: Record<string, Positions>;
  tab: WatchTab;
  output: string | null;
  /** Time range of the charts in seconds; 0 for all. */
  span: number;
}

export const useRuns = create<RunsState>(() => ({
  runs: [],
  chosen: null,
  beside: [],
  injectors: [],
  scope: [],
  box: null,
  arc: null,
  places: {},
  tab: "results",
  output: null,
  span: 60,
}));

const { getState: get, setState: set } = useRuns;

export const isOver = (run: Run): boolean => ["finished", "stopped", "failed"].includes(run.state);
export const networkOf = (run: Run): Network => run.network as unknown as Network;

export async function loadRuns(): Promise<void> {
  try {
    const runs = await api.runs();
    const sorted = runs.toSorted((a, b) => b.started - a.started);
    set({ runs: sorted });
    const { chosen } = get();
    if (chosen === null || !sorted.some((run) => run.id === chosen))
      chooseRun(sorted[0]?.id ?? null);
  } catch (error) {
    complain(error);
  }
}

/** Replace the known status of a run. */
export function noteRun(run: Run): void {
  const { runs } = get();
  const known = runs.some((r) => r.id === run.id);
  set({ runs: known ? runs.map((r) => (r.id === run.id ? run : r)) : [run, ...runs] });
}

export function chooseRun(id: string | null): void {
  if (get().chosen === id) return;
  set({ chosen: id, scope: [], box: null, arc: null, injectors: [], output: null });
}

export function toggleBeside(id: string): void {
  const { beside } = get();
  set({ beside: beside.includes(id) ? beside.filter((b) => b !== id) : [...beside, id].slice(-3) });
}

export async function loadInjectors(id: string): Promise<void> {
  const injectors = await api.injectors(id).catch(() => null);
  if (injectors && get().chosen === id) set({ injectors });
}

export function noteInjector(injector: Injector): void {
  const { injectors, chosen } = get();
  if (injector.run !== chosen) return;
  const known = injectors.some((i) => i.id === injector.id);
  set({
    injectors: known
      ? injectors.map((i) => (i.id === injector.id ? injector : i))
      : [...injectors, injector],
  });
}

/** Stop a run after its current epoch. */
export async function stopRun(id: string): Promise<void> {
  try {
    noteRun(await api.stop(id));
  } catch (error) {
    complain(error);
  }
}

export async function forgetRun(id: string): Promise<void> {
  try {
    await api.forget(id);
    set({ beside: get().beside.filter((b) => b !== id) });
    await loadRuns();
  } catch (error) {
    complain(error);
  }
}

/** Go back out to a depth in the drawing of the run. */
export const leaveScope = (depth: number): void =>
  set({ scope: get().scope.slice(0, depth), box: null, arc: null });
