/** The counts and the state of the selected box: windows, buffered tuples. */

import { flatName } from "../model/network";
import { useDoc } from "../state/doc";
import { useFlow } from "../state/flow";
import { usePreview } from "../state/preview";
import { Badge } from "../ui/Badge";
import { plural } from "../ui/format";
import { Table } from "../ui/Table";

export function BoxState() {
  const id = useDoc((state) => state.selection[0]);
  const scope = useDoc((state) => state.scope);
  const node = useFlow((state) => state.nodes.find((n) => n.id === id));
  const preview = usePreview((state) => state.preview);
  const box = id === undefined ? undefined : preview?.boxes[flatName(scope, id)];
  const tables = Object.entries(preview?.tables ?? {});
  if (!node) return null;
  return (
    <aside className="side floating looking" aria-label="State of the box" data-testid="looking">
      <header className={`side-head ${node.data.tone}`}>
        <Badge icon={node.data.icon} />
        <div className="grow">
          <h2>{node.data.name}</h2>
          <p className="help">{node.data.summary}</p>
        </div>
      </header>
      <div className="side-body padded">
        {!box && <p className="help">No state, or the preview has not started.</p>}
        {box && (
          <>
            <dl className="facts">
              <Fact word="in" number={box.stats.tuples_in} />
              <Fact word="out" number={box.stats.tuples_out} />
              {box.stats.late > 0 && <Fact word="late" number={box.stats.late} />}
              {box.stats.dead > 0 && <Fact word="dead" number={box.stats.dead} />}
            </dl>
            {box.state.map((table) => (
              <section key={table.name} data-testid={`state-${table.name}`}>
                <h3>
                  {table.name} <span className="soft end">{plural(table.total, "row")}</span>
                </h3>
                <div className="state-table">
                  <Table
                    rows={table.rows}
                    columns={table.columns}
                    label={table.name}
                    empty="empty"
                  />
                </div>
              </section>
            ))}
            {!box.state.length && <p className="help">It keeps no state between tuples.</p>}
          </>
        )}
        {tables.map(([name, rows]) => (
          <section key={name}>
            <h3>
              table <code>{name}</code>
            </h3>
            <div className="state-table">
              <Table rows={rows} label={name} empty="empty" />
            </div>
          </section>
        ))}
      </div>
    </aside>
  );
}

function Fact({ word, number }: { word: string; number: number }) {
  return (
    <div>
      <dt>{word}</dt>
      <dd>{number.toLocaleString("en-GB")}</dd>
    </div>
  );
}
