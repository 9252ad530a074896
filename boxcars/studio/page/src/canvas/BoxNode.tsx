/** An input, a box or an output on the canvas. */

import { Handle, Position, type NodeProps } from "@xyflow/react";
import { memo } from "react";

import { handleTop, heightOf, type BoxNode as Node_ } from "../model/graph";
import { Badge } from "../ui/Badge";
import { useOverlay } from "../state/overlay";

export const BoxNode = memo(function BoxNode({
  data,
  id,
  selected,
  isConnectable,
}: NodeProps<Node_>) {
  const mark = useOverlay((state) => state.boxes[data.flat]);
  const height = heightOf(data);
  const wrong = data.problems.length > 0;
  const classes = ["box", data.tone, selected && "selected", wrong && "wrong", mark?.tone];
  return (
    <div
      className={classes.filter(Boolean).join(" ")}
      style={{ height }}
      title={wrong ? data.problems.join("\n") : undefined}
      data-testid={`node-${id}`}
    >
      {data.inputs.map((name, i) => (
        <Handle
          key={i}
          id={String(i)}
          type="target"
          position={Position.Left}
          className={data.many ? "many" : ""}
          style={{ top: handleTop(i, data.inputs.length, height) }}
          isConnectable={isConnectable}
          title={name || "input"}
        />
      ))}
      <Badge icon={data.icon} />
      <span className="words">
        <span className="name">{data.name}</span>
        <span className={mark?.text ? "summary live" : "summary"}>
          {mark?.text ?? data.summary}
        </span>
      </span>
      {wrong && (
        <span
          className="alarm"
          role="img"
          aria-label={data.problems.join(" ")}
          data-testid={`alarm-${id}`}
        >
          {data.problems.length > 1 ? data.problems.length : "!"}
        </span>
      )}
      {data.group && <span className="team">{data.group}</span>}
      {mark?.load !== undefined && mark.load > 0 && (
        <span className="load" aria-hidden="true">
          <i
            className={mark.load > 0.85 ? "bad" : mark.load > 0.6 ? "warn" : "good"}
            style={{ width: `${Math.max(2, Math.min(1, mark.load) * 100)}%` }}
          />
        </span>
      )}
      {data.ports.map((port, i) => (
        <Handle
          key={port}
          id={port}
          type="source"
          position={Position.Right}
          style={{ top: handleTop(i, data.ports.length, height) }}
          isConnectable={isConnectable}
          title={data.ports.length > 1 ? port : "output"}
        >
          {data.ports.length > 1 && <span className="port">{port}</span>}
        </Handle>
      ))}
      {data.side.map((port, i) => (
        <Handle
          key={port}
          id={port}
          type="source"
          position={Position.Bottom}
          className="side"
          style={{ left: `calc(100% - ${28 + 34 * i}px)` }}
          isConnectable={isConnectable}
          title={port}
        >
          <span className="port">{port}</span>
        </Handle>
      ))}
    </div>
  );
});
