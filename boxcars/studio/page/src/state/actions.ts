/** Edits of the drawing, by mouse, key or command. */

import { api } from "../api/client";
import type { XYPosition } from "@xyflow/react";

import * as edit from "../model/edit";
import { graphOf, heightOf, toLayout, WIDTH } from "../model/graph";
import { layOut } from "../model/layout";
import {
  bodyAt,
  freeName,
  namesOf,
  outputId,
  placeKey,
  readsOf,
  superboxesAt,
  withBody,
  type Body,
  type BoxBlock,
  type Network,
  type Positions,
  type Scope,
} from "../model/network";
import { aritiesOf, arityOf } from "./palette";
import { change, changeBody, enter, move, openBody, place, select, selectArc, useDoc } from "./doc";
import { useFlow, viewOfDoc } from "./flow";
import { complain, say } from "./studio";

export const GRID = 8;
const GAP = 48;

let clip: edit.Clip | null = null;
let steps = 0;

/** A unique key: the changes made with it are undone in one step. */
const newKey = (): string => {
  steps += 1;
  return `step ${steps}`;
};

const superboxes = () => {
  const { doc, scope } = useDoc.getState();
  return superboxesAt(doc.network, scope);
};

/** The nearest free position at or below the wanted one. */
function freePlace(at: XYPosition): XYPosition {
  const { nodes } = useFlow.getState();
  const place = { x: Math.round(at.x / GRID) * GRID, y: Math.round(at.y / GRID) * GRID };
  const hit = () =>
    nodes.some(
      (node) =>
        Math.abs(node.position.x - place.x) < WIDTH + 8 &&
        Math.abs(node.position.y - place.y) < heightOf(node.data) + 8,
    );
  for (let tries = 0; tries < 100 && hit(); tries += 1) place.y += 24;
  return place;
}

/** The position right of the selection, if that is one item with an output; else right of all. */
function placeBeside(): { at: XYPosition; from: string | null } {
  const { nodes } = useFlow.getState();
  const { selection } = useDoc.getState();
  const chosen = nodes.find((node) => node.id === selection[0]);
  if (selection.length === 1 && chosen?.data.ports.length)
    return {
      at: { x: chosen.position.x + WIDTH + GAP, y: chosen.position.y },
      from: chosen.id,
    };
  const last = nodes.reduce((x, node) => Math.max(x, node.position.x + WIDTH + GAP), 0);
  return { at: { x: last, y: nodes[0]?.position.y ?? 0 }, from: null };
}

/** The first unread output of an item, or its first output. */
function openPort(id: string): string {
  const { nodes, edges } = useFlow.getState();
  const ports = nodes.find((node) => node.id === id)?.data.ports ?? ["0"];
  const used = new Set(edges.filter((e) => e.source === id).map((e) => e.sourceHandle));
  return ports.find((port) => !used.has(port)) ?? ports[0] ?? "0";
}

/** Add an input, an output or a box; after the selected one if no position is given. */
export function add(type: string, where?: XYPosition): string {
  const body = openBody(useDoc.getState());
  const beside = placeBeside();
  const key = newKey();
  const from = where || type === "input" ? null : beside.from;
  const place = freePlace(where ?? beside.at);
  let id: string;
  if (type === "input") {
    const name = freeName("input", namesOf(body));
    id = name;
    changeBody((b) => edit.putInput(b, name, { ts: "time", fields: { time: "int" } }), key);
  } else if (type === "output") {
    const name = freeName("output", new Set(Object.keys(body.outputs ?? {})));
    id = outputId(name);
    changeBody((b) => edit.putOutput(b, name, {}), key);
  } else {
    const name = freeName(type, namesOf(body));
    id = name;
    changeBody((b) => edit.putBox(b, name, { type }), key);
  }
  move({ [id]: [place.x, place.y] }, key);
  if (from !== null) join(from, openPort(from), id, 0, key);
  select([id]);
  return id;
}

/** Draw an arrow. */
export function join(source: string, port: string, target: string, index: number, key = ""): void {
  const { nodes } = useFlow.getState();
  const several = (nodes.find((node) => node.id === source)?.data.ports.length ?? 1) > 1;
  changeBody((body) => {
    const arity = arityOf(body.boxes?.[target], superboxes());
    return edit.connect(body, { source, port }, several, target, index, arity);
  }, key);
}

/** Remove an arrow, by its id on the canvas. */
export function cut(edge: string, key = ""): void {
  const at = edge.lastIndexOf("#");
  const target = edge.slice(0, at);
  changeBody((body) => {
    const arity = arityOf(body.boxes?.[target], superboxes());
    return edit.disconnect(body, target, Number(edge.slice(at + 1)), arity);
  }, key);
  selectArc(null);
}

