/** The stored tables of a network. */

import { useProblems } from "../fields/context";
import { asMap } from "../fields/plain";
import { SchemaField } from "../fields/SchemaField";
import { freeName, nameTrouble, type Body, type TableBlock } from "../model/network";
import { changeBody, openBody, useDoc } from "../state/doc";
import { Button, Draft, Empty, Wrongs } from "../ui/controls";

function putTables(edit: (tables: Record<string, TableBlock>) => Record<string, TableBlock>) {
  changeBody((body) => {
    const tables = edit(body.tables ?? {});
    const { tables: _, ...rest } = body;
    const next: Body = Object.keys(tables).length ? { ...rest, tables } : rest;
    return next;
  });
}

export function Tables() {
  const tables = useDoc((state) => openBody(state).tables);
  const names = Object.keys(tables ?? {});
  const add = () =>
    putTables((old) => ({
      ...old,
      [freeName("table", { has: (n) => n in old })]: { fields: { id: "str" }, key: ["id"] },
    }));
  return (
    <div className="tables">
      {!names.length && (
        <Empty title="No stored tables.">
          Boxes such as read and insert query and update tables with SQL.
        </Empty>
      )}
      {Object.entries(tables ?? {}).map(([name, table]) => (
        <TableCard key={name} name={name} table={table} taken={names} />
      ))}
      <Button label="Add a table" icon="plus" onClick={add} testId="add-table" />
    </div>
  );
}

function TableCard(props: { name: string; table: TableBlock; taken: string[] }) {
  const { name, table, taken } = props;
  const problems = useProblems(`# ${name}`);
  const put = (next: TableBlock) => putTables((old) => ({ ...old, [name]: next }));
  const key = table.key ?? [];
  return (
    <section className="table-card" data-testid={`table-${name}`}>
      <header>
        <Draft
          value={name}
          mono
          label="table name"
          trouble={(to) =>
            to !== name && taken.includes(to) ? `'${to}' already exists.` : nameTrouble(to)
          }
          onDone={(to) =>
            putTables((old) =>
              Object.fromEntries(Object.entries(old).map(([n, t]) => [n === name ? to : n, t])),
            )
          }
        />
        <Button
          label={`Delete ${name}`}
          icon="trash"
          kind="ghost"
          iconOnly
          onClick={() =>
            putTables((old) => Object.fromEntries(Object.entries(old).filter(([n]) => n !== name)))
          }
        />
      </header>
      <Wrongs messages={problems.map((problem) => problem.message)} />
      <SchemaField
        fields={asMap(table.fields)}
        onChange={(fields) => {
          const kept = key.filter((field) => field in fields);
          put(kept.length ? { fields, key: kept } : { fields });
        }}
        marked={key}
        mark="part of the key, which is unique"
        onMark={(field) => {
          const next = key.includes(field) ? key.filter((f) => f !== field) : [...key, field];
          const { key: _, ...rest } = table;
          put(next.length ? { ...rest, key: next } : rest);
        }}
      />
    </section>
  );
}
