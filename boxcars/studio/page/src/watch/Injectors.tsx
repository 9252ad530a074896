/** The load injectors of a run: how fast, from where; changed while they run. */

import { useState } from "react";

import { api } from "../api/client";
import type { Injector, Run } from "../api/types";
import { isOver, loadInjectors, noteInjector, useRuns } from "../state/runs";
import { complain } from "../state/studio";
import { Button } from "../ui/controls";
import { rate, short } from "../ui/format";
import { NewInjector } from "./NewInjector";

const LOWEST = 1;
const HIGHEST = 200_000;

/** From a place on the slider to a rate, and back: each step is the same factor. */
const toRate = (place: number): number => {
  const exact = LOWEST * (HIGHEST / LOWEST) ** (place / 1000);
  const size = 10 ** Math.max(0, Math.floor(Math.log10(exact)) - 1);
  return Math.round(exact / size) * size;
};
const toPlace = (number: number): number =>
  (1000 * Math.log(Math.max(number, LOWEST) / LOWEST)) / Math.log(HIGHEST / LOWEST);

export function Injectors({ run }: { run: Run }) {
  const injectors = useRuns((state) => state.injectors);
  const [adding, setAdding] = useState(false);
  const over = isOver(run);
  const starting = run.state === "starting";
  if (!run.feeds.length && !injectors.length) return null;
  return (
    <section className="injectors" data-testid="injectors">
      <header className="side-head">
        <h2 className="grow">Injectors</h2>
        {!over && !starting && (
          <Button
            label="Add an injector"
            icon="plus"
            kind="ghost"
            iconOnly
            pressed={adding}
            onClick={() => setAdding(!adding)}
            testId="add-injector"
          />
        )}
      </header>
      <div className="side-body padded">
        {starting && <p className="help">Tuples can be sent as soon as Spark is there.</p>}
        {!starting && (adding || (!injectors.length && !over)) && (
          <NewInjector run={run} onDone={() => setAdding(false)} />
        )}
        {injectors.map((injector) => (
          <OneInjector key={injector.id} injector={injector} />
        ))}
        {over && !injectors.length && <p className="help">The run has ended.</p>}
      </div>
    </section>
  );
}

function OneInjector({ injector }: { injector: Injector }) {
  const [draft, setDraft] = useState<number | null>(null);
  const shown = draft ?? injector.rate ?? 0;
  const on = injector.state === "running" || injector.state === "paused";
  const change = (ask: Parameters<typeof api.changeInjector>[1]) =>
    api.changeInjector(injector.id, ask).then(noteInjector, complain);
  return (
    <article className="injector" data-testid="injector">
      <header>
        <span className={`dot ${injector.state}`} aria-hidden="true" />
        <strong className="grow clip">{injector.inputs.join(", ")}</strong>
        {on && (
          <Button
            label={injector.state === "paused" ? "Go on" : "Pause"}
            icon={injector.state === "paused" ? "play" : "pause"}
            kind="ghost"
            iconOnly
            onClick={() => void change({ paused: injector.state !== "paused" })}
            testId="pause-injector"
          />
        )}
        <Button
          label="Stop the injector"
          icon="close"
          kind="ghost"
          iconOnly
          onClick={() =>
            void api.endInjector(injector.id).then(() => loadInjectors(injector.run), complain)
          }
          testId="stop-injector"
        />
      </header>
      <p className="soft clip" title={injector.source}>
        {injector.source}
      </p>
      {injector.rate !== null && on && (
        <label className="slider">
          <input
            type="range"
            min={0}
            max={1000}
            value={toPlace(shown)}
            aria-label="tuples a second"
            onChange={(event) => setDraft(toRate(Number(event.target.value)))}
            onPointerUp={() => settle()}
            onKeyUp={() => settle()}
            data-testid="rate-slider"
          />
          <input
            className="text number"
            inputMode="numeric"
            value={String(shown)}
            aria-label="tuples a second"
            onChange={(event) => setDraft(Number(event.target.value) || 0)}
            onBlur={() => settle()}
            onKeyDown={(event) => {
              if (event.key === "Enter") settle();
            }}
            data-testid="rate"
          />
          <span className="soft">/s</span>
        </label>
      )}
      <p className="soft">
        sent {short(injector.sent)}, now {rate(injector.measured)}
        {injector.rate === null && injector.speed !== null && `, ${injector.speed} × its own time`}
        {injector.injectors > 1 && `, ${injector.injectors} injectors`}
      </p>
      {injector.state !== "running" && injector.sentence && (
        <p className={injector.state === "failed" ? "trouble" : "help"}>{injector.sentence}</p>
      )}
    </article>
  );

  function settle(): void {
    if (draft !== null && draft > 0) void change({ rate: draft }).then(() => setDraft(null));
  }
}
