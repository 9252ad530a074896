/** Small controls shared by all parts of the page. */

import { useId, useState, type ReactNode } from "react";
import { flushSync } from "react-dom";

import { Icon, type IconName } from "./Icon";

interface ButtonProps {
  label: string;
  icon?: IconName;
  onClick: () => void;
  kind?: "plain" | "primary" | "ghost" | "danger";
  iconOnly?: boolean;
  disabled?: boolean;
  pressed?: boolean;
  title?: string;
  keys?: string;
  /** It gets the focus when the dialog opens. */
  first?: boolean;
  testId?: string;
}

export function Button(props: ButtonProps) {
  const { label, icon, kind = "plain", iconOnly = false, keys, testId } = props;
  const hint = props.title ?? (iconOnly ? label : undefined);
  return (
    <button
      type="button"
      className={`button ${kind}${iconOnly ? " icon-only" : ""}`}
      onClick={props.onClick}
      disabled={props.disabled}
      aria-label={iconOnly ? label : undefined}
      aria-pressed={props.pressed}
      title={keys && hint ? `${hint} (${keys})` : hint}
      data-first={props.first || undefined}
      data-testid={testId}
    >
      {icon && <Icon name={icon} />}
      {!iconOnly && <span>{label}</span>}
    </button>
  );
}

/** The button that closes or removes something. */
export function CloseButton(props: Pick<ButtonProps, "label" | "onClick" | "keys" | "testId">) {
  return <Button {...props} icon="close" kind="ghost" iconOnly />;
}

/** Focus the first field of the last row. */
function focusLastRow(list: Element | null): void {
  const row = [...(list?.querySelectorAll(".row-field") ?? [])].at(-1);
  const field = row?.querySelector<HTMLElement>("input, .cm-content");
  field?.focus();
  if (field instanceof HTMLInputElement) field.select();
}

/** A button that adds a row to a list and focuses it, or does something else there. */
export function AddRow(props: {
  label: string;
  icon?: IconName;
  onClick: () => void;
  /** It adds no row to type in. */
  otherwise?: boolean;
  testId?: string;
}) {
  return (
    <button
      type="button"
      className="add-row"
      onClick={(event) => {
        const list = event.currentTarget.closest(".rows, .schema, section");
        flushSync(props.onClick);
        if (!props.otherwise) focusLastRow(list);
      }}
      data-testid={props.testId}
    >
      <Icon name={props.icon ?? "plus"} size={13} /> {props.label}
    </button>
  );
}

/** A button for a slow action: it is disabled and shows `busy` until that is done. */
export function BusyButton(props: ButtonProps & { busy: string | null }) {
  const { busy, label, disabled = false, ...rest } = props;
  return <Button {...rest} label={busy ?? label} disabled={disabled || busy !== null} />;
}

/** A field with its label, help and problems. */
export function Labelled(props: {
  label: string;
  help?: string;
  required?: boolean;
  problems?: readonly string[];
  children: (id: string) => ReactNode;
  testId?: string;
}) {
  const id = useId();
  const wrong = props.problems?.length ?? 0;
  return (
    <div className={`labelled${wrong ? " wrong" : ""}`} data-testid={props.testId}>
      <label htmlFor={id} title={props.help}>
        {props.label}
        {props.required && (
          <span className="required" title="required">
            *
          </span>
        )}
      </label>
      {props.children(id)}
      {props.help && !wrong && <p className="help">{props.help}</p>}
      <Wrongs messages={props.problems ?? []} />
    </div>
  );
}

export function Wrongs({ messages }: { messages: readonly string[] }) {
  return messages.map((message) => (
    <p key={message} className="trouble" role="alert" data-testid="field-problem">
      {message}
    </p>
  ));
}

interface TextProps {
  id?: string;
  value: string;
  onChange: (value: string) => void;
  /** Called when the user is done: on Enter, or when the focus leaves. */
  onDone?: (value: string) => void;
  placeholder?: string;
  label?: string;
  mono?: boolean;
  disabled?: boolean;
  list?: readonly string[];
  testId?: string;
  type?: "text" | "number" | "search";
  autoFocus?: boolean;
}

