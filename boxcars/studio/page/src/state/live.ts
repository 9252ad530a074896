/** Live messages of runs, applied at most once per animation frame. */

import { create } from "zustand";

import { api, lose, watchAddress } from "../api/client";
import type { Event, OutputRows, Run, Stats, Watched } from "../api/types";
import { isOver, loadRuns, noteRun, useRuns } from "./runs";
import { appended, continued, emptySeries, type Series } from "./series";
import { complain } from "./studio";

export interface Live {
  run: Run | null;
  stats: Stats | null;
  outputs: Record<string, OutputRows>;
  /** What happened in it, in order. */
  events: readonly Event[];
  series: Series;
  /** Whether the connection to the run is open. */
  heard: boolean;
}

export const NOTHING: Live = {
  run: null,
  stats: null,
  outputs: {},
  events: [],
  series: emptySeries,
  heard: false,
};

export const useLive = create<{ lives: Record<string, Live> }>(() => ({ lives: {} }));

export const liveOf = (id: string | null): Live =>
  (id === null ? undefined : useLive.getState().lives[id]) ?? NOTHING;

interface Subscription {
  socket: WebSocket | null;
  wanted: boolean;
  retry: number;
}

const subscriptions = new Map<string, Subscription>();
const pending = new Map<string, Watched[]>();
let frame = 0;
/** WebSocket close codes of the studio: the run does not exist, or it has ended. */
const NO_RUN = 4004;
const ENDED = 1000;
/** Number of tuples shown per output. */
const SHOWN = 200;

function put(id: string, part: Partial<Live>): void {
  useLive.setState(({ lives }) => ({
    lives: { ...lives, [id]: { ...(lives[id] ?? NOTHING), ...part } },
  }));
}

/** The last tuples, followed by the new ones. */
const joined = (known: OutputRows | undefined, news: OutputRows): OutputRows => ({
  ...news,
  rows: [...(known?.rows ?? []), ...news.rows].slice(-SHOWN),
});

/** Number of events kept. */
const KEPT = 1000;

/** The last events, followed by the new ones; of a run that started over, the new ones only. */
function happened(known: readonly Event[], news: readonly Event[]): readonly Event[] {
  const last = known.at(-1)?.n ?? 0;
  if (!news.length) return known;
  return (news[0]?.n ?? 0) > last ? [...known, ...news].slice(-KEPT) : news;
}

/** Apply all messages since the last frame; for status and statistics only the newest counts. */
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
    const events = messages.reduce((all, { events }) => happened(all, events ?? []), live.events);
    put(id, {
      heard: true,
      outputs,
      events,
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

function listen(id: string, subscription: Subscription): void {
  const socket = new WebSocket(watchAddress(id));
  subscription.socket = socket;
  socket.onopen = () => put(id, { outputs: {}, events: [] });
  socket.onmessage = (event: MessageEvent<string>) =>
    receive(id, JSON.parse(event.data) as Watched);
  socket.onclose = (event) => {
    if (subscription.socket !== socket) return;
    subscription.socket = null;
    put(id, { heard: false });
    const run = useRuns.getState().runs.find((r) => r.id === id);
    if (event.code === NO_RUN) void loadRuns();
    if (!subscription.wanted || [NO_RUN, ENDED].includes(event.code) || (run && isOver(run)))
      return;
    if (event.code === 1006) lose();
    subscription.retry = window.setTimeout(() => listen(id, subscription), 1500);
  };
}

/** Subscribe to a run, and load its history. */
export function watch(id: string): () => void {
  const subscription: Subscription = subscriptions.get(id) ?? {
    socket: null,
    wanted: true,
    retry: 0,
  };
  subscription.wanted = true;
  subscriptions.set(id, subscription);
  void api.history(id).then(
    ({ times, series }) =>
      put(id, { series: continued({ times, values: series }, liveOf(id).series) }),
    () => undefined,
  );
  if (!subscription.socket) listen(id, subscription);
  return () => {
    subscription.wanted = false;
    window.clearTimeout(subscription.retry);
    subscription.socket?.close();
    subscription.socket = null;
  };
}

/** Resume a run that has ended from its last epoch, and subscribe to it again. */
export async function resume(id: string): Promise<void> {
  try {
    noteRun(await api.modify(id, {}));
  } catch (error) {
    complain(error);
  }
  await loadRuns();
  const subscription = subscriptions.get(id);
  if (subscription?.wanted && !subscription.socket) listen(id, subscription);
}
