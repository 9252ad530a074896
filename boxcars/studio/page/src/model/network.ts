/** A network as the plain data of its file, and lookups in it. */

export type Plain = null | boolean | number | string | Plain[] | { [key: string]: Plain };
export type Block = Record<string, Plain>;
export type Fields = Record<string, string>;

export interface InputBlock {
  ts?: string;
  fields?: Fields;
  slack?: number;
  idle?: number | null;
  clock?: string;
}

/** The order attribute that the engine adds, if an input names it without declaring it. */
export const ARRIVAL = "arrival";

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

/** The content of one canvas: a whole network, or the body of a superbox. */
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
  /** Python modules with the user's code, as listed in the file. */
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

/** The id of an output on the canvas; an output may share its name with a box. */
export const outputId = (name: string): string => OUTPUT + name;

export function kindOf(body: Body, id: string): Kind {
  if (id.startsWith(OUTPUT)) return "output";
  return body.inputs && id in body.inputs ? "input" : "box";
}

/** The name without the output prefix. */
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

/** The name of an arc in the API. */
export const arcKey = ({ source, port }: Arc): string =>
  port === "0" ? source : `${source}.${port}`;

/** The inputs of a box, in order; null where an arrow is missing. */
export function readsOf(box: BoxBlock): (string | null)[] {
  const reads = box.in;
  if (reads === undefined || reads === null || reads === "") return [];
  return typeof reads === "string" ? [reads] : reads.map((text) => text || null);
}

/** The path of keys to the superbox of the last step. */
export function pathOf(network: Network, scope: Scope): string[] {
  let path: string[] = [];
  for (const { superbox } of scope) path = locate(network, path, superbox);
  return path;
}

/** The path of the definition of a superbox used in a scope: that scope, or an outer one. */
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

/** The body of a scope; undefined if a superbox on the path was removed. */
export const bodyAt = (network: Network, scope: Scope): Body | undefined =>
  bodyAtPath(network, pathOf(network, scope));

/** The network with the body of a scope replaced. */
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

/** The key of a position: names inside a superbox are prefixed with its name. */
export const placeKey = (scope: Scope, id: string): string =>
  [...scope.map((step) => step.superbox), id].join("/");

/** The name of a box in the flattened network. */
export const flatName = (scope: Scope, name: string): string =>
  [...scope.map((step) => step.use), name].join("/");

/** The arc in the flattened network that carries the tuples of a port. */
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

/** All names of inputs and boxes on a canvas; outputs have their own namespace. */
export const namesOf = (body: Body): Set<string> =>
  new Set([...Object.keys(body.inputs ?? {}), ...Object.keys(body.boxes ?? {})]);

/** An unused name: "map", "map2", ... */
export function freeName(wanted: string, taken: { has(name: string): boolean }): string {
  const base = wanted.replace(/[^\p{L}\p{N}_-]/gu, "_").replace(/^[^\p{L}_]/u, "_$&") || "box";
  if (!taken.has(base)) return base;
  const stem = base.replace(/\d+$/, "");
  for (let n = 2; ; n += 1) if (!taken.has(`${stem}${n}`)) return `${stem}${n}`;
}

/** Why a name is invalid; null if it is valid. */
export function nameTrouble(name: string): string | null {
  return /^[\p{L}_][\p{L}\p{N}_-]*$/u.test(name)
    ? null
    : "A name starts with a letter or _, followed by letters, digits, _ and -.";
}
