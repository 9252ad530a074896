/** An arc: its width shows throughput, its colour the queue, its label the counts. */

import { BaseEdge, getBezierPath, type EdgeProps } from "@xyflow/react";
import { memo } from "react";

import type { ArcEdge as Edge_ } from "../model/graph";
import { useOverlay } from "../state/overlay";

export const ArcEdge = memo(function ArcEdge(props: EdgeProps<Edge_>) {
  const { data, selected, id } = props;
  const mark = useOverlay((state) => (data ? state.arcs[data.flat] : undefined));
  const [path, middleX, middleY] = getBezierPath({ ...props, curvature: 0.3 });
  const classes = ["arc", mark?.level, selected && "selected", mark?.fresh && "fresh"];
  return (
    <g
      className={`${classes.filter(Boolean).join(" ")}${data?.side ? " side" : ""}`}
      data-testid={`arc-${id}`}
    >
      <BaseEdge
        id={id}
        path={path}
        interactionWidth={22}
        markerEnd="url(#tip)"
        {...(mark?.width !== undefined && { style: { strokeWidth: mark.width } })}
      />
      {mark?.stop && <circle className="stop" cx={props.sourceX + 16} cy={props.sourceY} r={5} />}
      {data?.point && (
        <g className="point">
          <path d={`M${props.sourceX + 14} ${props.sourceY} l7 -7 l7 7 l-7 7 z`} />
          <text x={props.sourceX + 14} y={props.sourceY + 21}>
            {data.point}
          </text>
        </g>
      )}
      {mark?.text && (
        <text className="arc-text" x={middleX} y={middleY - 6}>
          {mark.text}
        </text>
      )}
    </g>
  );
});

/** The marker for the tips of all arrows, defined once per page. */
export function ArcTip() {
  return (
    <svg className="defs" aria-hidden="true">
      <defs>
        <marker
          id="tip"
          viewBox="0 0 10 10"
          refX="9"
          refY="5"
          markerWidth="9"
          markerHeight="9"
          markerUnits="userSpaceOnUse"
          orient="auto-start-reverse"
        >
          <path d="M0 0.5 L10 5 L0 9.5 z" fill="context-stroke" />
        </marker>
      </defs>
    </svg>
  );
}
