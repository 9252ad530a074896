/** Edits of a body. Each returns a new body and leaves the old one unchanged. */

import {
  arcKey,
  freeName,
  kindOf,
  nameOf,
  namesOf,
  parseArc,
  readsOf,
  type Arc,
  type Body,
  type BoxBlock,
  type InputBlock,
  type OutputBlock,
} from "./network";

type Record_<T> = Record<string, T>;

/** The number of inputs of a box: with a fixed number, each has its own slot. */
export interface Arity {
  fixed: number | null;
}

export const arcText = (arc: Arc, severalPorts: boolean): string =>
  severalPorts ? `${arc.source}.${arc.port}` : arcKey(arc);

/** Write the inputs as in a file: one name, a list, or nothing. */
function writeReads(box: BoxBlock, reads: (string | null)[]): BoxBlock {
  const kept = [...reads];
  while (kept.length && kept.at(-1) === null) kept.pop();
  const { type, in: _, ...rest } = box;
  if (!kept.length) return { type, ...rest };
  const [first] = kept;
  return { type, in: kept.length === 1 && first ? first : kept, ...rest };
}

function updated<T>(record: Record_<T> | undefined, name: string, value: T): Record_<T> {
  return { ...record, [name]: value };
}

export const putBox = (body: Body, name: string, box: BoxBlock): Body => ({
  ...body,
  boxes: updated(body.boxes, name, box),
});

export const putInput = (body: Body, name: string, input: InputBlock): Body => ({
  ...body,
  inputs: updated(body.inputs, name, input),
});

export const putOutput = (body: Body, name: string, output: OutputBlock): Body => ({
  ...body,
  outputs: updated(body.outputs, name, output),
});

/** Draw an arrow to an input of a box (by number) or to an output. */
export function connect(
  body: Body,
  arc: Arc,
  severalPorts: boolean,
  target: string,
  index: number,
  arity: Arity,
): Body {
  const text = arcText(arc, severalPorts);
  if (kindOf(body, target) === "output") {
    const name = nameOf(target);
    return putOutput(body, name, { ...body.outputs?.[name], from: text });
  }
  const box = body.boxes?.[target];
  if (!box) return body;
  const reads = readsOf(box);
  if (arity.fixed === null) {
    if (reads.includes(text)) return body;
    reads.push(text);
  } else {
    const slot = Math.max(0, Math.min(index, arity.fixed - 1));
    while (reads.length < slot) reads.push(null);
    reads[slot] = text;
  }
  return putBox(body, target, writeReads(box, reads));
}

/** Remove an arrow. */
export function disconnect(body: Body, target: string, index: number, arity: Arity): Body {
  if (kindOf(body, target) === "output") {
    const name = nameOf(target);
    return putOutput(body, name, { ...body.outputs?.[name], from: null });
  }
  const box = body.boxes?.[target];
  if (!box) return body;
  const reads = readsOf(box);
  if (arity.fixed === null) reads.splice(index, 1);
  else reads[index] = null;
  return putBox(body, target, writeReads(box, reads));
}

/** Reverse the inputs of a box. */
export function swapReads(body: Body, name: string): Body {
  const box = body.boxes?.[name];
  return box ? putBox(body, name, writeReads(box, readsOf(box).toReversed())) : body;
}

function mapArcs(body: Body, change: (text: string) => string | null): Body {
  const boxes = Object.entries(body.boxes ?? {}).map(([name, box]): [string, BoxBlock] => {
    const reads = readsOf(box);
    const next = reads.map((text) => (text === null ? null : change(text)));
    return [name, next.some((text, i) => text !== reads[i]) ? writeReads(box, next) : box];
  });
  const outputs = Object.entries(body.outputs ?? {}).map(([name, output]) => {
    const from = output.from ? change(output.from) : output.from;
    return [name, from === output.from ? output : { ...output, from }] as const;
  });
  const points = Object.entries(body.connection_points ?? {}).flatMap(([name, point]) => {
    const arc = change(point.arc);
    return arc === null ? [] : [[name, { ...point, arc }] as const];
  });
  return {
    ...body,
    ...(body.boxes && { boxes: Object.fromEntries(boxes) }),
    ...(body.outputs && { outputs: Object.fromEntries(outputs) }),
    ...(body.connection_points && { connection_points: Object.fromEntries(points) }),
  };
}

