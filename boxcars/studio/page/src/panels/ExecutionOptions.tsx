/** Execution options: Spark master, instances, buckets, epoch size. */

import { setLaunch, useLaunch } from "../state/launch";
import { usePalette } from "../state/palette";
import { Labelled, NumberField, TextField } from "../ui/controls";

export function ExecutionOptions({ testId }: { testId: string }) {
  const { master, instances, buckets, epochRows } = useLaunch();
  const masters = usePalette((state) => state.about?.masters ?? []);
  return (
    <div className="how-it-runs">
      <Labelled label="Spark master" help="This machine, or a cluster such as spark://host:7077.">
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
        <Labelled label="instances" help="Per subquery.">
          {(id) => (
            <NumberField
              id={id}
              value={instances}
              min={1}
              onChange={(number) => setLaunch({ instances: number, perSubquery: {} })}
              placeholder="all cores"
              testId={`${testId}-instances`}
            />
          )}
        </Labelled>
        <Labelled label="buckets" help="Key groups of a box.">
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
      <Labelled label="rows per epoch" help="Fewer: lower latency. More: higher throughput.">
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
