/** Automatic layout: boxes from left to right along the arrows, computed in a worker. */

import ELK, { type ElkExtendedEdge, type ElkNode } from "elkjs/lib/elk-api";
import workerAddress from "elkjs/lib/elk-worker.min.js?url";

import type { Positions } from "./network";

export interface Sized {
  id: string;
  width: number;
  height: number;
  /** The outputs from top to bottom, and the number of inputs. */
  ports: string[];
  inputs: number;
}

export interface Link {
  source: string;
  port: string;
  target: string;
  index: number;
}

/** A frame around some items. */
export interface Frame {
  id: string;
  members: string[];
}

export interface Placed {
  positions: Positions;
  frames: Record<string, { x: number; y: number; width: number; height: number }>;
}

const OPTIONS = {
  "elk.algorithm": "layered",
  "elk.direction": "RIGHT",
  "elk.layered.spacing.nodeNodeBetweenLayers": "48",
  "elk.spacing.nodeNode": "28",
  "elk.spacing.edgeNode": "20",
  "elk.layered.nodePlacement.strategy": "NETWORK_SIMPLEX",
  "elk.layered.considerModelOrder.strategy": "NODES_AND_EDGES",
  "elk.separateConnectedComponents": "true",
};

let elk: InstanceType<typeof ELK> | null = null;
const start = () => {
  elk ??= new ELK({ workerFactory: () => new Worker(workerAddress) });
  return elk;
};

function elkNode(item: Sized): ElkNode {
  const port = (id: string, side: string, index: number) => ({
    id,
    width: 1,
    height: 1,
    layoutOptions: { "elk.port.side": side, "elk.port.index": String(index) },
  });
  return {
    id: item.id,
    width: item.width,
    height: item.height,
    layoutOptions: { "elk.portConstraints": "FIXED_ORDER" },
    ports: [
      ...item.ports.map((name, i) => port(`${item.id}|o|${name}`, "EAST", i)),
      ...Array.from({ length: item.inputs }, (_, i) =>
        port(`${item.id}|i|${i}`, "WEST", item.inputs - 1 - i),
      ),
    ],
  };
}

/** Compute positions for all items; the members of a frame stay together. */
export async function layOut(
  items: readonly Sized[],
  links: readonly Link[],
  frames: readonly Frame[] = [],
): Promise<Placed> {
  const nodes = new Map(items.map((item) => [item.id, elkNode(item)]));
  const sizes = new Map(items.map((item) => [item.id, item]));
  const framed = new Set(frames.flatMap((frame) => frame.members));
  const children: ElkNode[] = frames.map((frame) => ({
    id: `frame|${frame.id}`,
    layoutOptions: { "elk.padding": "[top=44,left=18,bottom=18,right=18]" },
    children: frame.members.flatMap((id) => nodes.get(id) ?? []),
  }));
  for (const [id, node] of nodes) if (!framed.has(id)) children.push(node);
  const edges: ElkExtendedEdge[] = links
    .filter((link) => nodes.has(link.source) && nodes.has(link.target))
    .map((link, i) => {
      const known = sizes.get(link.source)?.ports.includes(link.port);
      return {
        id: `e${i}`,
        sources: [known ? `${link.source}|o|${link.port}` : link.source],
        targets: [
          `${link.target}|i|${Math.min(link.index, (sizes.get(link.target)?.inputs ?? 1) - 1)}`,
        ],
      };
    });
  const layoutOptions = frames.length
    ? { ...OPTIONS, "elk.hierarchyHandling": "INCLUDE_CHILDREN" }
    : OPTIONS;
  const laid = await start().layout({ id: "root", layoutOptions, children, edges });
  const placed: Placed = { positions: {}, frames: {} };
  for (const node of laid.children ?? []) read(node, placed);
  return placed;
}

function read(node: ElkNode, placed: Placed): void {
  const { x = 0, y = 0, width = 0, height = 0 } = node;
  if (!node.id.startsWith("frame|")) {
    placed.positions[node.id] = [Math.round(x), Math.round(y)];
    return;
  }
  placed.frames[node.id.slice("frame|".length)] = { x, y, width, height };
  for (const child of node.children ?? [])
    placed.positions[child.id] = [Math.round(x + (child.x ?? 0)), Math.round(y + (child.y ?? 0))];
}
