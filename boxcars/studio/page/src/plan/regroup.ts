/** Override the planner's grouping of boxes into subqueries. */

import type { PlanAnswer } from "../api/types";
import { setLaunch } from "../state/launch";

/**
 * Move a box into another subquery; all others stay where they are. Boxes that directly follow an
 * input need no group: the planner keeps them with it.
 */
export function regroup(plan: PlanAnswer, box: string, to: string): void {
  const groups = plan.subqueries
    .filter(({ name, source }) => source === null || name === to)
    .map(({ name, boxes }): [string, string[]] => {
      const others = boxes.filter((b) => b !== box);
      return [name, name === to ? [...others, box] : others];
    })
    .filter(([, boxes]) => boxes.length > 0);
  setLaunch({ groups: Object.fromEntries(groups), perSubquery: {} });
}