/** Reconnect an arrow: change its source or its target. */
export function reroute(
  edge: string,
  to: { source: string; port: string; target: string; index: number },
): void {
  const key = newKey();
  cut(edge, key);
  join(to.source, to.port, to.target, to.index, key);
}

/** Insert a new box into an arrow. */
export function addInto(type: string, edge: string, at: XYPosition): void {
  const old = useFlow.getState().edges.find((e) => e.id === edge);
  if (!old || type === "input" || type === "output") {
    add(type, at);
    return;
  }
  const key = newKey();
  const name = freeName(type, namesOf(openBody(useDoc.getState())));
  changeBody((body) => edit.putBox(body, name, { type }), key);
  move({ [name]: [at.x - WIDTH / 2, at.y - 28] }, key);
  join(old.source, old.sourceHandle ?? "0", name, 0, key);
  const index = Number(old.targetHandle ?? 0);
  if (openBody(useDoc.getState()).boxes?.[old.target]) {
    changeBody((body) => {
      const box = body.boxes?.[old.target];
      if (!box) return body;
      const reads = readsOf(box);
      reads[old.data?.index ?? index] = name;
      const next: BoxBlock = { ...box, in: reads.length === 1 ? name : reads };
      return edit.putBox(body, old.target, next);
    }, key);
  } else join(name, "0", old.target, 0, key);
  select([name]);
}

export function removeSelected(): void {
  const { selection, arc } = useDoc.getState();
  if (arc !== null) {
    cut(arc);
    return;
  }
  if (!selection.length) return;
  changeBody((body) => edit.remove(body, selection, aritiesOf(body, superboxes())));
  select([]);
}

export function renameTo(id: string, to: string): void {
  const { scope, doc } = useDoc.getState();
  const next = id.startsWith("-> ") ? outputId(to) : to;
  change((d) => {
    const body = bodyAt(d.network, scope);
    if (!body) return d;
    const { [placeKey(scope, id)]: place, ...rest } = d.positions;
    return {
      network: withBody(d.network, scope, edit.rename(body, id, to)),
      positions: place ? { ...rest, [placeKey(scope, next)]: place } : rest,
    };
  });
  if (useDoc.getState().doc !== doc) select([next]);
}

export function copySelected(): void {
  const state = useDoc.getState();
  if (!state.selection.length) return;
  const nodes = useFlow.getState().nodes;
  const places = nodes.map((n) => [n.id, [n.position.x, n.position.y]] as const);
  clip = edit.copy(openBody(state), state.selection, Object.fromEntries(places) as Positions);
  say(`Copied ${state.selection.length === 1 ? "one box" : `${state.selection.length} boxes`}.`);
}

export function pasteCopied(): void {
  if (!clip) return;
  const { body, ids } = edit.paste(openBody(useDoc.getState()), clip);
  const key = newKey();
  const places = Object.entries(clip.places).flatMap(([id, [x, y]]) => {
    const to = ids[id];
    return to === undefined ? [] : [[to, [x + 32, y + 32]] as const];
  });
  changeBody(() => body, key);
  move(Object.fromEntries(places) as Positions, key);
  clip = { ...clip, places: shifted(clip.places) };
  select(Object.values(ids));
}

const shifted = (places: Positions): Positions =>
  Object.fromEntries(Object.entries(places).map(([id, [x, y]]) => [id, [x + 32, y + 32]]));

export function cutSelected(): void {
  copySelected();
  removeSelected();
}

export const selectAll = (): void => select(useFlow.getState().nodes.map((node) => node.id));

/** Move the selection by dx, dy pixels. */
export function nudge(dx: number, dy: number): void {
  const { selection } = useDoc.getState();
  const chosen = useFlow.getState().nodes.filter((node) => selection.includes(node.id));
  const places = chosen.map((n) => [n.id, [n.position.x + dx, n.position.y + dy]] as const);
  if (places.length) move(Object.fromEntries(places) as Positions, "nudge");
}

/** The body as a network of its own, for calls that take one. */
const asNetwork = (body: Body, name: string): Network => ({ ...body, name });

/** Group the selected boxes into a superbox. */
export async function groupSelected(): Promise<void> {
  const state = useDoc.getState();
  const body = openBody(state);
  const boxes = state.selection.filter((id) => body.boxes?.[id]);
  if (!boxes.length) {
    say("Select the boxes to group first.");
    return;
  }
  const name = freeName("part", new Set([...Object.keys(superboxes()), ...namesOf(body)]));
  try {
    const network = asNetwork({ ...body, superboxes: superboxes() }, state.doc.network.name);
    const answer = await api.group(network, boxes, name);
    const grouped = answer.network as unknown as Network;
    const use = Object.keys(grouped.boxes ?? {}).find((n) => !body.boxes?.[n]) ?? name;
    await putGrouped(grouped, body, use, boxes, { use, superbox: name });
    select([use]);
  } catch (error) {
    complain(error);
  }
}

