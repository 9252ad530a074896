/** A read-only drawing: of a run, a plan or a comparison. */

import {
  Background,
  BackgroundVariant,
  MiniMap,
  ReactFlow,
  type Node,
  type NodeTypes,
} from "@xyflow/react";
import type { ReactNode } from "react";

import type { ArcEdge as ArcEdge_, BoxNode as BoxNode_ } from "../model/graph";
import { isDark, useStudio } from "../state/studio";
import { edgeTypes, MAPPED, miniColour, nodeTypes } from "./Canvas";
import { hideTip, showTip } from "./tips";

const SPOKEN = { "edge.a11yDescription.default": "Enter shows its details." };

interface ReadProps {
  nodes: Node[];
  edges: ArcEdge_[];
  onNode?: (id: string) => void;
  onArc?: (edge: ArcEdge_) => void;
  onNothing?: () => void;
  onOpen?: (id: string) => void;
  types?: NodeTypes;
  map?: boolean;
  children?: ReactNode;
}

export function ReadCanvas(props: ReadProps) {
  const theme = useStudio((state) => state.theme);
  return (
    <ReactFlow
      nodes={props.nodes}
      edges={props.edges}
      nodeTypes={props.types ?? nodeTypes}
      edgeTypes={edgeTypes}
      colorMode={isDark(theme) ? "dark" : "light"}
      nodesConnectable={false}
      nodesDraggable={false}
      edgesReconnectable={false}
      deleteKeyCode={null}
      disableKeyboardA11y
      minZoom={0.1}
      maxZoom={2}
      fitView
      fitViewOptions={{ padding: 0.06, maxZoom: 1 }}
      onlyRenderVisibleElements
      onNodeClick={(_, node) => props.onNode?.(node.id)}
      onNodeDoubleClick={(_, node) => props.onOpen?.(node.id)}
      onEdgeClick={(_, edge) => props.onArc?.(edge)}
      onPaneClick={() => props.onNothing?.()}
      onEdgeMouseMove={(event, edge) => showTip(edge, event.clientX, event.clientY)}
      onEdgeMouseLeave={hideTip}
      onMoveStart={hideTip}
      aria-label="The network"
      ariaLabelConfig={SPOKEN}
    >
      <Background variant={BackgroundVariant.Dots} gap={24} size={1} />
      {props.map !== false && props.nodes.length >= MAPPED && (
        <MiniMap
          pannable
          zoomable
          nodeColor={(node) => (node.type === "box" ? miniColour(node as BoxNode_) : "transparent")}
          nodeStrokeWidth={0}
          nodeBorderRadius={12}
        />
      )}
      {props.children}
    </ReactFlow>
  );
}
