/** How a network is run: on which Spark, in how many instances, in what portions. */

import { setLaunch, useLaunch } from "../state/launch";
import { usePalette } from "../state/palette";
import { Labelled, NumberField, TextField } from "../ui/controls";

export function HowItRuns({ testId }: { testId: string }) {
  const { master, instances, buckets, epochRows } = useLaunch();
  const masters = usePalette((state) => state.about?.masters ?? []);
  return (
    <div className="how-it-runs">
      <Labelled label="where" help="This machine, or a cluster such as spark://host:7077.">
        {(id) => (
          <TextField
            id={id}
            value={master ?? ""}
            onChange={(text) => setLaunch({ master: text.trim() || null })}
            list={masters}
            placeholder={masters[0] ?? ""}
            mono
            testId={`${testId}-master`}
          />
        )}
      </Labelled>
      <div className="pair">
        <Labelled label="instances" help="Of each subquery.">
          {(id) => (
            <NumberField
              id={id}
              value={instances}
              min={1}
              onChange={(number) => setLaunch({ instances: number, perSubquery: {} })}
              placeholder="by cores"
              testId={`${testId}-instances`}
            />
          )}
        </Labelled>
        <Labelled label="buckets" help="Shares of the keys of a box.">
          {(id) => (
            <NumberField
              id={id}
              value={buckets}
              min={1}
              onChange={(number) => setLaunch({ buckets: number ?? 64 })}
            />
          )}
        </Labelled>
      </div>
      <Labelled label="rows in an epoch" help="Fewer is quicker, more is faster.">
        {(id) => (
          <NumberField
            id={id}
            value={epochRows}
            min={1}
            onChange={(rows) => setLaunch({ epochRows: rows ?? 100_000 })}
          />
        )}
      </Labelled>
    </div>
  );
}