/** Remove inputs, boxes and outputs, with the arrows that leave them. */
export function remove(body: Body, ids: readonly string[], arity: (name: string) => Arity): Body {
  const removed = new Set(ids);
  const without = <T>(record: Record_<T> | undefined, id: (name: string) => string) =>
    record && Object.fromEntries(Object.entries(record).filter(([name]) => !removed.has(id(name))));
  const left: Body = {
    ...body,
    inputs: without(body.inputs, (name) => name),
    boxes: without(body.boxes, (name) => name),
    outputs: without(body.outputs, (name) => `-> ${name}`),
  };
  const cut = mapArcs(left, (text) => (removed.has(parseArc(text).source) ? null : text));
  const boxes = Object.entries(cut.boxes ?? {}).map(([name, box]): [string, BoxBlock] => {
    const reads = readsOf(box);
    const open = arity(name).fixed === null && reads.includes(null);
    return [
      name,
      open
        ? writeReads(
            box,
            reads.filter((text) => text !== null),
          )
        : box,
    ];
  });
  return tidy({ ...cut, ...(cut.boxes && { boxes: Object.fromEntries(boxes) }) });
}

/** Remove empty sections. */
export function tidy<T extends Body>(body: T): T {
  const entries = Object.entries(body).filter(
    ([, part]) =>
      part !== undefined &&
      !(part !== null && typeof part === "object" && Object.keys(part as object).length === 0),
  );
  return Object.fromEntries(entries) as T;
}

function renamed<T>(record: Record_<T> | undefined, from: string, to: string) {
  return (
    record &&
    Object.fromEntries(Object.entries(record).map(([name, v]) => [name === from ? to : name, v]))
  );
}

/** Rename an input, box or output, and its arrows. */
export function rename(body: Body, id: string, to: string): Body {
  const from = nameOf(id);
  const kind = kindOf(body, id);
  if (kind === "output") return { ...body, outputs: renamed(body.outputs, from, to) };
  const section = kind === "input" ? "inputs" : "boxes";
  return mapArcs({ ...body, [section]: renamed<unknown>(body[section], from, to) }, (text) => {
    const arc = parseArc(text);
    return arc.source === from ? to + text.slice(from.length) : text;
  });
}

/** Whether `from` is upstream of `to`; an arrow back would close a loop. */
export function leadsTo(body: Body, from: string, to: string): boolean {
  const seen = new Set<string>();
  const look = (name: string): boolean => {
    if (name === from) return true;
    if (seen.has(name)) return false;
    seen.add(name);
    const box = body.boxes?.[name];
    return !!box && readsOf(box).some((text) => text !== null && look(parseArc(text).source));
  };
  return look(to);
}

/** A copied part of a drawing. */
export interface Clip {
  body: Body;
  places: Record_<[number, number]>;
}

const pick = <T>(record: Record_<T> | undefined, names: readonly string[]): Record_<T> =>
  Object.fromEntries(Object.entries(record ?? {}).filter(([name]) => names.includes(name)));

/** Copy items, with the superboxes they use. */
export function copy(body: Body, ids: readonly string[], places: Clip["places"]): Clip {
  const names = ids.filter((id) => !id.startsWith("-> "));
  const outputs = ids.filter((id) => id.startsWith("-> ")).map(nameOf);
  const boxes = pick(body.boxes, names);
  const used = Object.values(boxes).map((box) => box.type);
  return {
    body: tidy({
      inputs: pick(body.inputs, names),
      boxes,
      outputs: pick(body.outputs, outputs),
      superboxes: pick(body.superboxes, used),
    }),
    places: pick(places, ids),
  };
}

/** Paste under free names; arrows between copied items connect the copies. Returns the new ids. */
export function paste(body: Body, clip: Clip): { body: Body; ids: Record_<string> } {
  const taken = namesOf(body);
  const outputs = new Set(Object.keys(body.outputs ?? {}));
  const ids: Record_<string> = {};
  const claim = (name: string, set: Set<string>) => {
    const free = freeName(name, set);
    set.add(free);
    return free;
  };
  for (const name of namesOf(clip.body)) ids[name] = claim(name, taken);
  for (const name of Object.keys(clip.body.outputs ?? {}))
    ids[`-> ${name}`] = `-> ${claim(name, outputs)}`;
  const moved = mapArcs(clip.body, (text) => {
    const { source } = parseArc(text);
    const to = ids[source];
    if (to !== undefined) return to + text.slice(source.length);
    return namesOf(body).has(source) ? text : null;
  });
  const under = <T>(record: Record_<T> | undefined, prefix = "") =>
    Object.fromEntries(
      Object.entries(record ?? {}).map(([name, v]) => [nameOf(ids[prefix + name] ?? name), v]),
    );
  const merged: Body = {
    ...body,
    inputs: { ...body.inputs, ...under(moved.inputs) },
    superboxes: { ...clip.body.superboxes, ...body.superboxes },
    boxes: { ...body.boxes, ...under(moved.boxes) },
    outputs: { ...body.outputs, ...under(moved.outputs, "-> ") },
  };
  return { body: tidy(merged), ids };
}
