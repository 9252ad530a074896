/** Runs side by side: the same charts for each. */

import { useShallow } from "zustand/react/shallow";

import type { Run } from "../api/types";
import { NOTHING, useLive } from "../state/live";
import { stopRun, isOver, useRuns } from "../state/runs";
import { Button } from "../ui/controls";
import { rate, seconds, short } from "../ui/format";
import { Chart } from "./Chart";
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

const CHARTS: [string, string, (value: number | null | undefined) => string, string][] = [
  ["run/in_rate", "Tuples in", rate, "--input"],
  ["run/out_rate", "Tuples out", rate, "--output"],
  ["run/p95", "Latency (95 of 100)", seconds, "--stateful"],
  ["run/cpu", "CPU, in cores", short, "--superbox"],
];

function Column({ run }: { run: Run }) {
  const live = useLive((state) => state.lives[run.id] ?? NOTHING);
  return (
    <section className="column">
      <header className="bar">
        <span className={`state ${run.state}`}>{run.state}</span>
        <strong className="grow clip">{run.name}</strong>
        {!isOver(run) && (
          <Button label="Stop" icon="stop" kind="ghost" onClick={() => void stopRun(run.id)} />
        )}
      </header>
      <p className="sentence">{run.sentence}</p>
      {CHARTS.map(([name, title, show, colour]) => (
        <Chart
          key={name}
          title={title}
          times={live.series.times}
          lines={[{ label: title, values: live.series.values[name] ?? [], colour }]}
          show={show}
          height={110}
        />
      ))}
      <Results run={run} live={live} />
    </section>
  );
}
