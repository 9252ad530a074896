/** Unit tests: input tuples, and the expected output. */

import type { Case } from "../api/types";
import { columnsOf } from "../ui/Table";
import { useDoc } from "../state/doc";
import { addCase, putCases, runTests, useTests } from "../state/tests";
import { Button, Draft, Empty } from "../ui/controls";
import { showValue } from "../ui/format";
import { Icon } from "../ui/Icon";

type Tuples = NonNullable<Case["given"]>[string];

/** Tuples as CSV, for editing as text. */
function asCsv(tuples: Tuples | undefined): string {
  if (tuples === undefined) return "";
  if (typeof tuples === "string") return tuples;
  const columns = columnsOf(tuples);
  const cell = (value: unknown): string => {
    if (value === null || value === undefined) return "";
    const text = showValue(value);
    return /[",\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
  };
  return [
    columns.join(","),
    ...tuples.map((row) => columns.map((c) => cell(row[c])).join(",")),
  ].join("\n");
}

export function Tests() {
  const { cases, results, chosen, running } = useTests();
  const network = useDoc((state) => state.doc.network);
  const file = useDoc((state) => state.file);
  const test = cases.find((c) => c.name === chosen) ?? cases[0];
  const fresh = (): Case => ({
    name: "test",
    given: Object.fromEntries(Object.keys(network.inputs ?? {}).map((name) => [name, ""])),
    expect: Object.fromEntries(Object.keys(network.outputs ?? {}).map((name) => [name, ""])),
  });
  return (
    <div className="tests" data-testid="tests">
      <div className="tests-list">
        <div className="bar">
          <Button
            label={running ? "Running ..." : "Run all"}
            icon="play"
            disabled={running || !cases.length}
            onClick={() => void runTests()}
            testId="run-tests"
          />
          <Button
            label="Add"
            icon="plus"
            kind="ghost"
            onClick={() => addCase(fresh())}
            testId="add-test"
          />
        </div>
        <ul>
          {cases.map((c) => {
            const result = results[c.name];
            return (
              <li key={c.name}>
                <button
                  type="button"
                  className={c === test ? "on" : ""}
                  onClick={() => useTests.setState({ chosen: c.name })}
                  data-testid={`test-${c.name}`}
                >
                  <span className={result ? (result.passed ? "good" : "bad") : "soft"}>
                    <Icon name={result ? (result.passed ? "check" : "close") : "dot"} size={13} />
                  </span>
                  {c.name}
                </button>
              </li>
            );
          })}
        </ul>
        {file === null && cases.length > 0 && (
          <p className="help">Tests are stored next to the network file once it is saved.</p>
        )}
      </div>
      {test ? (
        <OneTest key={test.name} test={test} difference={results[test.name]?.difference} />
      ) : (
        <Empty title="No tests yet.">
          Add one here, or step through a preview and save its results as a test.
        </Empty>
      )}
    </div>
  );
}

function OneTest({ test, difference }: { test: Case; difference: string | undefined }) {
  const put = (next: Case) => {
    putCases(useTests.getState().cases.map((c) => (c.name === test.name ? next : c)));
    useTests.setState({ chosen: next.name });
  };
  const area = (part: "given" | "expect", name: string, tuples: Tuples) => (
    <label key={name} className="tuples-text">
      <span>
        {part} <code>{name}</code>
      </span>
      <textarea
        className="text mono"
        rows={5}
        defaultValue={asCsv(tuples)}
        placeholder="CSV: a header line with the fields, then one line per tuple"
        spellCheck={false}
        onBlur={(event) => {
          const text = event.target.value;
          if (text !== asCsv(tuples)) put({ ...test, [part]: { ...test[part], [name]: text } });
        }}
        data-testid={`${part}-${name}`}
      />
    </label>
  );
  return (
    <div className="one-test">
      <div className="bar">
        <Draft
          value={test.name}
          label="test name"
          onDone={(name) => put({ ...test, name })}
          testId="name-of-test"
        />
        <Button
          label="Delete the test"
          icon="trash"
          kind="ghost"
          iconOnly
          onClick={() => putCases(useTests.getState().cases.filter((c) => c.name !== test.name))}
        />
      </div>
      {difference && (
        <pre className="difference" role="alert" data-testid="difference">
          {difference}
        </pre>
      )}
      <div className="given-expect">
        {Object.entries(test.given ?? {}).map(([name, tuples]) => area("given", name, tuples))}
        {Object.entries(test.expect ?? {}).map(([name, tuples]) => area("expect", name, tuples))}
      </div>
    </div>
  );
}
