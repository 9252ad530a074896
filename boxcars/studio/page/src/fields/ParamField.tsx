/** One parameter of a box, in a field for its kind. */

import type { ParamInfo, Problem } from "../api/types";
import type { Plain } from "../model/network";
import { Labelled, NumberField, Select, TextField, Toggle } from "../ui/controls";
import { messagesAt, useFieldNames } from "./context";
import { ExprField } from "./ExprField";
import { JsonField } from "./JsonField";
import { asList, asMap, asText, isMap } from "./plain";
import { Exprs, NamedExprs, Names, Renames } from "./rows";
import { SchemaField } from "./SchemaField";
import { WindowField } from "./WindowField";

export interface ParamProps {
  box: string;
  param: ParamInfo;
  value: Plain | undefined;
  onChange: (value: Plain | undefined, typing?: boolean) => void;
  problems: readonly Problem[];
  tables: readonly string[];
}

/** Kinds whose problems are shown at their parts, not below the whole field. */
const IN_PARTS = new Set(["exprs", "named_exprs"]);

export function ParamField(props: ParamProps) {
  const { param, problems } = props;
  const messages = messagesAt(problems, [param.key]);
  const parts = IN_PARTS.has(param.kind);
  const whole = parts
    ? problems.filter((p) => p.path.at(-1) === param.key).map((p) => p.message)
    : messages;
  if (param.kind === "bool")
    return (
      <div className="labelled" data-testid={`param-${param.key}`} title={param.doc}>
        <Toggle
          label={param.doc.replace(/\.$/, "")}
          value={(props.value ?? param.default) === true}
          onChange={(value) =>
            props.onChange(value === (param.default === true) ? undefined : value)
          }
          testId={`toggle-${param.key}`}
        />
      </div>
    );
  return (
    <Labelled
      label={param.key}
      help={param.doc}
      required={param.required}
      problems={whole}
      testId={`param-${param.key}`}
    >
      {(id) => <Control {...props} id={id} wrong={messages.length > 0} />}
    </Labelled>
  );
}

function Control(props: ParamProps & { id: string; wrong: boolean }) {
  const { param, value, onChange, id } = props;
  const names = useFieldNames(props.box);
  const text = asText(value);
  const say = (next: string) => onChange(next === "" ? undefined : next, true);
  const placeholder = param.default === null ? "" : asText(param.default as Plain);
  switch (param.kind) {
    case "expr":
    case "sql":
      return (
        <ExprField
          value={text}
          onChange={say}
          label={param.key}
          box={props.box}
          path={[param.key]}
          multiline={param.kind === "sql"}
          wrong={props.wrong}
          testId={`expr-${param.key}`}
        />
      );
    case "exprs":
      return <Exprs {...props} value={asList(value)} paramKey={param.key} />;
    case "named_exprs":
      return <NamedExprs {...props} value={asMap(value)} paramKey={param.key} />;
    case "renames":
      return <Renames value={asMap(value)} onChange={onChange} names={names} />;
    case "fields":
      return <Names value={asList(value)} onChange={onChange} options={names} id={id} />;
    case "names":
      return <Names value={asList(value)} onChange={onChange} options={[]} id={id} />;
    case "field":
      return (
        <TextField
          id={id}
          value={text}
          onChange={say}
          list={names}
          placeholder={placeholder}
          mono
          testId={`field-${param.key}`}
        />
      );
    case "int":
    case "float":
      return (
        <NumberField
          id={id}
          value={typeof value === "number" ? value : null}
          onChange={(number) => onChange(number ?? undefined, true)}
          placeholder={placeholder}
          testId={`number-${param.key}`}
        />
      );
    case "choice":
    case "table": {
      const options = param.kind === "table" ? props.tables : (param.choices ?? []);
      return (
        <Select
          id={id}
          value={text}
          options={[{ value: "", label: param.required ? "choose ..." : "–" }, ...options]}
          onChange={say}
          testId={`choice-${param.key}`}
        />
      );
    }
    case "window":
      return <WindowField {...props} value={isMap(value) ? value : undefined} />;
    case "schema":
      return (
        <SchemaField
          fields={asMap(value)}
          onChange={(fields) => onChange(Object.keys(fields).length ? fields : undefined)}
        />
      );
    case "other":
      return (
        <JsonField
          id={id}
          value={value}
          onChange={(next) => onChange(next)}
          example={'{"delimiter": ";"}'}
        />
      );
    default:
      return (
        <TextField
          id={id}
          value={text}
          onChange={say}
          placeholder={placeholder}
          mono
          testId={`text-${param.key}`}
        />
      );
  }
}