export function TextField(props: TextProps) {
  const list = useId();
  return (
    <>
      <input
        id={props.id}
        className={props.mono ? "text mono" : "text"}
        type={props.type ?? "text"}
        value={props.value}
        placeholder={props.placeholder}
        aria-label={props.label}
        disabled={props.disabled}
        spellCheck={false}
        autoComplete="off"
        autoFocus={props.autoFocus}
        data-first={props.autoFocus || undefined}
        list={props.list ? list : undefined}
        onChange={(event) => props.onChange(event.target.value)}
        onBlur={(event) => props.onDone?.(event.target.value)}
        onKeyDown={(event) => {
          if (event.key === "Enter") event.currentTarget.blur();
        }}
        data-testid={props.testId}
      />
      {props.list && (
        <datalist id={list}>
          {props.list.map((option) => (
            <option key={option} value={option} />
          ))}
        </datalist>
      )}
    </>
  );
}

/** A text field that applies its value when the user is done; an invalid value is reverted. */
export function Draft(
  props: Omit<TextProps, "onChange" | "onDone"> & {
    onDone: (value: string) => void;
    trouble?: (value: string) => string | null;
  },
) {
  const { value, onDone, trouble, ...rest } = props;
  const [draft, setDraft] = useState<string | null>(null);
  const wrong = draft === null ? null : (trouble?.(draft) ?? null);
  return (
    <>
      <TextField
        {...rest}
        value={draft ?? value}
        onChange={setDraft}
        onDone={(text) => {
          if (draft !== null && text !== value && !wrong) onDone(text);
          setDraft(null);
        }}
      />
      {wrong && <Wrongs messages={[wrong]} />}
    </>
  );
}

export function NumberField(props: {
  id?: string;
  value: number | null;
  onChange: (value: number | null) => void;
  placeholder?: string;
  label?: string;
  min?: number;
  testId?: string;
}) {
  const [draft, setDraft] = useState<string | null>(null);
  const shown = draft ?? (props.value === null ? "" : String(props.value));
  return (
    <input
      id={props.id}
      className="text number"
      inputMode="decimal"
      value={shown}
      placeholder={props.placeholder}
      aria-label={props.label}
      autoComplete="off"
      onChange={(event) => {
        const text = event.target.value.trim();
        setDraft(event.target.value);
        const number = Number(text);
        if (text === "") props.onChange(null);
        else if (Number.isFinite(number) && number >= (props.min ?? -Infinity))
          props.onChange(number);
      }}
      onBlur={() => setDraft(null)}
      data-testid={props.testId}
    />
  );
}

export function Select<T extends string>(props: {
  id?: string;
  value: T;
  options: readonly (T | { value: T; label: string })[];
  onChange: (value: T) => void;
  label?: string;
  testId?: string;
  disabled?: boolean;
}) {
  return (
    <select
      id={props.id}
      className="text"
      value={props.value}
      aria-label={props.label}
      disabled={props.disabled}
      onChange={(event) => props.onChange(event.target.value as T)}
      data-testid={props.testId}
    >
      {props.options.map((option) => {
        const { value, label } =
          typeof option === "string" ? { value: option, label: option } : option;
        return (
          <option key={value} value={value}>
            {label}
          </option>
        );
      })}
    </select>
  );
}

export function Toggle(props: {
  label: string;
  value: boolean;
  onChange: (value: boolean) => void;
  testId?: string;
}) {
  return (
    <label className="toggle">
      <input
        type="checkbox"
        role="switch"
        checked={props.value}
        onChange={(event) => props.onChange(event.target.checked)}
        data-testid={props.testId}
      />
      <span>{props.label}</span>
    </label>
  );
}

/** An empty state, and what to do about it. */
export function Empty({ title, children }: { title: string; children?: ReactNode }) {
  return (
    <div className="empty">
      <strong>{title}</strong>
      {children && <p>{children}</p>}
    </div>
  );
}
