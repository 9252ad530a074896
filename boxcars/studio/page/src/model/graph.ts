/** The nodes and edges of a body for the canvas, as plain data. */

import type { Edge, Node } from "@xyflow/react";

import type { CheckAnswer } from "../api/types";
import { arityOf, portsOf, usePalette } from "../state/palette";
import { problemsById } from "../state/check";
import {
  bodyAt,
  flatArc,
  flatName,
  outputId,
  parseArc,
  placeKey,
  readsOf,
  superboxesAt,
  type BoxBlock,
  type Network,
  type Positions,
  type Scope,
  type Superbox,
} from "./network";
import type { Link, Sized } from "./layout";
import { summarize } from "./summary";

export type Tone = "input" | "output" | "stateless" | "stateful" | "superbox";

export interface BoxData extends Record<string, unknown> {
  tone: Tone;
  icon: string;
  name: string;
  type: string;
  summary: string;
  /** The names of its inputs; a single one for any number of arrows if `many`. */
  inputs: string[];
  many: boolean;
  ports: string[];
  side: string[];
  problems: string[];
  flat: string;
  inside: boolean;
  group: string;
  /** The arcs it reads and the targets it leads to, for screen readers. */
  reads: string[];
  leads: string[];
}

export interface ArcData extends Record<string, unknown> {
  /** The name of the arc in the flattened network. */
  flat: string;
  /** The arc as written in the file. */
  text: string;
  index: number;
  point: string;
  side: boolean;
}

export type BoxNode = Node<BoxData, "box">;
export type ArcEdge = Edge<ArcData, "arc">;

export const WIDTH = 192;
const SIDES = ["left", "right"];
const ROW = 18;

export const heightOf = (data: Pick<BoxData, "ports" | "inputs">): number =>
  Math.max(56, 20 + ROW * Math.max(data.ports.length, data.inputs.length));

/** The vertical position of a handle on its box. */
export function handleTop(index: number, number: number, height: number): number {
  const gap = Math.min(ROW, height / (number + 1));
  return height / 2 + (index - (number - 1) / 2) * (number === 2 ? Math.max(gap, 22) : gap);
}

export interface Graph {
  nodes: BoxNode[];
  edges: ArcEdge[];
}

export interface View {
  network: Network;
  scope: Scope;
  positions: Positions;
  check: CheckAnswer | null;
}

type Drawn = Pick<
  BoxData,
  | "tone"
  | "icon"
  | "name"
  | "type"
  | "summary"
  | "ports"
  | "side"
  | "problems"
  | "flat"
  | "inside"
  | "group"
> &
  Partial<Pick<BoxData, "inputs" | "many">>;

function node(id: string, data: Drawn, view: View): BoxNode {
  const full: BoxData = { inputs: [], many: false, reads: [], leads: [], ...data };
  const [x, y] = view.positions[placeKey(view.scope, id)] ?? [0, 0];
  const height = heightOf(full);
  const made: BoxNode = {
    id,
    type: "box",
    position: { x, y },
    data: full,
    width: WIDTH,
    height,
  };
  return made;
}

/** The label of a box for screen readers: type, name, connections and problems. */
function spoken(data: BoxData): string {
  const more = data.summary && data.summary !== data.type ? `: ${data.summary}` : "";
  const said = [`${data.type} ${data.name}${more}`];
  if (data.inputs.length)
    said.push(data.reads.length ? `reads ${data.reads.join(", ")}` : "no input yet");
  if (data.ports.length)
    said.push(data.leads.length ? `leads to ${data.leads.join(", ")}` : "no consumer yet");
  if (data.problems.length)
    said.push(`${plural(data.problems.length, "problem")}: ${data.problems.join(" ")}`);
  return said.join("; ");
}

/** The node with the labels of its connections. */
function joined(node: BoxNode, edges: readonly ArcEdge[]): BoxNode {
  const reads = edges.filter((e) => e.target === node.id).map((e) => e.data?.text ?? e.source);
  const leads = edges.filter((e) => e.source === node.id).map((e) => targetWords(e.target));
  const data = { ...node.data, reads, leads: [...new Set(leads)] };
  return { ...node, data, ariaLabel: spoken(data) };
}

function boxData(
  name: string,
  box: BoxBlock,
  view: View,
  superboxes: Record<string, Superbox>,
): Omit<Drawn, "problems"> {
  const definition = superboxes[box.type];
  const info = usePalette.getState().types[box.type];
  const known = view.scope.length ? undefined : view.check?.ports[name];
  const guess = portsOf(box, superboxes);
  const arity = arityOf(box, superboxes);
  const fixed = arity.fixed ?? 1;
  const names = definition ? Object.keys(definition.inputs ?? {}) : fixed === 2 ? SIDES : [];
  const main = definition || box.type === "filter" ? guess.main : (known?.outputs ?? guess.main);
  return {
    tone: definition ? "superbox" : info?.stateful ? "stateful" : "stateless",
    icon: definition ? "⧉" : (info?.icon ?? "?"),
    name,
    type: box.type,
    summary: definition ? box.type : summarize(box) || (info?.type ?? box.type),
    inputs: Array.from({ length: fixed }, (_, i) => names[i] ?? ""),
    many: arity.fixed === null,
    ports: main,
    side: known?.side ?? guess.side,
    flat: flatName(view.scope, name),
    inside: definition !== undefined,
    group: box.group ?? "",
  };
}

