/** Runs side by side: the same charts for each. */

import { useShallow } from "zustand/react/shallow";

import type { Run } from "../api/types";
import { NOTHING, useLive } from "../state/live";
import { stopRun, isOver, useRuns } from "../state/runs";
import { Button } from "../ui/controls";
import { Chart } from "./Chart";
import { CHARTS, WITH_EVENTS } from "./Overview";
import { Results } from "./Results";

export function Compare() {
  const [runs, beside] = useRuns(useShallow((s) => [s.runs, s.beside]));
  const shown = beside.flatMap((id) => runs.find((run) => run.id === id) ?? []);
  return (
    <div className="compare" data-testid="compare">
      {shown.map((run) => (
        <Column key={run.id} run={run} />
      ))}
    </div>
  );
}

function Column({ run }: { run: Run }) {
  const live = useLive((state) => state.lives[run.id] ?? NOTHING);
  return (
    <section className="column" aria-label={run.name} data-testid={`column-${run.id}`}>
      <header className="bar">
        <span className={`state ${run.state}`}>{run.state}</span>
        <strong className="grow clip">{run.name}</strong>
        {!isOver(run) && (
          <Button label="Stop" icon="stop" kind="ghost" onClick={() => void stopRun(run.id)} />
        )}
      </header>
      <p className="sentence">{run.sentence}</p>
      {CHARTS.map(([name, title, show, colour, testId]) => (
        <Chart
          key={name}
          title={title}
          times={live.series.times}
          over={isOver(run)}
          lines={[{ label: title, values: live.series.values[name] ?? [], colour }]}
          show={show}
          events={WITH_EVENTS.includes(name) ? live.events : []}
          height={110}
          testId={testId}
        />
      ))}
      <Results run={run} live={live} />
    </section>
  );
}
