/** Time series of a run, by the names in its history. */

import type { Stats } from "../api/types";

export type Values = (number | null)[];
export interface Series {
  times: number[];
  values: Record<string, Values>;
}
export const emptySeries: Series = { times: [], values: {} };

/** Statistics of one instance of a box, or of all together. */
export interface PieceStats {
  tuples_in: number;
  tuples_out: number;
  late: number;
  dead: number;
  queue: number;
  state_rows: number;
  state_bytes: number;
  in_rate: number;
  out_rate: number;
  cost: number | null;
  selectivity: number | null;
  cpu: number;
  share: number;
  /** Seconds that a tuple spends in it; null if it is fused into another box. */
  latency: number | null;
}

export interface BoxStats extends PieceStats {
  type: string;
  fused_into: string;
  pieces: PieceStats[];
}

export interface OutputStats {
  tuples: number;
  rate: number;
  latency: { p50: number; p95: number; p99: number } | null;
  utility: number | null;
}

export const boxesOf = (stats: Stats | null): Record<string, BoxStats> =>
  (stats?.boxes ?? {}) as Record<string, BoxStats>;
export const outputsOf = (stats: Stats | null): Record<string, OutputStats> =>
  (stats?.outputs ?? {}) as Record<string, OutputStats>;

const METRICS = [
  "in_rate",
  "out_rate",
  "cost",
  "latency",
  "queue",
  "cpu",
  "state_rows",
  "state_bytes",
] as const;
/** Measurements kept per series. */
const MOST = 3600;
/** Seconds; measurements closer together are dropped. */
const APART = 0.9;

/** The values of the statistics, by the names of their series. */
export function measured(stats: Stats): Record<string, number | null> {
  const found: Record<string, number | null> = { "run/cpu": stats.cpu, "run/memory": stats.memory };
  const boxes = Object.entries(boxesOf(stats));
  const outputs = Object.entries(outputsOf(stats));
  const total = (numbers: number[]) => numbers.reduce((sum, n) => sum + n, 0);
  found["run/in_rate"] = total(
    boxes.filter(([, box]) => box.type === "input").map(([, box]) => box.in_rate),
  );
  found["run/out_rate"] = total(outputs.map(([, output]) => output.rate));
  const latencies = outputs.flatMap(([, output]) => output.latency?.p95 ?? []);
  found["run/p95"] = latencies.length ? Math.max(...latencies) : null;
  for (const [name, box] of boxes) {
    for (const metric of METRICS) found[`box/${name}/${metric}`] = box[metric];
    found[`box/${name}/instances`] = box.pieces.length;
    box.pieces.forEach((piece, i) => {
      for (const metric of METRICS) found[`instance/${name}/${i}/${metric}`] = piece[metric];
    });
  }
  for (const [name, output] of outputs) {
    found[`output/${name}/rate`] = output.rate;
    found[`output/${name}/p50`] = output.latency?.p50 ?? null;
    found[`output/${name}/p95`] = output.latency?.p95 ?? null;
    found[`output/${name}/p99`] = output.latency?.p99 ?? null;
  }
  return found;
}

/**
 * The series with one more measurement, unless the last one is too recent. The lists grow in place,
 * because there are hundreds of them; only the object that holds them is new.
 */
export function appended(series: Series, stats: Stats): Series {
  const { times, values } = series === emptySeries ? { times: [], values: {} } : series;
  const last = times.at(-1) ?? 0;
  if (stats.time - last < APART) return series;
  const now = measured(stats);
  for (const [name, value] of Object.entries(now)) {
    const known = (values[name] ??= []);
    while (known.length < times.length) known.push(null);
    known.push(value);
  }
  times.push(stats.time);
  if (times.length <= MOST) return { times, values };
  const kept = Object.entries(values).map(([name, list]) => [name, list.slice(-MOST / 2)]);
  return { times: times.slice(-MOST / 2), values: Object.fromEntries(kept) as typeof values };
}

/** A history followed by the live measurements after it, whichever arrived first. */
export function continued(history: Series, heard: Series): Series {
  const end = history.times.at(-1) ?? -Infinity;
  const first = heard.times.findIndex((time) => time > end);
  if (first < 0) return history;
  const fresh = heard.times.slice(first);
  const names = new Set([...Object.keys(history.values), ...Object.keys(heard.values)]);
  const values: Record<string, Values> = {};
  for (const name of names)
    values[name] = [
      ...(history.values[name] ?? history.times.map(() => null)),
      ...(heard.values[name]?.slice(first) ?? fresh.map(() => null)),
    ];
  return { times: [...history.times, ...fresh], values };
}