const targetWords = (id: string): string => id.replace(/^-> /, "output ");

const plural = (number: number, word: string) => `${number} ${word}${number === 1 ? "" : "s"}`;

function nodesOf(view: View, superboxes: Record<string, Superbox>): BoxNode[] {
  const body = bodyAt(view.network, view.scope) ?? {};
  const problems = problemsById(view.check?.problems ?? [], view.network, view.scope);
  const said = (id: string) => (problems.get(id) ?? []).map((problem) => problem.message);
  const nodes: BoxNode[] = [];
  const plain = { icon: "▶", group: "", inside: false, side: [] as string[] };
  for (const [name, input] of Object.entries(body.inputs ?? {})) {
    const fields = plural(Object.keys(input.fields ?? {}).length, "field");
    const summary = input.ts ? `${fields} by ${input.ts}` : fields;
    const flat = flatName(view.scope, name);
    const data = { ...plain, tone: "input" as const, type: "input", name, summary, flat };
    nodes.push(node(name, { ...data, ports: ["0"], side: ["late"], problems: said(name) }, view));
  }
  for (const [name, box] of Object.entries(body.boxes ?? {})) {
    const inner = superboxes[box.type]
      ? (view.check?.problems ?? []).filter(
          (p) => p.path[0] === "superboxes" && p.path[1] === box.type,
        )
      : [];
    const all = [...said(name), ...inner.map((problem) => `inside: ${problem.message}`)];
    nodes.push(node(name, { ...boxData(name, box, view, superboxes), problems: all }, view));
  }
  for (const [name, output] of Object.entries(body.outputs ?? {})) {
    const id = outputId(name);
    const data = { ...plain, tone: "output" as const, icon: "◀", type: "output", name };
    const summary = output.qos ? "with QoS" : output.fields ? "fields declared" : "output";
    const rest = { ports: [], inputs: [""], problems: said(id), flat: id };
    nodes.push(node(id, { ...data, ...rest, summary }, view));
  }
  return nodes;
}

function edgesOf(view: View, nodes: ReadonlyMap<string, BoxNode>): ArcEdge[] {
  const body = bodyAt(view.network, view.scope) ?? {};
  const points = Object.entries(body.connection_points ?? {});
  const edges: ArcEdge[] = [];
  const add = (text: string, target: string, index: number) => {
    const arc = parseArc(text);
    const source = nodes.get(arc.source);
    const goal = nodes.get(target);
    if (!source || !goal) return;
    const ports = [...source.data.ports, ...source.data.side];
    const port = ports.includes(arc.port) ? arc.port : (ports[Number(arc.port)] ?? ports[0] ?? "0");
    const same = (other: string) => {
      const its = parseArc(other);
      return its.source === arc.source && its.port === arc.port;
    };
    edges.push({
      id: `${target}#${index}`,
      type: "arc",
      source: arc.source,
      sourceHandle: port,
      target,
      ariaLabel: `arrow from ${text} to ${targetWords(target)}`,
      targetHandle: goal.data.many ? "0" : String(Math.min(index, goal.data.inputs.length - 1)),
      data: {
        flat: flatArc(view.network, view.scope, { source: arc.source, port }),
        text,
        index,
        point: points.find(([, point]) => same(point.arc))?.[0] ?? "",
        side: source.data.side.includes(port),
      },
    });
  };
  for (const [name, box] of Object.entries(body.boxes ?? {}))
    readsOf(box).forEach((text, index) => {
      if (text !== null) add(text, name, index);
    });
  for (const [name, output] of Object.entries(body.outputs ?? {}))
    if (output.from) add(output.from, outputId(name), 0);
  return edges;
}

export function graphOf(view: View): Graph {
  const nodes = nodesOf(view, superboxesAt(view.network, view.scope));
  const edges = edgesOf(view, new Map(nodes.map((n) => [n.id, n])));
  return { nodes: nodes.map((n) => joined(n, edges)), edges };
}

/** A graph as the input of the layout. */
export function toLayout(graph: Graph): { items: Sized[]; links: Link[] } {
  const items = graph.nodes.map((n) => ({
    id: n.id,
    width: WIDTH,
    height: heightOf(n.data),
    ports: [...n.data.ports, ...n.data.side],
    inputs: Math.max(1, n.data.inputs.length),
  }));
  const links = graph.edges.map((edge) => ({
    source: edge.source,
    port: edge.sourceHandle ?? "0",
    target: edge.target,
    index: Number(edge.targetHandle ?? 0),
  }));
  return { items, links };
}
