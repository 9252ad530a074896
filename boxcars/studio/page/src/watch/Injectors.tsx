/** The load injectors of a run: source and rate, which can be changed while they run. */

import { useState } from "react";

import { api } from "../api/client";
import type { Injector, Run } from "../api/types";
import { isOver, loadInjectors, noteInjector, useRuns } from "../state/runs";
import { complain } from "../state/studio";
import { Button, CloseButton } from "../ui/controls";
import { plural, rate, short } from "../ui/format";
import { NewInjector } from "./NewInjector";
import { Pacer } from "./Pacer";

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
        {starting && <p className="help">Tuples can be sent once Spark has started.</p>}
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
  const on = ["running", "paused", "waiting"].includes(injector.state);
  const change = (ask: Parameters<typeof api.changeInjector>[1]) =>
    api.changeInjector(injector.id, ask).then(noteInjector, complain);
  return (
    <article
      className="injector"
      aria-label={`Injector for ${injector.inputs.join(", ")}`}
      data-testid="injector"
      data-sent={injector.sent}
    >
      <header>
        <span className={`dot ${injector.state}`} aria-hidden="true" />
        <strong className="grow clip">{injector.inputs.join(", ")}</strong>
        {on && injector.state !== "waiting" && (
          <Button
            label={injector.state === "paused" ? "Resume" : "Pause"}
            icon={injector.state === "paused" ? "play" : "pause"}
            kind="ghost"
            iconOnly
            onClick={() => void change({ paused: injector.state !== "paused" })}
            testId="pause-injector"
          />
        )}
        <CloseButton
          label="Stop the injector"
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
        <Pacer
          value={injector.rate}
          low={1}
          high={200_000}
          label="tuples per second"
          unit="/s"
          onChange={(to) => change({ rate: to })}
          testId="rate"
        />
      )}
      {injector.speed !== null && on && (
        <Pacer
          value={injector.speed}
          low={0.1}
          high={1000}
          label="times the speed of the data"
          unit="× event time"
          onChange={(to) => change({ speed: to })}
          testId="speed"
        />
      )}
      <p className="soft">
        sent {short(injector.sent)}, now {rate(injector.measured)}
        {injector.injectors > 1 && `, ${injector.injectors} injectors`}
      </p>
      {injector.left_out > 0 && (
        <p className="trouble" data-testid="left-out">
          {plural(injector.left_out, "row")} skipped. The first: {injector.reason}.
        </p>
      )}
      {injector.late > 0 && (
        <p className="trouble" role="alert" data-testid="injector-late">
          {plural(injector.late, "tuple")} arrived late: the run is already past their times, so
          they had no effect. Start the run over, or send newer tuples.
        </p>
      )}
      {injector.state !== "running" && injector.sentence && (
        <p
          className={injector.state === "failed" ? "trouble" : "help"}
          role={injector.state === "failed" ? "alert" : undefined}
        >
          {injector.sentence}
        </p>
      )}
    </article>
  );
}
