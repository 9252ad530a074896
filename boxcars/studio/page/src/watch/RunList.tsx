/** All runs, the newest first. */

import { useShallow } from "zustand/react/shallow";

import type { Run } from "../api/types";
import { askFirst } from "../state/asking";
import { chooseRun, forgetRun, isOver, toggleBeside, useRuns } from "../state/runs";
import { openDialog } from "../state/studio";
import { Button, CloseButton } from "../ui/controls";
import { day } from "../ui/format";

export function RunList() {
  const [runs, chosen, beside] = useRuns(useShallow((s) => [s.runs, s.chosen, s.beside]));
  return (
    <section className="runs">
      <header className="side-head">
        <h2 className="grow">Runs</h2>
        <Button
          label="Start a run"
          icon="plus"
          kind="ghost"
          iconOnly
          onClick={() => openDialog("start")}
        />
      </header>
      <ul>
        {runs.map((run) => (
          <RunRow
            key={run.id}
            run={run}
            on={run.id === chosen}
            beside={beside.includes(run.id)}
            several={runs.length > 1}
          />
        ))}
      </ul>
    </section>
  );
}

/** What is deleted with a run. */
const deleting = (run: Run) => ({
  title: `Delete the run ${run.name} (${day(run.started)})?`,
  words: [
    `Its charts, its log and the results stored only here are permanently deleted${
      run.state === "finished"
        ? "."
        : `, and so is its state as of epoch ${run.epoch}: it can't be resumed.`
    }`,
    "Data that it has written to files and other systems stays there.",
  ],
  yes: "Delete",
});

function RunRow(props: { run: Run; on: boolean; beside: boolean; several: boolean }) {
  const { run } = props;
  return (
    <li className={props.on ? "run on" : "run"}>
      <button type="button" onClick={() => chooseRun(run.id)} data-testid={`run-${run.id}`}>
        <span className={`dot ${run.state}`} aria-hidden="true" />
        <span className="grow clip">
          <strong>{run.name}</strong>
          <span className="soft clip">
            {run.state}, {day(run.started)}
          </span>
        </span>
      </button>
      {props.several && (
        <label title="Compare with other runs">
          <input
            type="checkbox"
            checked={props.beside}
            aria-label={`compare ${run.name}`}
            onChange={() => toggleBeside(run.id)}
            data-testid={`beside-${run.id}`}
          />
        </label>
      )}
      {isOver(run) && (
        <CloseButton
          label={`Delete ${run.name}`}
          onClick={() => void askFirst(deleting(run), () => forgetRun(run.id))}
          testId={`delete-${run.id}`}
        />
      )}
    </li>
  );
}
