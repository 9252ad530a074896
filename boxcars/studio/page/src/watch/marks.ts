/** The load of a run as marks on its drawing. */

import type { Stats } from "../api/types";
import { flatten } from "../model/flat";
import { arcKey, nameOf, OUTPUT, parseArc, readsOf, type Network } from "../model/network";
import type { ArcMark, BoxMark } from "../state/overlay";
import { boxesOf, outputsOf, type BoxStats } from "../state/series";
import { rate, short } from "../ui/format";

/** The boxes and outputs that read each arc. */
export function readersOf(network: Network): Map<string, string[]> {
  const readers = new Map<string, string[]>();
  const note = (text: string, reader: string) => {
    const arc = arcKey(parseArc(text));
    readers.set(arc, [...(readers.get(arc) ?? []), reader]);
  };
  const flat = flatten(network);
  for (const [name, box] of Object.entries(flat.boxes ?? {}))
    for (const text of readsOf(box)) if (text !== null) note(text, name);
  for (const [name, output] of Object.entries(flat.outputs ?? {}))
    if (output.from) note(output.from, `-> ${name}`);
  return readers;
}

/** The outputs downstream of a box. */
export function outputsDownstream(network: Network, box: string): string[] {
  const next = new Map<string, string[]>();
  for (const [arc, consumers] of readersOf(network)) {
    const { source } = parseArc(arc);
    next.set(source, [...(next.get(source) ?? []), ...consumers]);
  }
  const found = new Set([box]);
  for (const name of found) next.get(name)?.forEach((consumer) => found.add(consumer));
  return [...found].filter((name) => name.startsWith(OUTPUT)).map(nameOf);
}

/** Line width by throughput, from 1.5 to 8 pixels. */
export const widthOf = (perSecond: number): number =>
  Math.round(Math.min(8, 1.5 + 1.2 * Math.log10(1 + perSecond)) * 10) / 10;

/** Green, yellow or red by the backlog in seconds. */
export function levelOf(queue: number, inRate: number): NonNullable<ArcMark["level"]> {
  if (queue === 0) return inRate > 0 ? "good" : "quiet";
  const waits = queue / Math.max(inRate, 1);
  return waits < 2 ? "good" : waits < 10 ? "warn" : "bad";
}

const loadOf = (box: BoxStats): number => box.cpu / Math.max(1, box.pieces.length);

export function marksOf(stats: Stats, readers: ReadonlyMap<string, string[]>) {
  const boxes: Record<string, BoxMark> = {};
  const arcs: Record<string, ArcMark> = {};
  const known = boxesOf(stats);
  for (const [name, box] of Object.entries(known))
    boxes[name] = {
      text: `${rate(box.in_rate)} → ${rate(box.out_rate)}`,
      load: loadOf(known[box.fused_into] ?? box),
    };
  for (const [name, box] of Object.entries(known)) {
    let at = name.lastIndexOf("/");
    for (; at > 0; at = name.lastIndexOf("/", at - 1)) {
      const use = name.slice(0, at);
      const load = Math.max(boxes[use]?.load ?? 0, loadOf(box));
      boxes[use] = { load };
    }
  }
  for (const [name, output] of Object.entries(outputsOf(stats)))
    boxes[`-> ${name}`] = {
      text: `${rate(output.rate)}, ${output.tuples.toLocaleString("en-GB")} in total`,
      ...(output.rate > 0 && { tone: "active" as const }),
    };
  for (const [arc, consumers] of readers) {
    const source = known[parseArc(arc).source];
    if (!source) continue;
    const queue = Math.max(0, ...consumers.map((name) => known[name]?.queue ?? 0));
    arcs[arc] = {
      width: widthOf(source.out_rate),
      level: levelOf(queue, source.out_rate),
      text: source.out_rate > 0 ? rate(source.out_rate) : "",
    };
  }
  return { boxes, arcs };
}

/** Marks of a run that has ended: totals of each box, and idle arrows. */
export function restingMarks(stats: Stats) {
  const boxes: Record<string, BoxMark> = {};
  for (const [name, box] of Object.entries(boxesOf(stats)))
    boxes[name] = { text: `${short(box.tuples_in)} in, ${short(box.tuples_out)} out` };
  for (const [name, output] of Object.entries(outputsOf(stats)))
    boxes[`-> ${name}`] = { text: `${output.tuples.toLocaleString("en-GB")} in total` };
  return { boxes, arcs: {} };
}
