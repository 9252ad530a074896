/** Start the network on Spark. */

import { useCheck } from "../state/check";
import { useDoc } from "../state/doc";
import { generatedSource, setLaunch, startRun, useLaunch } from "../state/launch";
import { openDialog, setMode } from "../state/studio";
import { BusyButton, Button, NumberField, Toggle } from "../ui/controls";
import { Dialog } from "../ui/Dialog";
import { plural } from "../ui/format";
import { Addresses } from "./Addresses";
import { ExecutionOptions } from "./ExecutionOptions";

export function StartDialog() {
  const network = useDoc((state) => state.doc.network);
  const problems = useCheck((state) => state.answer?.problems.length ?? 0);
  const launch = useLaunch();
  const inputs = Object.keys(network.inputs ?? {});
  const injected = inputs.some((name) => !launch.sources[name]);
  const source = generatedSource(network);
  return (
    <Dialog
      title={`Run ${network.name} on Spark`}
      onClose={() => openDialog(null)}
      testId="start-dialog"
      actions={
        <>
          <Button
            label="Show the plan"
            icon="layers"
            kind="ghost"
            onClick={() => {
              openDialog(null);
              setMode("plan");
            }}
          />
          <BusyButton
            label="Start"
            busy={launch.starting ? "Starting ..." : null}
            icon="play"
            kind="primary"
            disabled={problems > 0 || !inputs.length}
            onClick={() => void startRun()}
            testId="start"
          />
        </>
      }
    >
      {problems > 0 && (
        <p className="trouble banner" role="alert">
          Fix {plural(problems, "problem")} first.
        </p>
      )}
      {injected && (
        <div className="feed">
          <Toggle
            label={
              source.template
                ? `Feed it with data of the ${source.template} application`
                : "Feed it with generated tuples"
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
              <span>tuples per second; can be changed during the run</span>
            </label>
          )}
        </div>
      )}
      <Addresses />
      <details>
        <summary>Execution options</summary>
        <ExecutionOptions testId="start" />
      </details>
    </Dialog>
  );
}
