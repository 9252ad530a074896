/** The results of an output as a live table. */

import type { OutputRows, Run } from "../api/types";
import type { Live } from "../state/live";
import { networkOf, useRuns } from "../state/runs";
import { plural, showValue } from "../ui/format";
import { useSampled } from "../ui/sampled";
import { Table } from "../ui/Table";

export function Results({ run, live }: { run: Run; live: Live }) {
  const outputs = Object.keys(networkOf(run).outputs ?? {});
  const wanted = useRuns((state) => state.output);
  const shown = wanted !== null && outputs.includes(wanted) ? wanted : outputs[0];
  const rows = shown === undefined ? undefined : live.outputs[shown];
  const tapped = shown !== undefined && run.taps.includes(shown);
  return (
    <div className="results">
      <div className="bar">
        {outputs.map((name) => (
          <button
            key={name}
            type="button"
            className={name === shown ? "chip on" : "chip"}
            aria-pressed={name === shown}
            onClick={() => useRuns.setState({ output: name })}
            data-testid={`result-${name}`}
          >
            {name}
          </button>
        ))}
        <span className="soft" data-testid="result-total" data-total={rows?.total ?? 0}>
          {rows ? `${plural(rows.total, "tuple")}, newest first` : ""}
        </span>
      </div>
      {shown !== undefined && <Spoken key={shown} name={shown} rows={rows} />}
      <Table
        rows={(rows?.rows ?? []).toReversed()}
        label={`Results of ${shown ?? ""}`}
        testId="results-table"
        empty={
          tapped || !shown
            ? "No results yet."
            : "This output is written elsewhere and not shown here."
        }
      />
    </div>
  );
}

/** Milliseconds between announcements to screen readers. */
const PAUSE = 5000;

/** Announces new results to screen readers. */
function Spoken({ name, rows }: { name: string; rows: OutputRows | undefined }) {
  const newest = Object.entries(rows?.rows.at(-1) ?? {});
  const fields = newest.map(([field, value]) => `${field} ${showValue(value)}`).join(", ");
  const words = rows?.total
    ? `${plural(rows.total, "tuple")} of ${name}, the newest: ${fields}`
    : "";
  return (
    <span className="unseen" role="status" data-testid="results-spoken">
      {useSampled(words, PAUSE)}
    </span>
  );
}
