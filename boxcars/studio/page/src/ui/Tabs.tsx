/** Tabs: one of several panels is shown. */

import type { ReactNode } from "react";

interface TabsProps<T extends string> {
  label: string;
  /** The one that is shown; none if all are folded. */
  value: T | null;
  options: readonly { value: T; label: ReactNode }[];
  onChange: (value: T) => void;
  /** Before the value in the names for tests. */
  testId: string;
}

export function Tabs<T extends string>(props: TabsProps<T>) {
  return (
    <div className="tabs" role="tablist" aria-label={props.label}>
      {props.options.map(({ value, label }) => (
        <button
          key={value}
          type="button"
          role="tab"
          aria-selected={value === props.value}
          className={value === props.value ? "on" : ""}
          onClick={() => props.onChange(value)}
          data-testid={`${props.testId}-${value}`}
        >
          {label}
        </button>
      ))}
    </div>
  );
}
