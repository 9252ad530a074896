/** The check while drawing: debounced after each change. */

import { create } from "zustand";

import { api } from "../api/client";
import type { CheckAnswer, Problem } from "../api/types";
import { pathOf, type Network, type Scope } from "../model/network";
import { useDoc } from "./doc";
import { complain, useStudio } from "./studio";

interface CheckState {
  answer: CheckAnswer | null;
  /** The network that the answer is about. */
  of: Network | null;
}

export const useCheck = create<CheckState>(() => ({ answer: null, of: null }));

/** Milliseconds without a change before the check. */
const PAUSE = 180;
let timer = 0;
let asking: AbortController | null = null;

async function ask(network: Network): Promise<void> {
  asking?.abort();
  const mine = new AbortController();
  asking = mine;
  try {
    const answer = await api.check(network, mine.signal);
    useCheck.setState({ answer, of: network });
  } catch (error) {
    if (!mine.signal.aborted) complain(error);
  }
}

/** Check now, if the network has changed. */
export function checkNow(): void {
  window.clearTimeout(timer);
  const { network } = useDoc.getState().doc;
  if (useCheck.getState().of !== network) void ask(network);
}

useDoc.subscribe((state, before) => {
  if (state.doc.network === before.doc.network) return;
  window.clearTimeout(timer);
  timer = window.setTimeout(checkNow, PAUSE);
});

useStudio.subscribe((state, before) => {
  if (before.lost && !state.lost) checkNow();
});

/** The path of a problem relative to the body of a scope; null if it is outside. */
export function pathInScope(problem: Problem, network: Network, scope: Scope): string[] | null {
  const here = pathOf(network, scope);
  const last = scope.at(-1);
  const prefixes = last ? [here, ["superboxes", last.superbox]] : [[]];
  for (const prefix of prefixes)
    if (prefix.every((key, i) => problem.path[i] === key)) {
      const rest = problem.path.slice(prefix.length);
      return rest[0] === "superboxes" && !last && rest.length > 1 ? null : rest;
    }
  return null;
}

/** The problems of each item on the canvas by its id, and those of superboxes by name. */
export function problemsById(
  problems: readonly Problem[],
  network: Network,
  scope: Scope,
): Map<string, Problem[]> {
  const found = new Map<string, Problem[]>();
  for (const problem of problems) {
    const path = pathInScope(problem, network, scope);
    if (!path) continue;
    const [section, name] = path;
    if (name === undefined) continue;
    const id = section === "outputs" ? `-> ${name}` : section === "tables" ? `# ${name}` : name;
    found.set(id, [...(found.get(id) ?? []), problem]);
  }
  return found;
}

/** The problems at a field of a box, or below it. */
export function problemsAt(
  problems: readonly Problem[] | undefined,
  network: Network,
  scope: Scope,
  path: readonly string[],
): Problem[] {
  return (problems ?? []).filter((problem) => {
    const rest = pathInScope(problem, network, scope)?.slice(2);
    return rest !== undefined && path.every((key, i) => rest[i] === key);
  });
}
