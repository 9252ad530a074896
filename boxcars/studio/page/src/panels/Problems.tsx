/** All problems; a click goes to the box. */

import type { Problem } from "../api/types";
import { bodyAt, type Scope } from "../model/network";
import { useCheck } from "../state/check";
import { leaveTo, useDoc } from "../state/doc";
import { goTo } from "../state/flow";
import { openInside } from "../state/actions";
import { openDock } from "../state/studio";
import { Empty } from "../ui/controls";

/** Go to the box with the problem, inside its superbox if it is in one. */
async function visit(problem: Problem): Promise<void> {
  const [section, first, second, third] = problem.path;
  if (section === "tables") {
    openDock("tables");
    return;
  }
  leaveTo(0);
  let [kind, name] = [section, first];
  if (section === "superboxes" && first !== undefined) {
    const { network } = useDoc.getState().doc;
    const scope: Scope = [];
    const uses = Object.entries(bodyAt(network, scope)?.boxes ?? {});
    const use = uses.find(([, box]) => box.type === first)?.[0];
    if (use === undefined) return;
    await openInside(use);
    [kind, name] = [second, third];
  }
  if (name !== undefined) goTo(kind === "outputs" ? `-> ${name}` : name);
}

export function Problems() {
  const problems = useCheck((state) => state.answer?.problems ?? []);
  if (!problems.length)
    return <Empty title="No problems.">The network can be previewed and run.</Empty>;
  return (
    <ul className="problems" data-testid="problems">
      {problems.map((problem, i) => (
        <li key={i}>
          <button type="button" onClick={() => void visit(problem)} data-testid="problem">
            <span className="where">
              {problem.superbox && `${problem.superbox} / `}
              {problem.entity} {problem.name}
              {problem.path.length > 2 && !problem.superbox && (
                <code>{problem.path.slice(2).join(".")}</code>
              )}
            </span>
            <span>{problem.message}</span>
          </button>
        </li>
      ))}
    </ul>
  );
}
