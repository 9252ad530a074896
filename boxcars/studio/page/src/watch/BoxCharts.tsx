/** The charts of the selected box, and of each of its instances. */

import type { Event, Run } from "../api/types";
import { flatName } from "../model/network";
import type { Live } from "../state/live";
import { isOver, networkOf, useRuns } from "../state/runs";
import { boxesOf, type Series } from "../state/series";
import { CloseButton } from "../ui/controls";
import { bytes, percent, rate, seconds, short } from "../ui/format";
import { Chart, type Line } from "./Chart";
import { outputsDownstream } from "./marks";

type Show = (value: number | null | undefined) => string;

const cost: Show = (value) => (value === null || value === undefined ? "–" : `${short(value)} µs`);

const METRICS: [string, string, Show, string][] = [
  ["in_rate", "In", rate, "--input"],
  ["out_rate", "Out", rate, "--output"],
  ["cost", "Cost per tuple", cost, "--stateful"],
  ["latency", "Latency: time of a tuple in the box", seconds, "--output"],
  ["queue", "Queue", short, "--bad"],
  ["cpu", "CPU", percent, "--superbox"],
  ["state_rows", "State (rows)", short, "--stateless"],
  ["state_bytes", "State (bytes)", bytes, "--stateless"],
];

/** The charts that show events: those of rates and latency. */
const WITH_EVENTS: readonly string[] = ["in_rate", "out_rate", "latency"];

const COLOURS = ["--input", "--output", "--stateful", "--superbox", "--bad", "--stateless"];

function linesOf(
  series: Series,
  flat: string,
  metric: string,
  colour: string,
  pieces: number,
): Line[] {
  const whole = { label: "all", values: series.values[`box/${flat}/${metric}`] ?? [], colour };
  if (pieces < 2) return [whole];
  const each = Array.from({ length: Math.min(pieces, 16) }, (_, i): Line => ({
    label: String(i),
    values: series.values[`instance/${flat}/${i}/${metric}`] ?? [],
    colour: COLOURS[i % COLOURS.length] ?? "--soft",
    thin: true,
  }));
  return [whole, ...each];
}

export function BoxCharts({ run, live }: { run: Run; live: Live }) {
  const box = useRuns((state) => state.box);
  const scope = useRuns((state) => state.scope);
  const span = useRuns((state) => state.span);
  if (box === null) return null;
  const seen = { times: live.series.times, span, over: isOver(run) };
  return (
    <aside className="side floating charts" aria-label="Charts" data-testid="charts">
      <header className="side-head">
        <div className="grow">
          <h2>{box.replace(/^-> /, "")}</h2>
          <p className="help">Thick lines: all instances. Thin lines: each instance.</p>
        </div>
        <CloseButton label="Close" onClick={() => useRuns.setState({ box: null })} />
      </header>
      <div className="side-body padded" tabIndex={0}>
        {box.startsWith("-> ") ? (
          <OneOutput name={box.slice(3)} live={live} seen={seen} />
        ) : (
          <OneBox flat={flatName(scope, box)} run={run} live={live} seen={seen} />
        )}
      </div>
    </aside>
  );
}

interface Seen {
  times: number[];
  span: number;
  over: boolean;
}

/** The events of a box or output, and of the whole run. */
const eventsOf = (live: Live, name: string): Event[] =>
  live.events.filter(({ box }) => box === name || box === "");

function OneOutput({ name, live, seen }: { name: string; live: Live; seen: Seen }) {
  const values = (metric: string) => live.series.values[`output/${name}/${metric}`] ?? [];
  const events = eventsOf(live, name);
  return (
    <>
      <Chart
        {...seen}
        title="Tuples"
        lines={[{ label: "rate", values: values("rate"), colour: "--output" }]}
        show={rate}
        height={120}
        events={events}
      />
      <Chart
        {...seen}
        title="Latency: p95, p50, p99"
        lines={[
          { label: "p95", values: values("p95"), colour: "--stateful" },
          { label: "p50", values: values("p50"), colour: "--input", thin: true },
          { label: "p99", values: values("p99"), colour: "--bad", thin: true },
        ]}
        show={seconds}
        height={120}
        events={events}
      />
    </>
  );
}

function OneBox({ flat, run, live, seen }: { flat: string; run: Run; live: Live; seen: Seen }) {
  const known = boxesOf(live.stats);
  const stats = known[flat];
  if (!stats)
    return (
      <p className="help">
        {Object.keys(known).length
          ? "A superbox: double-click it to see its boxes."
          : "No statistics yet."}
      </p>
    );
  const pieces = stats.pieces.length;
  const events = eventsOf(live, flat);
  const results = outputsDownstream(networkOf(run), flat);
  return (
    <>
      <dl className="facts">
        <div>
          <dt>instances</dt>
          <dd>{pieces}</dd>
        </div>
        <div>
          <dt>in</dt>
          <dd>{short(stats.tuples_in)}</dd>
        </div>
        <div>
          <dt>out</dt>
          <dd>{short(stats.tuples_out)}</dd>
        </div>
        <div>
          <dt>late</dt>
          <dd>{short(stats.late)}</dd>
        </div>
      </dl>
      {stats.fused_into && (
        <p className="help">
          Fused with <code>{stats.fused_into}</code>, which accounts for its time.
        </p>
      )}
      {METRICS.map(([metric, title, show, colour]) => (
        <Chart
          key={metric}
          {...seen}
          title={title}
          lines={linesOf(live.series, flat, metric, colour, pieces)}
          show={show}
          events={WITH_EVENTS.includes(metric) ? events : []}
          testId={`chart-${metric}`}
        />
      ))}
      <Chart
        {...seen}
        title={`p95 latency of ${results.join(", ")}`}
        lines={results.map((name, i) => ({
          label: name,
          values: live.series.values[`output/${name}/p95`] ?? [],
          colour: COLOURS[i % COLOURS.length] ?? "--soft",
        }))}
        show={seconds}
        testId="chart-results"
      />
      <Chart
        {...seen}
        title="Instances"
        lines={[
          {
            label: "instances",
            values: live.series.values[`box/${flat}/instances`] ?? [],
            colour: "--stateless",
          },
        ]}
        show={short}
        testId="chart-instances"
      />
    </>
  );
}
