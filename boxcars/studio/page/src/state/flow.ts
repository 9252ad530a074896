/** The nodes and edges on the canvas, derived from the document. */

import { applyNodeChanges, type NodeChange } from "@xyflow/react";
import { create } from "zustand";

import { graphOf, type ArcEdge, type BoxNode, type Graph, type View } from "../model/graph";
import { useCheck } from "./check";
import { move, select, useDoc } from "./doc";
import { usePalette } from "./palette";

interface FlowState extends Graph {
  /** The nodes to scroll to; a new object for each request. */
  goal: { ids: readonly string[] } | null;
}

export const useFlow = create<FlowState>(() => ({ nodes: [], edges: [], goal: null }));

export function viewOfDoc(): View {
  const { doc, scope } = useDoc.getState();
  const { answer } = useCheck.getState();
  return { network: doc.network, positions: doc.positions, scope, check: answer };
}

const same = (one: unknown, other: unknown): boolean =>
  JSON.stringify(one) === JSON.stringify(other);

/** Reuse unchanged nodes, so that React redraws little. */
export function merged(
  old: readonly BoxNode[],
  next: readonly BoxNode[],
  selection: readonly string[],
): BoxNode[] {
  const before = new Map(old.map((node) => [node.id, node]));
  const chosen = new Set(selection);
  return next.map((node) => {
    const was = before.get(node.id);
    const selected = chosen.has(node.id);
    if (!was) return { ...node, selected };
    const data = same(was.data, node.data) ? was.data : node.data;
    const stays = was.position.x === node.position.x && was.position.y === node.position.y;
    if (data === was.data && stays && (was.selected ?? false) === selected) return was;
    return { ...was, ...node, data, selected, dragging: was.dragging ?? false };
  });
}

export function mergedEdges(old: readonly ArcEdge[], next: readonly ArcEdge[], arc: string | null) {
  const before = new Map(old.map((edge) => [edge.id, edge]));
  return next.map((edge) => {
    const was = before.get(edge.id);
    const selected = edge.id === arc;
    const full = { ...edge, selected };
    return was && same(was, full) ? was : full;
  });
}

function rebuild(): void {
  const { selection, arc } = useDoc.getState();
  const graph = graphOf(viewOfDoc());
  const { nodes, edges } = useFlow.getState();
  useFlow.setState({
    nodes: merged(nodes, graph.nodes, selection),
    edges: mergedEdges(edges, graph.edges, arc),
  });
}

useDoc.subscribe(rebuild);
useCheck.subscribe(rebuild);
usePalette.subscribe(rebuild);

/** Select an item and scroll to it. */
export function goTo(id: string): void {
  select([id]);
  useFlow.setState({ goal: { ids: [id] } });
}

/** Fit everything into the view. */
export const seeAll = (): void => useFlow.setState({ goal: { ids: [] } });

/** Apply the canvas's drag and selection events. */
export function onNodesChange(changes: NodeChange<BoxNode>[]): void {
  const kept = changes.filter((c) => c.type !== "remove" && c.type !== "select");
  if (kept.length) useFlow.setState({ nodes: applyNodeChanges(kept, useFlow.getState().nodes) });
  const picks = changes.filter((c) => c.type === "select");
  if (!picks.length) return;
  const chosen = new Set(useDoc.getState().selection);
  for (const pick of picks)
    if (pick.selected) chosen.add(pick.id);
    else chosen.delete(pick.id);
  select([...chosen]);
}

/** Store the positions of dragged boxes. */
export function keepPlaces(nodes: readonly BoxNode[]): void {
  const now = new Map(useFlow.getState().nodes.map((node) => [node.id, node.position]));
  const places = nodes.map((node) => {
    const { x, y } = now.get(node.id) ?? node.position;
    return [node.id, [x, y]] as const;
  });
  move(Object.fromEntries(places) as Record<string, [number, number]>);
}
