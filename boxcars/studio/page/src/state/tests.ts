/** The unit tests of the network: what goes in, and what must come out. */

import { create } from "zustand";

import { api } from "../api/client";
import type { Case, CaseResult } from "../api/types";
import { useDoc } from "./doc";
import { complain, say } from "./studio";

interface TestsState {
  cases: Case[];
  results: Record<string, CaseResult>;
  chosen: string | null;
  running: boolean;
}

const NONE: TestsState = { cases: [], results: {}, chosen: null, running: false };

export const useTests = create<TestsState>(() => NONE);
const { getState: get, setState: set } = useTests;

let timer = 0;

useDoc.subscribe((state, before) => {
  if (state.file === before.file && state.opened === before.opened) return;
  window.clearTimeout(timer);
  timer = 0;
  if (state.opened === before.opened && get().cases.length) {
    void keep(); // the same network under another name
    return;
  }
  set(NONE);
  if (state.file !== null)
    api.tests(state.file).then((answer) => set({ ...NONE, cases: answer.tests }), complain);
});

/** Write the tests to the file beside the network, if it has one. */
async function keep(): Promise<void> {
  timer = 0;
  const { file } = useDoc.getState();
  if (file === null) return;
  try {
    await api.saveTests(file, get().cases);
  } catch (error) {
    complain(error);
  }
}

/** Write what was changed a moment ago, before another drawing is shown. */
export async function keepTests(): Promise<void> {
  window.clearTimeout(timer);
  if (timer) await keep();
}

/** Whether there are tests that are in no file yet: the drawing has none, or it is a moment ago. */
export const hasUnsavedTests = (): boolean =>
  timer !== 0 || (useDoc.getState().file === null && get().cases.length > 0);

export function putCases(cases: Case[]): void {
  set({ cases });
  window.clearTimeout(timer);
  timer = window.setTimeout(() => void keep(), 800);
}

export function addCase(test: Case): void {
  const names = get().cases.map((c) => c.name);
  let name = test.name;
  for (let n = 2; names.includes(name); n += 1) name = `${test.name} ${n}`;
  putCases([...get().cases, { ...test, name }]);
  set({ chosen: name });
}

export async function runTests(): Promise<void> {
  const { cases } = get();
  if (!cases.length) return;
  set({ running: true });
  try {
    const answer = await api.runTests(useDoc.getState().doc.network, cases);
    set({ results: Object.fromEntries(answer.map((result) => [result.name, result])) });
    const failed = answer.filter((result) => !result.passed).length;
    if (!failed) say(`All ${answer.length} tests passed.`, "good");
  } catch (error) {
    complain(error);
  } finally {
    set({ running: false });
  }
}
