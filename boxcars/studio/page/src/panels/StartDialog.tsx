/** Start the network on Spark. */

import { useCheck } from "../state/check";
import { useDoc } from "../state/doc";
import { madeUp, setLaunch, startRun, useLaunch } from "../state/launch";
import { usePalette } from "../state/palette";
import { openDialog, setMode } from "../state/studio";
import { Button, Labelled, NumberField, Select, Toggle } from "../ui/controls";
import { Dialog } from "../ui/Dialog";
import { plural } from "../ui/format";
import { Addresses } from "./Addresses";

export function StartDialog() {
  const network = useDoc((state) => state.doc.network);
  const problems = useCheck((state) => state.answer?.problems.length ?? 0);
  const launch = useLaunch();
  const masters = usePalette((state) => state.about?.masters ?? []);
  const inputs = Object.keys(network.inputs ?? {});
  const injected = inputs.some((name) => !launch.sources[name]);
  const source = madeUp(network);
  return (
    <Dialog
      title={`Run ${network.name} on Spark`}
      onClose={() => openDialog(null)}
      testId="start-dialog"
      actions={
        <>
          <Button
            label="See the plan"
            icon="layers"
            kind="ghost"
            onClick={() => {
              openDialog(null);
              setMode("plan");
            }}
          />
          <Button
            label={launch.starting ? "Starting ..." : "Start"}
            icon="play"
            kind="primary"
            disabled={launch.starting || problems > 0 || !inputs.length}
            onClick={() => void startRun()}
            testId="start"
          />
        </>
      }
    >
      {problems > 0 && (
        <p className="trouble banner" role="alert">
          {plural(problems, "problem")} must be mended first.
        </p>
      )}
      {injected && (
        <div className="feed">
          <Toggle
            label={
              source.template
                ? `Feed it at once, with the data of the ${source.template} application`
                : "Feed it at once, with made-up tuples"
            }
            value={launch.feed !== null}
            onChange={(on) => setLaunch({ feed: on ? 500 : null })}
            testId="feed"
          />
          {launch.feed !== null && (
            <label className="inline">
              <NumberField
                value={launch.feed}
                min={0.1}
                onChange={(feed) => setLaunch({ feed: feed ?? 1 })}
                testId="feed-rate"
              />
              <span>tuples a second; it can be changed while it runs</span>
            </label>
          )}
        </div>
      )}
      <Addresses />
      <details>
        <summary>How it runs</summary>
        <div className="pair">
          <Labelled label="where">
            {(id) => (
              <Select
                id={id}
                value={launch.master ?? masters[0] ?? ""}
                options={masters}
                onChange={(master) => setLaunch({ master })}
              />
            )}
          </Labelled>
          <Labelled label="instances" help="Of each subquery.">
            {(id) => (
              <NumberField
                id={id}
                value={launch.instances}
                min={1}
                onChange={(instances) => setLaunch({ instances })}
                placeholder="as many as there are cores"
                testId="start-instances"
              />
            )}
          </Labelled>
        </div>
        <div className="pair">
          <Labelled label="buckets" help="Shares of the keys of a box.">
            {(id) => (
              <NumberField
                id={id}
                value={launch.buckets}
                min={1}
                onChange={(buckets) => setLaunch({ buckets: buckets ?? 64 })}
              />
            )}
          </Labelled>
          <Labelled label="rows in an epoch" help="Fewer is quicker, more is faster.">
            {(id) => (
              <NumberField
                id={id}
                value={launch.epochRows}
                min={1}
                onChange={(rows) => setLaunch({ epochRows: rows ?? 100_000 })}
              />
            )}
          </Labelled>
        </div>
      </details>
    </Dialog>
  );
}
