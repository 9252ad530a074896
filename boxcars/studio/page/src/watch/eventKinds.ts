/** Kinds of events: their names for people, and how serious they are. */

type Tone = "good" | "warn" | "bad" | "accent" | "plain";

const TONES: Record<string, Tone> = {
  started: "good",
  finished: "good",
  sink_back: "good",
  connection_back: "good",
  stopped: "plain",
  decision: "accent",
  late: "warn",
  retried: "warn",
  slow_epoch: "warn",
  dead: "bad",
  failed: "bad",
  sink_waiting: "bad",
  connection_lost: "bad",
  messages_lost: "bad",
};

/** Kinds of later versions are plain. */
export const toneOf = (kind: string): Tone => TONES[kind] ?? "plain";

export const kindText = (kind: string): string => kind.replaceAll("_", " ");
