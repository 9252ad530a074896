/** The status of a run, and actions: stop it, modify it, open Spark's UI. */

import { useState } from "react";

import { api } from "../api/client";
import type { Run } from "../api/types";
import { askFirst } from "../state/asking";
import { useDoc } from "../state/doc";
import { resume, type Live } from "../state/live";
import { isOver, leaveScope, noteRun, stopRun, useRuns } from "../state/runs";
import { openDialog, say } from "../state/studio";
import { BusyButton, Button } from "../ui/controls";
import { bytes, rate, seconds, short } from "../ui/format";
import { Icon } from "../ui/Icon";

export function RunBar({ run, live }: { run: Run; live: Live }) {
  const { series, stats, heard } = live;
  const over = isOver(run);
  const last = (name: string) => (over ? undefined : series.values[name]?.at(-1));
  const scope = useRuns((state) => state.scope);
  return (
    <div className="run-bar">
      <div className="bar">
        <span
          className={`state ${run.state}`}
          role="status"
          data-testid="run-state"
          data-state={run.state}
        >
          {run.state}
        </span>
        <nav className="crumbs" aria-label="Breadcrumb">
          <button type="button" onClick={() => leaveScope(0)}>
            {run.name}
          </button>
          {scope.map((step, i) => (
            <button key={i} type="button" onClick={() => leaveScope(i + 1)}>
              {step.use}
            </button>
          ))}
        </nav>
        <dl className="numbers">
          <Number_ word="in" value={rate(last("run/in_rate"))} testId="in-rate" />
          <Number_ word="out" value={rate(last("run/out_rate"))} testId="out-rate" />
          <Number_ word="latency" value={seconds(last("run/p95"))} />
          <Number_ word="CPU" value={stats && !over ? `${short(stats.cpu)} cores` : "–"} />
          <Number_ word="memory" value={bytes(over ? null : stats?.memory)} />
          <Number_ word="epoch" value={String(run.epoch)} />
        </dl>
        <span className="grow" />
        {run.spark_ui && (
          <a
            className="button ghost"
            href={run.spark_ui}
            target="_blank"
            rel="noreferrer"
            data-testid="spark-ui"
          >
            <Icon name="link" /> <span>Spark</span>
          </a>
        )}
        {!over && <Modify run={run} />}
        {over && run.state !== "finished" && <Resume run={run} />}
        {!over && (
          <Button
            label="Stop"
            icon="stop"
            kind="danger"
            onClick={() => void stopRun(run.id)}
            testId="stop"
          />
        )}
      </div>
      <p
        className={run.state === "failed" ? "trouble banner" : "sentence"}
        role={run.state === "failed" ? "alert" : undefined}
        data-testid="run-sentence"
      >
        {run.sentence}
        {run.state === "failed" && (
          <span className="ways-out">
            <Button
              label="Show the log"
              icon="list"
              onClick={() => useRuns.setState({ tab: "log" })}
              testId="see-log"
            />
            <Button
              label="Start another run"
              icon="play"
              onClick={() => openDialog("start")}
              testId="start-another"
            />
          </span>
        )}
        {!over && !heard && stats && " The connection to the run is lost; reconnecting."}
      </p>
    </div>
  );
}

function Number_({ word, value, testId }: { word: string; value: string; testId?: string }) {
  return (
    <div>
      <dt>{word}</dt>
      <dd data-testid={testId}>{value}</dd>
    </div>
  );
}

/** Resume a stopped or failed run from its last epoch. */
function Resume({ run }: { run: Run }) {
  const [busy, setBusy] = useState(false);
  return (
    <BusyButton
      label="Resume"
      busy={busy ? "Starting ..." : null}
      icon="play"
      title="Resume from the last epoch; nothing is lost or duplicated"
      onClick={() => {
        setBusy(true);
        void resume(run.id).finally(() => setBusy(false));
      }}
      testId="go-on"
    />
  );
}

/** What is discarded when a run starts over. */
const startingOver = (run: Run) => ({
  title: `Start ${run.name} over?`,
  words: [
    `All its state is discarded: the windows and tuples in its boxes as of epoch ${run.epoch}, the results shown here, and tuples that were sent but not read yet.`,
    "Data that it has written to files and other systems stays there, and may be written again.",
  ],
  yes: "Discard and start over",
});

/** Apply the current drawing to the run, if it differs and the run was started from it. */
function Modify({ run }: { run: Run }) {
  const network = useDoc((state) => state.doc.network);
  const own = useDoc((state) => state.origins.includes(run.document));
  const [busy, setBusy] = useState(false);
  const same = JSON.stringify(network) === JSON.stringify(run.network);
  if (same || !own || network.name !== run.name) return null;
  const go = async (fresh: boolean) => {
    setBusy(true);
    try {
      const plain = network as unknown as Record<string, unknown>;
      noteRun(await api.modify(run.id, { network: plain, fresh }));
      say("The run continues with the network as drawn.", "good");
    } catch (error) {
      const text = error instanceof Error ? error.message : String(error);
      const startOver = () => void askFirst(startingOver(run), () => go(true));
      say(text, "bad", fresh ? undefined : { label: "Start over ...", run: startOver });
    } finally {
      setBusy(false);
    }
  };
  return (
    <BusyButton
      label="Apply the drawing"
      busy={busy ? "Applying ..." : null}
      icon="refresh"
      title="Finish the current epoch, then continue with the network as drawn"
      onClick={() => void go(false)}
      testId="modify"
    />
  );
}
