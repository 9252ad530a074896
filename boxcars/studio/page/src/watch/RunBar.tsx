/** How a run stands, in numbers and a sentence; stop it, change it, look at Spark's own pages. */

import { useState } from "react";

import { api } from "../api/client";
import type { Run } from "../api/types";
import { askFirst } from "../state/asking";
import { useDoc } from "../state/doc";
import { goOn, type Live } from "../state/live";
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
        <nav className="crumbs" aria-label="Where you are">
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
        {over && run.state !== "finished" && <GoOn run={run} />}
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
              label="See the log"
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
        {!over &&
          !heard &&
          stats &&
          " The page does not hear the run at the moment; it tries again."}
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

/** Let a run that was stopped, or has failed, go on from its last epoch. */
function GoOn({ run }: { run: Run }) {
  const [busy, setBusy] = useState(false);
  return (
    <BusyButton
      label="Go on"
      busy={busy ? "Starting ..." : null}
      icon="play"
      title="Start it again from where it stopped; nothing is lost or doubled"
      onClick={() => {
        setBusy(true);
        void goOn(run.id).finally(() => setBusy(false));
      }}
      testId="go-on"
    />
  );
}

/** What is thrown away when a run begins anew. */
const anew = (run: Run) => ({
  title: `Let ${run.name} begin anew?`,
  words: [
    `All that it holds is thrown away: the windows and tuples in its boxes after epoch ${run.epoch}, the results that are shown here, and tuples that it was sent and has not read yet.`,
    "What it has written to files and other systems stays there, and may be written a second time.",
  ],
  yes: "Throw it away and begin anew",
});

/** Go on with the network as it is drawn now, if it differs and the run was started from it. */
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
      say("The run goes on with the network as it is drawn.", "good");
    } catch (error) {
      const text = error instanceof Error ? error.message : String(error);
      const beginAnew = () => void askFirst(anew(run), () => go(true));
      say(text, "bad", fresh ? undefined : { label: "Begin anew ...", run: beginAnew });
    } finally {
      setBusy(false);
    }
  };
  return (
    <BusyButton
      label="Apply the drawing"
      busy={busy ? "Changing ..." : null}
      icon="refresh"
      title="Stop behind an epoch, and go on with the network as it is drawn now"
      onClick={() => void go(false)}
      testId="modify"
    />
  );
}
