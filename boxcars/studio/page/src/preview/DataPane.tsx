/** The data of a preview: generated, pasted, or from a file. */

import { useShallow } from "zustand/react/shallow";

import { useDoc } from "../state/doc";
import { putData, putTable, sample, usePreview } from "../state/preview";
import { Button, Empty, NumberField } from "../ui/controls";
import { plural } from "../ui/format";

export function DataPane() {
  const network = useDoc((state) => state.doc.network);
  const [data, tables, rows, busy] = usePreview(
    useShallow((s) => [s.data, s.tables, s.rows, s.busy]),
  );
  const inputs = Object.entries(network.inputs ?? {});
  return (
    <aside className="side data" aria-label="Sample data">
      <header className="side-head">
        <h2 className="grow">Sample data</h2>
      </header>
      <div className="side-body padded">
        {!inputs.length && <Empty title="The network has no input yet." />}
        {inputs.length > 0 && (
          <div className="pair make-up">
            <Button
              label="Generate tuples"
              icon="bolt"
              disabled={busy}
              onClick={() => void sample()}
              testId="make-up"
            />
            <NumberField
              value={rows}
              min={1}
              onChange={(next) =>
                usePreview.setState({ rows: Math.min(20_000, Math.floor(next ?? 100)) })
              }
              label="number of tuples"
              testId="make-up-rows"
            />
          </div>
        )}
        {inputs.map(([name, input]) => (
          <DataText
            key={name}
            name={name}
            text={data[name] ?? ""}
            fields={Object.keys(input.fields ?? {})}
            onChange={(text) => putData(name, text)}
          />
        ))}
        {Object.entries(network.tables ?? {}).map(([name, table]) => (
          <DataText
            key={`# ${name}`}
            name={name}
            kind="table"
            text={tables[name] ?? ""}
            fields={Object.keys(table.fields ?? {})}
            onChange={(text) => putTable(name, text)}
          />
        ))}
      </div>
    </aside>
  );
}

function DataText(props: {
  name: string;
  kind?: string;
  text: string;
  fields: readonly string[];
  onChange: (text: string) => void;
}) {
  const lines = props.text.split("\n").filter((line) => line.trim()).length;
  const tuples = props.text.trimStart().startsWith("{") ? lines : Math.max(0, lines - 1);
  return (
    <section className="data-text">
      <h3>
        {props.kind ?? "input"} <code>{props.name}</code>
        <span className="soft end">{plural(tuples, "tuple")}</span>
      </h3>
      <textarea
        className="text mono"
        rows={9}
        wrap="off"
        spellCheck={false}
        value={props.text}
        aria-label={`tuples of ${props.name}`}
        placeholder={`${props.fields.join(",")}\n...\n\nPaste CSV or JSON lines, or generate tuples.`}
        onChange={(event) => props.onChange(event.target.value)}
        data-testid={`data-${props.name}`}
      />
      <label className="add-row">
        <input
          type="file"
          accept=".csv,.jsonl,.json,.txt"
          onChange={(event) => {
            const file = event.target.files?.[0];
            event.target.value = "";
            if (file) void file.text().then(props.onChange);
          }}
        />
        From a file ...
      </label>
    </section>
  );
}
