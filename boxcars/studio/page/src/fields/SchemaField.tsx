/** The fields of an input, a table or a record: names with types, as rows or as text. */

import { useState } from "react";

import { freeName } from "../model/network";
import { AddRow, Button, CloseButton, Draft, Select } from "../ui/controls";
import { renameKey, withoutKey } from "./plain";

const TYPES = ["str", "int", "float", "bool", "timestamp", "bytes"];

/** Parse "caller: str, time: int", or one field per line; a name without a type is a str. */
export function parseSchema(text: string): Record<string, string> {
  const parts = text.split(/[,;\n]+/).map((part) => part.trim());
  return Object.fromEntries(
    parts
      .filter((part) => part !== "")
      .map((part) => {
        const [name = "", type = "str"] = part.split(/\s*[:\s]\s*/);
        return [name.replace(/^["']|["']$/g, ""), type];
      }),
  );
}

const schemaText = (fields: Record<string, string>) =>
  Object.entries(fields)
    .map(([name, type]) => `${name}: ${type}`)
    .join("\n");

export function SchemaField(props: {
  fields: Record<string, string>;
  onChange: (fields: Record<string, string>) => void;
  /** Marked rows, such as the order attribute or the key; toggled by a click. */
  marked?: readonly string[];
  onMark?: (name: string) => void;
  mark?: string;
}) {
  const { fields, onChange } = props;
  const [text, setText] = useState<string | null>(null);
  if (text !== null)
    return (
      <div className="schema">
        <textarea
          className="text mono"
          rows={Math.max(4, Object.keys(fields).length + 1)}
          value={text}
          aria-label="Fields as text"
          placeholder={"caller: str\ntime: int"}
          autoFocus
          onChange={(event) => setText(event.target.value)}
          data-testid="schema-text"
        />
        <div className="add-rows">
          <Button
            label="Done"
            icon="check"
            onClick={() => {
              onChange(parseSchema(text));
              setText(null);
            }}
            testId="schema-done"
          />
          <Button label="Cancel" kind="ghost" onClick={() => setText(null)} />
        </div>
      </div>
    );
  return (
    <div className="schema" data-testid="schema">
      {Object.entries(fields).map(([name, type], i) => (
        <div key={i} className="row-field">
          {props.onMark && (
            <button
              type="button"
              className={`mark${props.marked?.includes(name) ? " on" : ""}`}
              aria-pressed={props.marked?.includes(name)}
              title={props.mark}
              aria-label={`${name}: ${props.mark ?? ""}`}
              onClick={() => props.onMark?.(name)}
              data-testid={`mark-${name}`}
            >
              {props.marked?.includes(name) ? "★" : "☆"}
            </button>
          )}
          <div className="row-main">
            <Draft
              value={name}
              mono
              label={`field ${i + 1}`}
              trouble={(to) => (to !== name && to in fields ? `'${to}' already exists.` : null)}
              onDone={(to) => onChange(to ? renameKey(fields, name, to) : withoutKey(fields, name))}
              testId={`schema-name-${i}`}
            />
          </div>
          <div className="row-type">
            <Select
              value={type}
              options={TYPES.includes(type) ? TYPES : [...TYPES, type]}
              label={`type of ${name}`}
              onChange={(to) => onChange({ ...fields, [name]: to })}
              testId={`schema-type-${i}`}
            />
          </div>
          <CloseButton
            label={`Remove ${name}`}
            onClick={() => onChange(withoutKey(fields, name))}
          />
        </div>
      ))}
      <div className="add-rows">
        <AddRow
          label="Add a field"
          onClick={() =>
            onChange({ ...fields, [freeName("field", { has: (n) => n in fields })]: "str" })
          }
          testId="schema-add"
        />
        <AddRow
          label="As text"
          icon="edit"
          otherwise
          onClick={() => setText(schemaText(fields))}
          testId="schema-as-text"
        />
      </div>
    </div>
  );
}
