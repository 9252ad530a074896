/** One subquery: its boxes, its inputs and how they are split, and its number of instances. */

import type { PlanAnswer } from "../api/types";
import { setLaunch, useLaunch } from "../state/launch";
import { Labelled, NumberField, Select } from "../ui/controls";
import { regroup } from "./regroup";

export function SubqueryPanel({ plan, chosen }: { plan: PlanAnswer; chosen: string | null }) {
  const launch = useLaunch();
  const subquery = plan.subqueries.find((s) => s.name === chosen);
  if (!subquery) return null;
  const names = plan.subqueries.map((s) => s.name);
  const all = Object.fromEntries(
    plan.subqueries.filter((s) => s.source === null).map((s) => [s.name, s.instances]),
  );
  return (
    <aside className="side floating" aria-label="Subquery" data-testid="subquery-panel">
      <header className="side-head">
        <div className="grow">
          <h2>{subquery.name}</h2>
          <p className="help">
            {subquery.source === null
              ? `Level ${subquery.level}, split ${subquery.kind === "key" ? "by key" : `as ${subquery.kind}`}.`
              : `Level ${subquery.level}: reads the input ${subquery.source}.`}
          </p>
        </div>
      </header>
      <div className="side-body padded">
        {subquery.source === null && (
          <Labelled label="instances" help="Spark tasks that share its buckets.">
            {(id) => (
              <NumberField
                id={id}
                value={subquery.instances}
                min={1}
                onChange={(n) => {
                  if (n !== null)
                    setLaunch({
                      perSubquery: { ...all, ...launch.perSubquery, [subquery.name]: n },
                    });
                }}
                testId="subquery-instances"
              />
            )}
          </Labelled>
        )}
        <section>
          <h3>Boxes</h3>
          {subquery.boxes.map((box) => (
            <label key={box} className="inline">
              <code className="grow">{box}</code>
              <Select
                value={subquery.name}
                options={names}
                label={`subquery of ${box}`}
                onChange={(to) => regroup(plan, box, to)}
                testId={`home-${box}`}
              />
            </label>
          ))}
        </section>
        {subquery.inputs.length > 0 && (
          <section>
            <h3>Inputs</h3>
            {subquery.inputs.map((feed) => (
              <p key={`${feed.arc} ${feed.port}`} className="arc-line">
                <code>{feed.arc}</code> <span className="soft">{feed.routing}</span>
              </p>
            ))}
          </section>
        )}
        {subquery.splittable && (
          <p className="help">It can be pre-aggregated before the shuffle.</p>
        )}
      </div>
    </aside>
  );
}
