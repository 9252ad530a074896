/** The rate of an injector: a logarithmic slider, and the number. */

import { useState } from "react";

interface PacerProps {
  value: number;
  low: number;
  high: number;
  /** The quantity, for screen readers. */
  label: string;
  unit: string;
  onChange: (value: number) => Promise<unknown>;
  testId: string;
}

const STEPS = 1000;

export function Pacer(props: PacerProps) {
  const { value, low, high, label, testId } = props;
  const [draft, setDraft] = useState<string | null>(null);
  const shown = draft ?? String(value);
  const span = Math.log(high / low);
  const position = (STEPS * Math.log(Math.max(Number(shown) || low, low) / low)) / span;
  const settle = () => {
    const number = Number(draft);
    if (draft === null) return;
    if (number > 0 && number !== value) void props.onChange(number).then(() => setDraft(null));
    else setDraft(null);
  };
  return (
    <label className="slider">
      <input
        type="range"
        min={0}
        max={STEPS}
        value={position}
        aria-label={label}
        aria-valuetext={`${shown} ${label}`}
        onChange={(event) => {
          const exact = low * Math.exp((span * Number(event.target.value)) / STEPS);
          setDraft(String(Number(exact.toPrecision(2))));
        }}
        onPointerUp={settle}
        onKeyUp={settle}
        data-testid={`${testId}-slider`}
      />
      <input
        className="text number"
        inputMode="decimal"
        value={shown}
        aria-label={label}
        onChange={(event) => setDraft(event.target.value)}
        onBlur={settle}
        onKeyDown={(event) => {
          if (event.key === "Enter") settle();
        }}
        data-testid={testId}
      />
      <span className="soft">{props.unit}</span>
    </label>
  );
}
