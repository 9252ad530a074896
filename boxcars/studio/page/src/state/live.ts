/** What runs tell while they run. However often they do, the page takes it once a frame. */

import { create } from "zustand";

import { api, lose, watchAddress } from "../api/client";
import type { OutputRows, Run, Stats, Watched } from "../api/types";
import { isOver, loadRuns, noteRun, useRuns } from "./runs";
import { appended, continued, emptySeries, type Series } from "./series";
import { complain } from "./studio";

export interface Live {
  run: Run | null;
  stats: Stats | null;
  outputs: Record<string, OutputRows>;
  series: Series;
  /** Whether the run is heard at the moment. */
  heard: boolean;
}

export const NOTHING: Live = {
  run: null,
  stats: null,
  outputs: {},
  series: emptySeries,
  heard: false,
};

export const useLive = create<{ lives: Record<string, Live> }>(() => ({ lives: {} }));

export const liveOf = (id: string | null): Live =>
  (id === null ? undefined : useLive.getState().lives[id]) ?? NOTHING;

interface Ear {
  socket: WebSocket | null;
  wanted: boolean;
  retry: number;
}

const ears = new Map<string, Ear>();
const pending = new Map<string, Watched[]>();
let frame = 0;
/** The codes with which the studio closes: the run is not there, or it has ended. */
const NO_RUN = 4004;
const ALL_SAID = 1000;
/** Tuples of an output that are shown. */
const SHOWN = 200;

function put(id: string, part: Partial<Live>): void {
  useLive.setState(({ lives }) => ({
    lives: { ...lives, [id]: { ...(lives[id] ?? NOTHING), ...part } },
  }));
}

/** The last tuples, with those that are new behind them. */
const joined = (known: OutputRows | undefined, news: OutputRows): OutputRows => ({
  ...news,
  rows: [...(known?.rows ?? []), ...news.rows].slice(-SHOWN),
});

/** Take all that came since the last frame; of each kind the newest counts. */
function take(): void {
  frame = 0;
  for (const [id, messages] of pending) {
    const live = liveOf(id);
    const run = messages.findLast((message) => message.run)?.run;
    const stats = messages.findLast((message) => message.stats)?.stats;
    const outputs = { ...live.outputs };
    for (const message of messages)
      for (const [name, news] of Object.entries(message.outputs ?? {}))
        outputs[name] = joined(outputs[name], news);
    put(id, {
      heard: true,
      outputs,
      ...(run && { run }),
      ...(stats && { stats, series: appended(live.series, stats) }),
    });
    if (run) noteRun(run);
  }
  pending.clear();
}

export function receive(id: string, message: Watched): void {
  const waiting = pending.get(id);
  if (waiting) waiting.push(message);
  else pending.set(id, [message]);
  if (!frame) frame = requestAnimationFrame(take);
}

function listen(id: string, ear: Ear): void {
  const socket = new WebSocket(watchAddress(id));
  ear.socket = socket;
  socket.onopen = () => put(id, { outputs: {} });
  socket.onmessage = (event: MessageEvent<string>) =>
    receive(id, JSON.parse(event.data) as Watched);
  socket.onclose = (event) => {
    if (ear.socket !== socket) return;
    ear.socket = null;
    put(id, { heard: false });
    const run = useRuns.getState().runs.find((r) => r.id === id);
    if (event.code === NO_RUN) void loadRuns();
    if (!ear.wanted || [NO_RUN, ALL_SAID].includes(event.code) || (run && isOver(run))) return;
    if (event.code === 1006) lose();
    ear.retry = window.setTimeout(() => listen(id, ear), 1500);
  };
}

/** Listen to a run, with what it has told before. */
export function watch(id: string): () => void {
  const ear: Ear = ears.get(id) ?? { socket: null, wanted: true, retry: 0 };
  ear.wanted = true;
  ears.set(id, ear);
  void api.history(id).then(
    ({ times, series }) =>
      put(id, { series: continued({ times, values: series }, liveOf(id).series) }),
    () => undefined,
  );
  if (!ear.socket) listen(id, ear);
  return () => {
    ear.wanted = false;
    window.clearTimeout(ear.retry);
    ear.socket?.close();
    ear.socket = null;
  };
}

/** Let a run that has ended go on from its last epoch, and listen to it again. */
export async function goOn(id: string): Promise<void> {
  try {
    noteRun(await api.modify(id, {}));
  } catch (error) {
    complain(error);
  }
  await loadRuns();
  const ear = ears.get(id);
  if (ear?.wanted && !ear.socket) listen(id, ear);
}
