/** The whole run at a glance: its charts, and below them its results. */

import type { Run } from "../api/types";
import type { Live } from "../state/live";
import { isOver, useRuns } from "../state/runs";
import { bytes, rate, seconds, short } from "../ui/format";
import { Chart } from "./Chart";
import { Results } from "./Results";

type Show = (value: number | null | undefined) => string;

export const CHARTS: [string, string, Show, string, string][] = [
  ["run/in_rate", "Tuples in", rate, "--input", "chart-in"],
  ["run/out_rate", "Tuples out", rate, "--output", "chart-out"],
  ["run/p95", "Latency (95 of 100)", seconds, "--stateful", "chart-latency"],
  ["run/cpu", "CPU, in cores", short, "--superbox", "chart-cpu"],
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
            testId={testId}
          />
        ))}
      </div>
      <Results run={run} live={live} />
    </div>
  );
}
