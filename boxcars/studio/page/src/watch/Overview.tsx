/** Overview of a run: charts, and results below. */

import type { Run } from "../api/types";
import type { Live } from "../state/live";
import { isOver, useRuns } from "../state/runs";
import { bytes, rate, seconds, short } from "../ui/format";
import { Chart } from "./Chart";
import { Results } from "./Results";

type Show = (value: number | null | undefined) => string;

/** The charts that show events: those of rates and latency. */
export const WITH_EVENTS: readonly string[] = ["run/in_rate", "run/out_rate", "run/p95"];

export const CHARTS: [string, string, Show, string, string][] = [
  ["run/in_rate", "Tuples in", rate, "--input", "chart-in"],
  ["run/out_rate", "Tuples out", rate, "--output", "chart-out"],
  ["run/p95", "Latency (p95)", seconds, "--stateful", "chart-latency"],
  ["run/cpu", "CPU (cores)", short, "--superbox", "chart-cpu"],
  ["run/memory", "Memory", bytes, "--stateless", "chart-memory"],
];

export function Overview({ run, live }: { run: Run; live: Live }) {
  const span = useRuns((state) => state.span);
  return (
    <div className="overview">
      <div className="chart-row">
        {CHARTS.map(([name, title, show, colour, testId]) => (
          <Chart
            key={name}
            title={title}
            times={live.series.times}
            span={span}
            over={isOver(run)}
            lines={[{ label: title, values: live.series.values[name] ?? [], colour }]}
            show={show}
            events={WITH_EVENTS.includes(name) ? live.events : []}
            testId={testId}
          />
        ))}
      </div>
      <Results run={run} live={live} />
    </div>
  );
}
