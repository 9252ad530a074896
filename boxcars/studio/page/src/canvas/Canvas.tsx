/** The canvas on which a network is drawn. */

import {
  Background,
  BackgroundVariant,
  MiniMap,
  ReactFlow,
  SelectionMode,
  useReactFlow,
  type Connection,
  type Edge,
} from "@xyflow/react";
import { useCallback, useRef, type DragEvent } from "react";
import { useShallow } from "zustand/react/shallow";

import { leadsTo } from "../model/edit";
import { WIDTH, type ArcEdge as ArcEdge_, type BoxNode as BoxNode_ } from "../model/graph";
import { add, addInto, cut, GRID, join, openInside, reroute } from "../state/actions";
import { openBody, selectArc, useDoc } from "../state/doc";
import { keepPlaces, onNodesChange, useFlow } from "../state/flow";
import { isDark, useStudio } from "../state/studio";
import { ArcEdge } from "./ArcEdge";
import { BoxNode } from "./BoxNode";
import { hideTip, showTip } from "./tips";

export const nodeTypes = { box: BoxNode };
export const edgeTypes = { arc: ArcEdge };
/** Number of boxes from which the overview map is shown. */
export const MAPPED = 10;
export const DRAGGED = "application/x-boxcars";

const TONES: Record<string, string> = {
  input: "var(--input)",
  output: "var(--output)",
  stateful: "var(--stateful)",
  stateless: "var(--stateless)",
  superbox: "var(--superbox)",
};
export const miniColour = (node: BoxNode_): string => TONES[node.data.tone] ?? "gray";

interface Ends {
  source: string;
  sourceHandle?: string | null;
  target: string;
  targetHandle?: string | null;
}

const endsOf = (ends: Ends) => ({
  source: ends.source,
  port: ends.sourceHandle ?? "0",
  target: ends.target,
  index: Number(ends.targetHandle ?? 0),
});

function isValid(ends: Connection | Edge): boolean {
  if (ends.source === ends.target) return false;
  return !leadsTo(openBody(useDoc.getState()), ends.target, ends.source);
}

function connect(ends: Connection): void {
  const { source, port, target, index } = endsOf(ends);
  join(source, port, target, index);
}

const DELETE_KEYS = null;
const SPOKEN = { "edge.a11yDescription.default": "Enter opens its panel, Delete removes it." };

export function Canvas({ editable }: { editable: boolean }) {
  const [nodes, edges] = useFlow(useShallow((state) => [state.nodes, state.edges]));
  const theme = useStudio((state) => state.theme);
  const flow = useReactFlow<BoxNode_, ArcEdge_>();
  const rerouted = useRef(false);

  const onDrop = useCallback(
    (event: DragEvent) => {
      const type = event.dataTransfer.getData(DRAGGED);
      if (!type) return;
      event.preventDefault();
      const at = flow.screenToFlowPosition({ x: event.clientX, y: event.clientY });
      const under = document
        .elementsFromPoint(event.clientX, event.clientY)
        .find((element) => element.closest(".react-flow__edge"))
        ?.closest<HTMLElement>(".react-flow__edge");
      const edge = under?.dataset["id"];
      if (edge !== undefined) addInto(type, edge, at);
      else add(type, { x: at.x - WIDTH / 2, y: at.y - 28 });
    },
    [flow],
  );

  return (
    <ReactFlow<BoxNode_, ArcEdge_>
      nodes={nodes}
      edges={edges}
      nodeTypes={nodeTypes}
      edgeTypes={edgeTypes}
      colorMode={isDark(theme) ? "dark" : "light"}
      onNodesChange={onNodesChange}
      onNodeDragStop={(_, __, moved) => keepPlaces(moved)}
      onSelectionDragStop={(_, moved) => keepPlaces(moved)}
      onConnect={connect}
      isValidConnection={isValid}
      onReconnectStart={() => {
        rerouted.current = false;
      }}
      onReconnect={(old, ends) => {
        rerouted.current = true;
        reroute(old.id, endsOf(ends));
      }}
      onReconnectEnd={(_, edge) => {
        if (!rerouted.current) cut(edge.id);
      }}
      onEdgeClick={(_, edge) => selectArc(edge.id)}
      onPaneClick={() => selectArc(null)}
      onNodeClick={() => selectArc(null)}
      onNodeDoubleClick={(_, node) => void openInside(node.id)}
      onEdgeMouseMove={(event, edge) => showTip(edge, event.clientX, event.clientY)}
      onEdgeMouseLeave={hideTip}
      onMoveStart={hideTip}
      onDrop={onDrop}
      onDragOver={(event) => {
        event.preventDefault();
        event.dataTransfer.dropEffect = "copy";
      }}
      nodesConnectable={editable}
      edgesReconnectable={editable}
      elementsSelectable
      selectionKeyCode="Shift"
      multiSelectionKeyCode={["Control", "Meta"]}
      selectionMode={SelectionMode.Partial}
      deleteKeyCode={DELETE_KEYS}
      disableKeyboardA11y
      snapToGrid
      snapGrid={[GRID, GRID]}
      connectionRadius={28}
      minZoom={0.1}
      maxZoom={2}
      fitView
      fitViewOptions={{ padding: 0.06, maxZoom: 1 }}
      onlyRenderVisibleElements
      proOptions={{ hideAttribution: false }}
      aria-label="The network"
      ariaLabelConfig={SPOKEN}
    >
      <Background variant={BackgroundVariant.Dots} gap={24} size={1} />
      {nodes.length >= MAPPED && (
        <MiniMap<BoxNode_>
          pannable
          zoomable
          nodeColor={miniColour}
          nodeStrokeWidth={0}
          nodeBorderRadius={12}
          ariaLabel="Overview map of the network"
        />
      )}
    </ReactFlow>
  );
}
