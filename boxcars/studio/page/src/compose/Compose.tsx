/** The composer: palette, canvas, properties, and the panels below. */

import { useReactFlow } from "@xyflow/react";
import { useEffect } from "react";

import { Canvas } from "../canvas/Canvas";
import { FIT, Tools, Zoom } from "../canvas/Tools";
import { DockPanels } from "../panels/DockPanels";
import { WIDTH } from "../model/graph";
import { useDoc } from "../state/doc";
import { useFlow } from "../state/flow";
import { clearOverlay } from "../state/overlay";
import { openDialog } from "../state/studio";
import { Button } from "../ui/controls";
import { Inspector } from "./Inspector";
import { Palette } from "./Palette";

const PANEL = 372;

export function Compose() {
  useEffect(clearOverlay, []);
  return (
    <main className="view compose">
      <Palette />
      <div className="centre">
        <div className="canvas" data-testid="canvas">
          <Canvas editable />
          <Tools />
          <Zoom />
          <Invitation />
          <Refit />
          <Follow />
          <Clear />
          <Inspector />
        </div>
        <DockPanels />
      </div>
    </main>
  );
}

/** Scroll to the requested boxes. */
function Follow() {
  const flow = useReactFlow();
  const goal = useFlow((state) => state.goal);
  useEffect(() => {
    if (!goal) return undefined;
    const nodes = goal.ids.map((id) => ({ id }));
    const timer = window.setTimeout(() => {
      const some = { nodes, padding: 1, maxZoom: 1.2, duration: 250 };
      void flow.fitView(nodes.length ? some : FIT);
      useFlow.setState({ goal: null });
    }, 60);
    return () => window.clearTimeout(timer);
  }, [flow, goal]);
  return null;
}

/** Pan the canvas so that its panel does not cover the selected box. */
export function Clear() {
  const flow = useReactFlow();
  const chosen = useDoc((state) => (state.selection.length === 1 ? state.selection[0] : undefined));
  useEffect(() => {
    const node = chosen === undefined ? undefined : flow.getNode(chosen);
    const room = document.querySelector(".react-flow")?.getBoundingClientRect();
    if (!node || !room) return;
    const { x, y, zoom } = flow.getViewport();
    const right = x + (node.position.x + WIDTH) * zoom;
    const over = right - (room.width - PANEL);
    if (over > 0) void flow.setViewport({ x: x - over, y, zoom }, { duration: 200 });
  }, [flow, chosen]);
  return null;
}

/** Fit the view when another document or superbox is opened. */
export function Refit() {
  const flow = useReactFlow();
  const scope = useDoc((state) => state.scope);
  const opened = useDoc((state) => state.opened);
  useEffect(() => {
    const timer = window.setTimeout(() => void flow.fitView({ ...FIT, duration: 0 }), 60);
    return () => window.clearTimeout(timer);
  }, [flow, scope, opened]);
  return null;
}

/** The hint on an empty canvas. */
function Invitation() {
  const empty = useDoc(
    ({ doc }) => !doc.network.inputs && !doc.network.boxes && !doc.network.outputs,
  );
  if (!empty) return null;
  return (
    <div className="invitation">
      <p>The canvas is empty. Start with an input from the palette, or</p>
      <Button
        label="Choose a template"
        icon="layers"
        onClick={() => openDialog("gallery")}
        testId="choose-template"
      />
    </div>
  );
}
