/** The preview: data on the left, the network with its counts, tuples below, state on the right. */

import { useEffect } from "react";
import { useShallow } from "zustand/react/shallow";

import { Canvas } from "../canvas/Canvas";
import { Zoom } from "../canvas/Tools";
import { Clear, Refit } from "../compose/Compose";
import { useCheck } from "../state/check";
import { useDoc } from "../state/doc";
import {
  back,
  changedSince,
  draw,
  restart,
  start,
  step,
  toEnd,
  toStop,
  usePreview,
} from "../state/preview";
import { Button, NumberField } from "../ui/controls";
import { DataPane } from "./DataPane";
import { SkippedRows } from "./SkippedRows";
import { BoxState } from "./BoxState";
import { Tuples } from "./Tuples";

export function PreviewView() {
  useEffect(draw, []);
  return (
    <main className="view preview">
      <DataPane />
      <div className="centre">
        <StepBar />
        <div className="canvas" data-testid="canvas">
          <Canvas editable={false} />
          <Zoom />
          <Refit />
          <Clear />
          <BoxState />
        </div>
        <Tuples />
      </div>
    </main>
  );
}

function StepBar() {
  const [preview, busy, train, trouble] = usePreview(
    useShallow((s) => [s.preview, s.busy, s.train, s.trouble]),
  );
  const stops = usePreview((state) => Object.keys(state.stops).length);
  const network = useDoc((state) => state.doc.network);
  const wrong = useCheck((state) => (state.answer?.problems.length ?? 0) > 0);
  const changed = usePreview((state) => changedSince(state, network));
  const stale = preview !== null && changed !== null;
  const done = preview?.finished ?? false;
  const share = preview?.total ? preview.position / preview.total : 0;
  return (
    <div className="step-bar">
      <div className="bar" role="toolbar" aria-label="Steps">
        <Button
          label="Restart"
          icon="refresh"
          iconOnly
          disabled={busy}
          onClick={() => {
            restart();
            void start();
          }}
          testId="preview-start"
        />
        <Button
          label="Back"
          icon="back"
          iconOnly
          title="Step back"
          disabled={busy || !preview?.position}
          onClick={() => void back()}
          testId="preview-back"
        />
        <Button
          label={`Step ${train}`}
          icon="step"
          kind="primary"
          title="Feed the next tuples"
          disabled={busy || (done && !stale) || wrong}
          onClick={() => void step()}
          testId="preview-step"
        />
        <NumberField
          value={train}
          min={1}
          onChange={(next) => usePreview.setState({ train: Math.max(1, Math.floor(next ?? 1)) })}
          label="tuples per step"
          testId="preview-train"
        />
        <Button
          label="Breakpoint"
          icon="dot"
          title="Continue until a tuple reaches a breakpoint"
          disabled={busy || !stops || (done && !stale) || wrong}
          onClick={() => void toStop()}
          testId="preview-until"
        />
        <Button
          label="End"
          icon="end"
          title="Feed all remaining tuples"
          disabled={busy || (done && !stale) || wrong}
          onClick={() => void toEnd()}
          testId="preview-end"
        />
        <span className="grow" />
        <output className="progress" data-testid="preview-position">
          {preview ? `${preview.position} of ${preview.total} tuples` : "not started"}
        </output>
      </div>
      <div className="progress-line" aria-hidden="true">
        <i style={{ width: `${share * 100}%` }} />
      </div>
      {(trouble ?? (wrong ? "Fix the problems first; they are marked on the boxes." : null)) && (
        <p className="trouble banner" role="alert" data-testid="preview-trouble">
          {trouble ?? "Fix the problems first; they are marked on the boxes."}
        </p>
      )}
      {stale && !trouble && (
        <p className="banner" role="status" data-testid="preview-stale">
          The {changed} has changed: the next step restarts from the first tuple.
        </p>
      )}
      {preview && !stale && <SkippedRows preview={preview} />}
    </div>
  );
}
