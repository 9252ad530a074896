/** Runs: the network coloured by load, live charts, results, injectors. */

import { useEffect } from "react";
import { useShallow } from "zustand/react/shallow";

import { Zoom } from "../canvas/Tools";
import { watch, useLive, NOTHING } from "../state/live";
import { clearOverlay } from "../state/overlay";
import { loadInjectors, loadRuns, useRuns } from "../state/runs";
import { openDialog } from "../state/studio";
import { Button, Empty } from "../ui/controls";
import { Compare } from "./Compare";
import { Injectors } from "./Injectors";
import { RunBar } from "./RunBar";
import { RunCanvas } from "./RunCanvas";
import { RunList } from "./RunList";
import { RunPanels } from "./RunPanels";
import { BoxCharts } from "./BoxCharts";

/** Subscribe to the runs that are shown. */
function useListening(ids: readonly string[]): void {
  const key = ids.join(" ");
  useEffect(() => {
    const ends = key ? key.split(" ").map(watch) : [];
    return () => ends.forEach((end) => end());
  }, [key]);
}

export function WatchView() {
  const [chosen, beside] = useRuns(useShallow((s) => [s.chosen, s.beside]));
  const run = useRuns((state) => state.runs.find((r) => r.id === state.chosen));
  const live = useLive((state) => (chosen === null ? NOTHING : (state.lives[chosen] ?? NOTHING)));
  useListening([...new Set([...(chosen === null ? [] : [chosen]), ...beside])]);
  useEffect(() => {
    void loadRuns();
    const timer = window.setInterval(() => void loadRuns(), 3000);
    return () => {
      window.clearInterval(timer);
      clearOverlay();
    };
  }, []);
  useEffect(() => {
    if (chosen === null) return undefined;
    void loadInjectors(chosen);
    const timer = window.setInterval(() => void loadInjectors(chosen), 1000);
    return () => window.clearInterval(timer);
  }, [chosen]);
  if (!run)
    return (
      <main className="view watch empty-view" data-testid="watch">
        <Empty title="No runs.">
          <Button
            label="Run the network on Spark"
            icon="play"
            kind="primary"
            onClick={() => openDialog("start")}
          />
        </Empty>
      </main>
    );
  return (
    <main className="view watch" data-testid="watch">
      <aside className="side" aria-label="Runs">
        <RunList />
        <Injectors run={run} />
      </aside>
      <div className="centre">
        {beside.length > 1 ? (
          <Compare />
        ) : (
          <>
            <RunBar run={run} live={live} />
            <div className="canvas" data-testid="canvas">
              <RunCanvas key={run.id} run={run} live={live}>
                <Zoom />
              </RunCanvas>
            </div>
            <RunPanels run={run} live={live} />
            <BoxCharts run={run} live={live} />
          </>
        )}
      </div>
    </main>
  );
}
