/** A choice of one option, all visible: tabs if each shows a panel, else a radio group. */

import type { KeyboardEvent, ReactNode } from "react";

import { Icon, type IconName } from "./Icon";

interface OneOfProps<T extends string> {
  label: string;
  /** The active option; null if all are collapsed. */
  value: T | null;
  options: readonly { value: T; label: ReactNode; icon?: IconName }[];
  onChange: (value: T) => void;
  /** The id of the tab panel. */
  panel?: string;
  look?: "plain" | "boxed";
  /** The prefix of the options' test ids. */
  testId?: string;
}

const STEPS: Record<string, number> = {
  ArrowLeft: -1,
  ArrowUp: -1,
  ArrowRight: 1,
  ArrowDown: 1,
};

/** The Tab key goes to the active option, the arrow keys to the others. */
export function OneOf<T extends string>(props: OneOfProps<T>) {
  const { options, value, panel, look = "boxed", testId } = props;
  const tabs = panel !== undefined;
  const found = options.findIndex((option) => option.value === value);
  const step = (event: KeyboardEvent<HTMLDivElement>) => {
    const by = STEPS[event.key];
    const buttons = [...event.currentTarget.querySelectorAll("button")];
    const at = buttons.indexOf(event.target as HTMLButtonElement);
    if (by === undefined || at < 0) return;
    event.preventDefault();
    event.stopPropagation();
    const next = (at + by + options.length) % options.length;
    buttons[next]?.focus();
    const option = options[next];
    if (option && option.value !== value) props.onChange(option.value);
  };
  return (
    <div
      className={look === "boxed" ? "segmented" : "tabs"}
      role={tabs ? "tablist" : "radiogroup"}
      aria-label={props.label}
      onKeyDown={step}
    >
      {options.map((option, i) => {
        const on = option.value === value;
        return (
          <button
            key={option.value}
            type="button"
            {...(tabs
              ? { role: "tab", "aria-selected": on, "aria-controls": on ? panel : undefined }
              : { role: "radio", "aria-checked": on })}
            tabIndex={i === Math.max(0, found) ? 0 : -1}
            className={on ? "on" : ""}
            onClick={() => props.onChange(option.value)}
            data-testid={testId && `${testId}-${option.value}`}
          >
            {option.icon && <Icon name={option.icon} size={14} />}
            {option.label}
          </button>
        );
      })}
    </div>
  );
}
