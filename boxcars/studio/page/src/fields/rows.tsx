/** Fields with rows: lists of expressions, names with expressions, names. */

import type { Problem } from "../api/types";
import { freeName, type Plain } from "../model/network";
import { AddRow, CloseButton, Draft, Wrongs } from "../ui/controls";
import { Icon } from "../ui/Icon";
import { messagesAt, useReads } from "./context";
import { ExprField } from "./ExprField";
import { orNone, renameKey, withoutKey } from "./plain";

interface Rows<T> {
  box: string;
  paramKey: string;
  value: T;
  onChange: (value: Plain | undefined, typing?: boolean) => void;
  problems: readonly Problem[];
}

/** Expressions in order, such as the predicates of a filter. */
export function Exprs(props: Rows<string[]>) {
  const { paramKey } = props;
  const shown = props.value.length ? props.value : [""];
  const put = (next: string[], typing: boolean) =>
    props.onChange(next.length > 1 || next[0] ? next : undefined, typing);
  return (
    <div className="rows">
      {shown.map((text, i) => {
        const path = [paramKey, String(i)];
        const wrong = messagesAt(props.problems, path);
        return (
          <div key={i} className="row-field">
            <span className="row-mark">{i}</span>
            <div className="row-main">
              <ExprField
                value={text}
                onChange={(next) => put(shown.toSpliced(i, 1, next), true)}
                label={`${paramKey} ${i}`}
                box={props.box}
                path={path}
                wrong={wrong.length > 0}
                testId={`expr-${paramKey}-${i}`}
              />
              <Wrongs messages={wrong} />
            </div>
            {shown.length > 1 && (
              <CloseButton
                label={`Remove ${i}`}
                onClick={() => put(shown.toSpliced(i, 1), false)}
              />
            )}
          </div>
        );
      })}
      <AddRow
        label="Add a predicate"
        onClick={() => put([...shown, ""], false)}
        testId={`add-${paramKey}`}
      />
    </div>
  );
}

/** New fields, each with its expression. */
export function NamedExprs(props: Rows<Record<string, string>>) {
  const { value, onChange, paramKey } = props;
  const reads = useReads(props.box);
  const missing = (reads[0]?.fields ?? []).filter((field) => !(field.name in value));
  const add = () => onChange({ ...value, [freeName("field", { has: (n) => n in value })]: "" });
  const addAll = () =>
    onChange({ ...value, ...Object.fromEntries(missing.map(({ name }) => [name, name])) });
  return (
    <div className="rows">
      {Object.entries(value).map(([name, text], i) => {
        const path = [paramKey, name];
        const wrong = messagesAt(props.problems, path);
        return (
          <div key={i} className="row-field named">
            <div className="row-name">
              <Draft
                value={name}
                mono
                label={`name of field ${i + 1}`}
                trouble={(to) => (to !== name && to in value ? `'${to}' already exists.` : null)}
                onDone={(to) => onChange(to ? renameKey(value, name, to) : withoutKey(value, name))}
                testId={`name-${paramKey}-${i}`}
              />
            </div>
            <div className="row-main">
              <ExprField
                value={text}
                onChange={(next) => onChange({ ...value, [name]: next }, true)}
                label={name}
                box={props.box}
                path={path}
                wrong={wrong.length > 0}
                testId={`expr-${paramKey}-${i}`}
              />
              <Wrongs messages={wrong} />
            </div>
            <CloseButton
              label={`Remove ${name}`}
              onClick={() => onChange(orNone(withoutKey(value, name)))}
            />
          </div>
        );
      })}
      <div className="add-rows">
        <AddRow label="Add a field" onClick={add} testId={`add-${paramKey}`} />
        {missing.length > 0 && (
          <AddRow
            label={`Copy ${missing.length} from the input`}
            onClick={addAll}
            otherwise
            testId="copy-fields"
          />
        )}
      </div>
    </div>
  );
}

/** Old names and new ones. */
export function Renames(props: {
  value: Record<string, string>;
  onChange: (value: Plain | undefined, typing?: boolean) => void;
  names: readonly string[];
}) {
  const { value, onChange, names } = props;
  const free =
    names.find((name) => !(name in value)) ?? freeName("field", { has: (n) => n in value });
  return (
    <div className="rows">
      {Object.entries(value).map(([from, to], i) => (
        <div key={i} className="row-field named">
          <div className="row-name">
            <Draft
              value={from}
              mono
              list={names}
              label="old name"
              onDone={(next) =>
                onChange(next ? renameKey(value, from, next) : withoutKey(value, from))
              }
            />
          </div>
          <div className="row-main">
            <Draft
              value={to}
              mono
              label="new name"
              onDone={(next) => onChange({ ...value, [from]: next })}
            />
          </div>
          <CloseButton
            label={`Remove ${from}`}
            onClick={() => onChange(orNone(withoutKey(value, from)))}
          />
        </div>
      ))}
      <AddRow label="Rename a field" onClick={() => onChange({ ...value, [free]: free })} />
    </div>
  );
}

/** Names as chips, with the remaining choices. */
export function Names(props: {
  value: readonly string[];
  onChange: (value: Plain | undefined) => void;
  options: readonly string[];
  id: string;
}) {
  const { value, onChange } = props;
  const put = (next: string[]) => onChange(next.length ? next : undefined);
  const left = props.options.filter((name) => !value.includes(name));
  return (
    <div className="names" data-testid="names">
      <div className="chips">
        {value.map((name) => (
          <button
            key={name}
            type="button"
            className="chip on"
            title={`Remove ${name}`}
            onClick={() => put(value.filter((n) => n !== name))}
          >
            {name} <Icon name="close" size={11} />
          </button>
        ))}
        {left.map((name) => (
          <button
            key={name}
            type="button"
            className="chip"
            onClick={() => put([...value, name])}
            data-testid={`chip-${name}`}
          >
            {name}
          </button>
        ))}
      </div>
      {!props.options.length && (
        <Draft
          id={props.id}
          value=""
          mono
          placeholder="type a name, press Enter"
          onDone={(name) => put([...value, name])}
        />
      )}
    </div>
  );
}
