/** The drawing of a plan: a frame for each subquery, in the order of the levels. */

import { Background, BackgroundVariant, ReactFlow, type Node, type NodeProps } from "@xyflow/react";
import { memo, useEffect, useState } from "react";

import type { PlanSubquery } from "../api/types";
import { edgeTypes, nodeTypes } from "../canvas/Canvas";
import { Zoom } from "../canvas/Tools";
import { flatten } from "../model/flat";
import { graphOf, toLayout, type ArcEdge } from "../model/graph";
import { layOut } from "../model/layout";
import { regroup } from "./regroup";
import { complain, isDark, useStudio } from "../state/studio";
import type { Shown } from "./PlanView";

interface FrameData extends Record<string, unknown> {
  subquery: PlanSubquery;
}
type FrameNode = Node<FrameData, "frame">;

const Frame = memo(function Frame({ data, selected }: NodeProps<FrameNode>) {
  const { subquery } = data;
  return (
    <div
      className={`frame ${subquery.kind}${selected ? " selected" : ""}`}
      data-testid={`subquery-${subquery.name}`}
    >
      <header>
        <strong>{subquery.name}</strong>
        <span>
          level {subquery.level}
          {subquery.source === null
            ? `, ${subquery.instances} instances, ${subquery.buckets} buckets`
            : ", reads the input"}
        </span>
      </header>
    </div>
  );
});

const types = { ...nodeTypes, frame: Frame };

interface Drawing {
  key: number;
  nodes: Node[];
  edges: ArcEdge[];
}

const membersOf = (subquery: PlanSubquery): string[] =>
  subquery.source === null ? subquery.boxes : [subquery.source, ...subquery.boxes];

let drawings = 0;

async function drawingOf({ network, plan }: Shown): Promise<Drawing> {
  const graph = graphOf({ network: flatten(network), scope: [], positions: {}, check: null });
  const { items, links } = toLayout(graph);
  const frames = plan.subqueries.map((s) => ({ id: s.name, members: membersOf(s) }));
  const placed = await layOut(items, links, frames);
  const home = new Map(frames.flatMap((f) => f.members.map((m) => [m, f.id] as const)));
  const nodes: Node[] = plan.subqueries.flatMap((subquery): Node[] => {
    const at = placed.frames[subquery.name];
    if (!at) return [];
    const { x, y, width, height } = at;
    return [
      {
        id: `frame ${subquery.name}`,
        type: "frame",
        position: { x, y },
        width,
        height,
        data: { subquery },
        draggable: false,
        zIndex: -1,
      },
    ];
  });
  for (const node of graph.nodes) {
    const [x, y] = placed.positions[node.id] ?? [0, 0];
    nodes.push({
      ...node,
      position: { x, y },
      draggable: home.has(node.id) && node.data.tone !== "input",
    });
  }
  drawings += 1;
  return { key: drawings, nodes, edges: graph.edges };
}

export function PlanCanvas(props: { shown: Shown; onChoose: (subquery: string | null) => void }) {
  const { shown, onChoose } = props;
  const theme = useStudio((state) => state.theme);
  const [drawing, setDrawing] = useState<Drawing | null>(null);
  useEffect(() => {
    let mine = true;
    drawingOf(shown).then((next) => {
      if (mine) setDrawing(next);
    }, complain);
    return () => {
      mine = false;
    };
  }, [shown]);
  if (!drawing) return null;
  const homeOf = (id: string) =>
    shown.plan.subqueries.find((s) => membersOf(s).includes(id))?.name ?? null;
  const dropped = (node: Node) => {
    const [x, y] = [
      node.position.x + (node.width ?? 0) / 2,
      node.position.y + (node.height ?? 0) / 2,
    ];
    const frame = drawing.nodes.find(
      (f) =>
        f.type === "frame" &&
        x > f.position.x &&
        x < f.position.x + (f.width ?? 0) &&
        y > f.position.y &&
        y < f.position.y + (f.height ?? 0),
    );
    const to = frame?.id.replace(/^frame /, "");
    if (to !== undefined && to !== homeOf(node.id)) regroup(shown.plan, node.id, to);
    else setDrawing({ ...drawing, key: drawing.key + 0.001 });
  };
  return (
    <ReactFlow
      key={drawing.key}
      defaultNodes={drawing.nodes}
      defaultEdges={drawing.edges}
      nodeTypes={types}
      edgeTypes={edgeTypes}
      colorMode={isDark(theme) ? "dark" : "light"}
      nodesConnectable={false}
      edgesReconnectable={false}
      deleteKeyCode={null}
      disableKeyboardA11y
      elevateNodesOnSelect={false}
      minZoom={0.1}
      fitView
      fitViewOptions={{ padding: 0.1, maxZoom: 1 }}
      onNodeClick={(_, node) =>
        onChoose(node.type === "frame" ? node.id.slice(6) : homeOf(node.id))
      }
      onPaneClick={() => onChoose(null)}
      onNodeDragStop={(_, node) => dropped(node)}
      aria-label="The plan"
    >
      <Background variant={BackgroundVariant.Dots} gap={24} size={1} />
      <Zoom />
    </ReactFlow>
  );
}
