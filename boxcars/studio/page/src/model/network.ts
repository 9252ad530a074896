/** A network as the plain data that its file holds, and how its parts are found. */

export type Plain = null | boolean | number | string | Plain[] | { [key: string]: Plain };
export type Block = Record<string, Plain>;
export type Fields = Record<string, string>;

export interface InputBlock {
  ts?: string;
  fields?: Fields;
  slack?: number;
  idle?: number | null;
}

export interface OutputBlock {
  from?: string | null;
  fields?: Fields;
  qos?: Plain;
}

export interface TableBlock {
  fields?: Fields;
  key?: string[];
}

export interface PointBlock {
  arc: string;
  time?: number;
  tuples?: number;
}

export interface BoxBlock {
  type: string;
  in?: string | (string | null)[] | null;
  group?: string;
  [param: string]: Plain | undefined;
}

/** What is drawn on one canvas: a whole network, or the inside of a superbox. */
export interface Body {
  inputs?: Record<string, InputBlock>;
  tables?: Record<string, TableBlock>;
  superboxes?: Record<string, Superbox>;
  boxes?: Record<string, BoxBlock>;
  outputs?: Record<string, OutputBlock>;
  connection_points?: Record<string, PointBlock>;
}

export interface Superbox extends Body {
  params?: Block;
}

export interface Network extends Body {
  name: string;
  /** Python modules with code of the user's own; they stay as the file names them. */
  modules?: string[];
}

export type Positions = Record<string, [number, number]>;

/** One step into a superbox: the box that uses it, and the superbox itself. */
export interface Step {
  use: string;
  superbox: string;
}
export type Scope = readonly Step[];

export type Kind = "input" | "box" | "output";

export const OUTPUT = "-> ";

/** The id of an output on the canvas; it may have the name of a box. */
export const outputId = (name: string): string => OUTPUT + name;

export function kindOf(body: Body, id: string): Kind {
  if (id.startsWith(OUTPUT)) return "output";
  return body.inputs && id in body.inputs ? "input" : "box";
}

/** The name without what marks it as an output. */
export const nameOf = (id: string): string =>
  id.startsWith(OUTPUT) ? id.slice(OUTPUT.length) : id;

export interface Arc {
  source: string;
  port: string;
}

export function parseArc(text: string): Arc {
  const dot = text.indexOf(".");
  return dot < 0
    ? { source: text, port: "0" }
    : { source: text.slice(0, dot), port: text.slice(dot + 1) };
}

/** The name of an arc in answers of the API. */
export const arcKey = ({ source, port }: Arc): string =>
  port === "0" ? source : `${source}.${port}`;

/** What a box reads, in order; null where an arrow is still to be drawn. */
export function readsOf(box: BoxBlock): (string | null)[] {
  const reads = box.in;
  if (reads === undefined || reads === null || reads === "") return [];
  return typeof reads === "string" ? [reads] : reads.map((text) => text || null);
}

/** The keys that lead to the superbox of each step. */
export function pathOf(network: Network, scope: Scope): string[] {
  let path: string[] = [];
  for (const { superbox } of scope) path = locate(network, path, superbox);
  return path;
}

/** Where a superbox is defined that is used at some place: there, or further out. */
function locate(network: Network, from: string[], superbox: string): string[] {
  for (let length = from.length; length >= 0; length -= 2) {
    const path = from.slice(0, length);
    if (bodyAtPath(network, path)?.superboxes?.[superbox]) return [...path, "superboxes", superbox];
  }
  return [...from, "superboxes", superbox];
}

function bodyAtPath(network: Network, path: string[]): Body | undefined {
  let body: Body | undefined = network;
  for (let i = 1; i < path.length; i += 2) body = body?.superboxes?.[path[i] ?? ""];
  return body;
}

/** The body that is drawn in a scope; nothing if a superbox on the way is gone. */
export const bodyAt = (network: Network, scope: Scope): Body | undefined =>
  bodyAtPath(network, pathOf(network, scope));

/** The network with another body in a scope. */
export function withBody(network: Network, scope: Scope, body: Body): Network {
  const put = (outer: Body, path: string[]): Body => {
    const [, name, ...rest] = path;
    if (name === undefined) return body;
    const inner = outer.superboxes?.[name] ?? {};
    return { ...outer, superboxes: { ...outer.superboxes, [name]: put(inner, rest) } };
  };
  return { ...put(network, pathOf(network, scope)), name: network.name };
}

/** All superboxes that a body in this scope may use. */
export function superboxesAt(network: Network, scope: Scope): Record<string, Superbox> {
  const path = pathOf(network, scope);
  let found: Record<string, Superbox> = { ...network.superboxes };
  for (let length = 2; length <= path.length; length += 2)
    found = { ...found, ...bodyAtPath(network, path.slice(0, length))?.superboxes };
  return found;
}

/** The key of a position: names inside a superbox have its name before them. */
export const placeKey = (scope: Scope, id: string): string =>
  [...scope.map((step) => step.superbox), id].join("/");

/** The name that a box has when all superboxes are opened up. */
export const flatName = (scope: Scope, name: string): string =>
  [...scope.map((step) => step.use), name].join("/");

/** The arc that carries the tuples of a port, when all superboxes are opened up. */
export function flatArc(network: Network, scope: Scope, arc: Arc): string {
  const body = bodyAt(network, scope);
  const box = body?.boxes?.[arc.source];
  const inner = box && superboxesAt(network, scope)[box.type];
  if (box && inner) {
    const names = Object.keys(inner.outputs ?? {});
    const name = arc.port in (inner.outputs ?? {}) ? arc.port : names[Number(arc.port)];
    const from = name === undefined ? undefined : inner.outputs?.[name]?.from;
    if (from)
      return flatArc(network, [...scope, { use: arc.source, superbox: box.type }], parseArc(from));
  }
  const last = scope.at(-1);
  if (last && body?.inputs && arc.source in body.inputs) {
    const outer = scope.slice(0, -1);
    const use = bodyAt(network, outer)?.boxes?.[last.use];
    const text = use && readsOf(use)[Object.keys(body.inputs).indexOf(arc.source)];
    if (text) return flatArc(network, outer, parseArc(text));
  }
  return arcKey({ source: flatName(scope, arc.source), port: arc.port });
}

/** All names in use on a canvas; inputs and boxes share one space, outputs have their own. */
export const namesOf = (body: Body): Set<string> =>
  new Set([...Object.keys(body.inputs ?? {}), ...Object.keys(body.boxes ?? {})]);

/** A name that is still free: "map", "map2", ... */
export function freeName(wanted: string, taken: { has(name: string): boolean }): string {
  const base = wanted.replace(/[^\p{L}\p{N}_-]/gu, "_").replace(/^[^\p{L}_]/u, "_$&") || "box";
  if (!taken.has(base)) return base;
  const stem = base.replace(/\d+$/, "");
  for (let n = 2; ; n += 1) if (!taken.has(`${stem}${n}`)) return `${stem}${n}`;
}

/** A word about why a name can't be one; nothing if it can. */
export function nameTrouble(name: string): string | null {
  return /^[\p{L}_][\p{L}\p{N}_-]*$/u.test(name)
    ? null
    : "A name starts with a letter or _ and goes on with letters, digits, _ and -.";
}
