/** The small buttons in a corner of the canvas. */

import { useReactFlow, useStore, type ReactFlowState } from "@xyflow/react";

import { groupSelected, tidyUp, ungroupSelected } from "../state/actions";
import { openBody, useDoc } from "../state/doc";
import { seeAll } from "../state/flow";
import { superboxesAt } from "../model/network";
import { Button } from "../ui/controls";

export const FIT = { padding: 0.06, maxZoom: 1, duration: 200 };

/** Zoomed out, only names are shown, in a larger font. */
const isFar = (state: ReactFlowState): boolean => state.transform[2] < 0.8;

export function Zoom() {
  const far = useStore(isFar);

  const flow = useReactFlow();
  return (
    <div className={far ? "tools zoom far" : "tools zoom"} role="toolbar" aria-label="Zoom">
      <Button
        label="Zoom in"
        icon="plus"
        kind="ghost"
        iconOnly
        onClick={() => void flow.zoomIn()}
      />
      <Button
        label="Zoom out"
        icon="minus"
        kind="ghost"
        iconOnly
        onClick={() => void flow.zoomOut()}
      />
      <Button
        label="Fit to view"
        icon="fit"
        kind="ghost"
        iconOnly
        keys="f"
        onClick={() => void flow.fitView(FIT)}
        testId="fit"
      />
    </div>
  );
}

export function Tools() {
  const selection = useDoc((state) => state.selection);
  const isUse = useDoc((state) => {
    const type = openBody(state).boxes?.[state.selection[0] ?? ""]?.type ?? "";
    return state.selection.length === 1 && type in superboxesAt(state.doc.network, state.scope);
  });
  return (
    <div className="tools" role="toolbar" aria-label="Drawing">
      <Button
        label="Lay out"
        icon="layout"
        kind="ghost"
        iconOnly
        title="Lay out automatically"
        keys="l"
        onClick={() => void tidyUp().then(seeAll)}
        testId="layout"
      />
      <Button
        label="Group"
        icon="group"
        kind="ghost"
        iconOnly
        title="Group the selected boxes into a superbox"
        keys="Ctrl+G"
        disabled={!selection.length}
        onClick={() => void groupSelected()}
        testId="group"
      />
      <Button
        label="Ungroup"
        icon="ungroup"
        kind="ghost"
        iconOnly
        title="Replace the superbox by its boxes"
        disabled={!isUse}
        onClick={() => void ungroupSelected()}
        testId="ungroup"
      />
    </div>
  );
}