/** Replace the body by its grouped version; the superbox takes the mean position of its boxes. */
async function putGrouped(
  grouped: Network,
  old: Body,
  use: string,
  boxes: readonly string[],
  step: { use: string; superbox: string },
): Promise<void> {
  const { scope, doc } = useDoc.getState();
  const inherited = new Set(Object.keys(superboxesAt(doc.network, scope.slice(0, -1))));
  const { name: _, superboxes: all, ...rest } = grouped;
  const own = Object.entries(all ?? {}).filter(
    ([n]) => !scope.length || old.superboxes?.[n] || !inherited.has(n),
  );
  const body = edit.tidy({ ...rest, superboxes: Object.fromEntries(own) });
  const places = useFlow.getState().nodes.filter((node) => boxes.includes(node.id));
  const mean = (pick: (n: (typeof places)[number]) => number) =>
    places.reduce((sum, n) => sum + pick(n), 0) / Math.max(1, places.length);
  const at: [number, number] = [mean((n) => n.position.x), mean((n) => n.position.y)];
  const next = withBody(doc.network, scope, body);
  const inner = await placesOf(next, [...scope, step]);
  change((d) => ({
    network: withBody(d.network, scope, body),
    positions: { ...d.positions, ...inner, [placeKey(scope, use)]: at },
  }));
}

/** Replace a superbox by its boxes. */
export async function ungroupSelected(): Promise<void> {
  const state = useDoc.getState();
  const body = openBody(state);
  const use = state.selection.find((id) => superboxes()[body.boxes?.[id]?.type ?? ""]);
  if (use === undefined) {
    say("Select a superbox first.");
    return;
  }
  try {
    const network = asNetwork({ ...body, superboxes: superboxes() }, state.doc.network.name);
    const answer = await api.ungroup(network, use);
    const { name: _, superboxes: all, ...rest } = answer.network as unknown as Network;
    const next: Body = edit.tidy({
      ...rest,
      ...(all && !state.scope.length && { superboxes: all }),
    });
    change((d) => ({ ...d, network: withBody(d.network, state.scope, next) }));
    await tidyUp();
  } catch (error) {
    complain(error);
  }
}

/** The positions in a scope after automatic layout, by position key. */
export async function placesOf(network: Network, scope: Scope): Promise<Positions> {
  const graph = graphOf({ network, scope, positions: {}, check: null });
  if (!graph.nodes.length) return {};
  const { items, links } = toLayout(graph);
  const { positions } = await layOut(items, links);
  const keyed = Object.entries(positions).map(([id, at]) => [placeKey(scope, id), at] as const);
  return Object.fromEntries<[number, number]>(keyed);
}

/** Lay out the open canvas. */
export async function tidyUp(): Promise<void> {
  const { doc, scope } = useDoc.getState();
  try {
    const places = await placesOf(doc.network, scope);
    change((d) => ({ ...d, positions: { ...d.positions, ...places } }));
  } catch (error) {
    complain(error);
  }
}

/** The positions, completed for items that have none yet. */
export async function withPlaces(
  network: Network,
  positions: Positions,
  scope: Scope = [],
): Promise<Positions> {
  const { nodes } = graphOf(viewFor(network, positions, scope));
  const lost = nodes.filter((node) => !positions[placeKey(scope, node.id)]);
  if (!lost.length) return positions;
  const found = await placesOf(network, scope);
  if (lost.length === nodes.length) return { ...positions, ...found };
  const places: Positions = { ...positions };
  for (const { id } of lost) places[placeKey(scope, id)] = found[placeKey(scope, id)] ?? [0, 0];
  return places;
}

const viewFor = (network: Network, positions: Positions, scope: Scope) => ({
  ...viewOfDoc(),
  network,
  positions,
  scope,
});

/** Open the superbox that a box uses. */
export async function openInside(id: string): Promise<void> {
  const { doc, scope } = useDoc.getState();
  const type = openBody(useDoc.getState()).boxes?.[id]?.type ?? "";
  if (!superboxes()[type]) return;
  const step = { use: id, superbox: type };
  const positions = await withPlaces(doc.network, doc.positions, [...scope, step]);
  if (positions !== doc.positions) place(positions);
  enter(step);
}
