/** The page: header, active mode, and the dialogs and notices on top. */

import { ReactFlowProvider } from "@xyflow/react";
import { useEffect } from "react";
import { useShallow } from "zustand/react/shallow";

import { ArcTip } from "./canvas/ArcEdge";
import { ArcTooltip } from "./canvas/ArcTooltip";
import { Compose } from "./compose/Compose";
import { Header } from "./Header";
import { Asking } from "./panels/Asking";
import { Dialogs } from "./panels/Dialogs";
import { Notices } from "./panels/Notices";
import { PlanView } from "./plan/PlanView";
import { PreviewView } from "./preview/PreviewView";
import { useAsking } from "./state/asking";
import { onKey } from "./state/keys";
import { useStudio } from "./state/studio";
import { WatchView } from "./watch/WatchView";

export function App() {
  const [mode, dialog] = useStudio(useShallow((s) => [s.mode, s.dialog]));
  const asking = useAsking((state) => state.question !== null);
  useEffect(() => {
    window.addEventListener("keydown", onKey);
    return () => window.removeEventListener("keydown", onKey);
  }, []);
  return (
    <div className="app" data-testid="app" data-mode={mode}>
      <ArcTip />
      <Header />
      <ReactFlowProvider key={mode}>
        <div id="view" className="as-if-absent" role="tabpanel" aria-label={mode}>
          {mode === "compose" && <Compose />}
          {mode === "preview" && <PreviewView />}
          {mode === "plan" && <PlanView />}
          {mode === "watch" && <WatchView />}
        </div>
      </ReactFlowProvider>
      <ArcTooltip />
      <Dialogs />
      <Asking />
      {dialog === null && !asking && <Notices />}
    </div>
  );
}
