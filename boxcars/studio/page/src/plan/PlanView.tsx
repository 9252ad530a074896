/** The plan: subqueries with their boxes, level by level, and the deployment options. */

import { useEffect, useState } from "react";

import { api } from "../api/client";
import type { PlanAnswer } from "../api/types";
import type { Network } from "../model/network";
import { useCheck } from "../state/check";
import { useDoc } from "../state/doc";
import { askPlan, setLaunch, startRun, useLaunch } from "../state/launch";
import { clearOverlay } from "../state/overlay";
import { setSubquery, useStudio } from "../state/studio";
import { Addresses } from "../panels/Addresses";
import { ExecutionOptions } from "../panels/ExecutionOptions";
import { Button, Empty, Labelled, Select } from "../ui/controls";
import { PlanCanvas } from "./PlanCanvas";
import { PlanFiles } from "./PlanFiles";
import { SubqueryPanel } from "./SubqueryPanel";

export interface Shown {
  network: Network;
  plan: PlanAnswer;
}

const STRATEGIES = [
  { value: "operator-set-cloud", label: "one subquery for each stateful box" },
  { value: "operator-cloud", label: "one subquery for each box" },
  { value: "query-cloud", label: "the whole query on each machine" },
] as const;

/** The plan of the drawing, recomputed on every change. */
function usePlan(): { shown: Shown | null; trouble: string | null } {
  const network = useDoc((state) => state.doc.network);
  const { strategy, instances, perSubquery, buckets, groups } = useLaunch();
  const [shown, setShown] = useState<Shown | null>(null);
  const [trouble, setTrouble] = useState<string | null>(null);
  useEffect(() => {
    const asking = new AbortController();
    api.plan(askPlan(), asking.signal).then(
      (plan) => {
        setShown({ network, plan });
        setTrouble(null);
      },
      (error: unknown) => {
        if (!asking.signal.aborted) setTrouble(error instanceof Error ? error.message : "");
      },
    );
    return () => asking.abort();
  }, [network, strategy, instances, perSubquery, buckets, groups]);
  return { shown, trouble };
}

export function PlanView() {
  const { shown, trouble } = usePlan();
  const chosen = useStudio((state) => state.subquery);
  useEffect(clearOverlay, []);
  return (
    <main className="view plan" data-testid="plan">
      <Options shown={shown} trouble={trouble} />
      <div className="centre">
        {trouble && (
          <p className="trouble banner" role="alert" data-testid="plan-trouble">
            {trouble}
          </p>
        )}
        <div className="canvas">
          {shown ? (
            <PlanCanvas shown={shown} onChoose={setSubquery} />
          ) : (
            !trouble && <Empty title="Planning ..." />
          )}
          {shown && <SubqueryPanel plan={shown.plan} chosen={chosen} />}
        </div>
        {shown && <PlanFiles shown={shown} />}
      </div>
    </main>
  );
}

function Options({ shown, trouble }: { shown: Shown | null; trouble: string | null }) {
  const launch = useLaunch();
  const wrong = useCheck((state) => (state.answer?.problems.length ?? 0) > 0);
  const regrouped = Object.keys(launch.groups).length > 0;
  return (
    <aside className="side" aria-label="Deployment">
      <header className="side-head">
        <h2 className="grow">Deploy</h2>
        <Button
          label={launch.starting ? "Starting ..." : "Start"}
          icon="play"
          kind="primary"
          disabled={wrong || trouble !== null || launch.starting}
          onClick={() => void startRun()}
          testId="plan-start"
        />
      </header>
      <div className="side-body padded">
        <Labelled
          label="strategy"
          help="A frame is a subquery: boxes that run together. Drag a box into another frame to run it there."
        >
          {(id) => (
            <Select
              id={id}
              value={launch.strategy}
              options={STRATEGIES}
              onChange={(strategy) => setLaunch({ strategy, groups: {}, perSubquery: {} })}
              testId="strategy"
            />
          )}
        </Labelled>
        {shown && <Costs shown={shown} />}
        <ExecutionOptions testId="plan" />
        {regrouped && (
          <Button
            label="Reset grouping"
            icon="undo"
            onClick={() => setLaunch({ groups: {} })}
            testId="ungroup-plan"
          />
        )}
        <h3>Sources and sinks</h3>
        <Addresses />
        <h3>Machines</h3>
        <Labelled label="pool" help="Machines for the deploy file: host or host:port.">
          {(id) => (
            <textarea
              id={id}
              className="text mono"
              rows={2}
              value={launch.pool}
              placeholder="host1 host2:7077"
              onChange={(event) => setLaunch({ pool: event.target.value })}
              data-testid="pool"
            />
          )}
        </Labelled>
      </div>
    </aside>
  );
}

/** The costs of the strategies, as bars. */
function Costs({ shown }: { shown: Shown }) {
  const { costs, strategy } = shown.plan;
  const most = Math.max(...costs.map((cost) => cost.cost), 1);
  return (
    <div className="costs" title="Hops and channels between machines, by StreamCloud's cost model">
      {costs.map((cost) => (
        <div key={cost.strategy} className={cost.strategy === strategy ? "on" : ""}>
          <span className="clip">{cost.strategy}</span>
          <span className="costs-bar">
            <i style={{ width: `${(cost.cost / most) * 100}%` }} />
          </span>
          <span className="number">{cost.cost.toFixed(1)}</span>
        </div>
      ))}
    </div>
  );
}
