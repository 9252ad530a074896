/** The unit tests of the network: input tuples and expected output. */

import { create } from "zustand";

import { api, ApiError } from "../api/client";
import type { Case, CaseResult, KeptCases } from "../api/types";
import { plural } from "../ui/format";
import { ask } from "./asking";
import { useDoc } from "./doc";
import { complain, say } from "./studio";

interface TestsState {
  cases: Case[];
  /** The version of their file, as reported by the studio. */
  version: string | null;
  results: Record<string, CaseResult>;
  chosen: string | null;
  running: boolean;
}

const NONE: TestsState = { cases: [], version: null, results: {}, chosen: null, running: false };

export const useTests = create<TestsState>(() => NONE);
const { getState: get, setState: set } = useTests;

let timer = 0;

useDoc.subscribe((state, before) => {
  if (state.file === before.file && state.opened === before.opened) return;
  window.clearTimeout(timer);
  timer = 0;
  if (state.opened === before.opened && get().cases.length) {
    set({ version: null });
    void keep(); // the same network under another name
    return;
  }
  set(NONE);
  if (state.file !== null) api.tests(state.file).then((answer) => take(answer), complain);
});

const take = ({ tests, version }: KeptCases): void => set({ ...NONE, cases: tests, version });

let last: Promise<void> = Promise.resolve();

/** Write the tests to the file next to the network, after any write in progress. */
function keep(): Promise<void> {
  timer = 0;
  last = last.then(write);
  return last;
}

async function write(): Promise<void> {
  const { file } = useDoc.getState();
  if (file === null) return;
  try {
    set({ version: (await api.saveTests(file, get().cases, get().version)).version });
  } catch (error) {
    if (error instanceof ApiError && error.status === 409) await resolve(file);
    else complain(error);
  }
}

/** The tests were changed elsewhere and here: ask the user which to keep. */
async function resolve(file: string): Promise<void> {
  const there = await api.tests(file);
  const choice = await ask({
    title: `The tests of ${file} were changed elsewhere`,
    words: [
      `The file now has ${plural(there.tests.length, "test")}, this page has ${get().cases.length}. Tests that only one side has are lost unless you keep both.`,
    ],
    choices: [
      { key: "theirs", label: "Use the file" },
      { key: "mine", label: "Replace the file", kind: "danger" },
      { key: "both", label: "Keep both", kind: "primary" },
    ],
    stay: "Decide later",
  });
  if (choice === "theirs") take(there);
  if (choice !== "mine" && choice !== "both") return;
  set({ version: there.version });
  if (choice === "both") set({ cases: joined(there.tests, get().cases) });
  await write();
}

/** The union of two lists of tests; a different test with the same name is renamed. */
function joined(one: readonly Case[], other: readonly Case[]): Case[] {
  const all = [...one];
  for (const test of other) {
    const known = all.find((t) => t.name === test.name);
    if (!known) all.push(test);
    else if (JSON.stringify(known) !== JSON.stringify(test))
      all.push({ ...test, name: freeTestName(all, test.name) });
  }
  return all;
}

function freeTestName(tests: readonly Case[], wanted: string): string {
  let name = wanted;
  for (let n = 2; tests.some((t) => t.name === name); n += 1) name = `${wanted} ${n}`;
  return name;
}

/** Flush pending changes before another drawing is shown. */
export async function keepTests(): Promise<void> {
  window.clearTimeout(timer);
  if (timer) await keep();
}

/** Whether some tests are not in a file yet: the drawing has none, or a write is pending. */
export const hasUnsavedTests = (): boolean =>
  timer !== 0 || (useDoc.getState().file === null && get().cases.length > 0);

export function putCases(cases: Case[]): void {
  set({ cases });
  window.clearTimeout(timer);
  timer = window.setTimeout(() => void keep(), 800);
}

export function addCase(test: Case): void {
  const name = freeTestName(get().cases, test.name);
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
