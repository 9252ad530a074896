/** The form for a new injector. */

import { useState } from "react";

import { api } from "../api/client";
import type { Run } from "../api/types";
import { usePalette } from "../state/palette";
import { networkOf, noteInjector } from "../state/runs";
import { BusyButton, Labelled, NumberField, Select, Toggle, Wrongs } from "../ui/controls";
import { sourceOf, TuplesFrom, type From } from "./TuplesFrom";

const PACES = [
  { value: "rate", label: "tuples per second" },
  { value: "time", label: "times in the data" },
  { value: "fast", label: "as fast as possible" },
] as const;
type Pace = (typeof PACES)[number]["value"];

export function NewInjector({ run, onDone }: { run: Run; onDone: () => void }) {
  const templates = usePalette((state) => state.templates);
  const own = templates.find((template) => template.name === networkOf(run).name);
  const [from, setFrom] = useState<From>({
    kind: own ? "template" : "generator",
    template: own?.name ?? templates[0]?.name ?? "",
    file: "",
    upload: null,
    text: "",
    again: false,
  });
  const [input, setInput] = useState(run.feeds[0] ?? "");
  const [pace, setPace] = useState<Pace>("rate");
  const [rate, setRate] = useState<number | null>(500);
  const [speed, setSpeed] = useState<number | null>(1);
  const [batch, setBatch] = useState<number | null>(100);
  const [number, setNumber] = useState<number | null>(1);
  const [stamp, setStamp] = useState(false);
  const [trouble, setTrouble] = useState<string | null>(null);
  const [busy, setBusy] = useState(false);
  const order = networkOf(run).inputs?.[input]?.ts ?? "its order attribute";
  const start = async () => {
    setBusy(true);
    setTrouble(null);
    try {
      const asked = await api.inject(run.id, {
        input: from.kind === "template" && run.feeds.length > 1 ? null : input,
        source: await sourceOf(from, templates),
        rate: pace === "rate" ? (rate ?? 1) : null,
        speed: speed ?? 1,
        fast: pace === "fast",
        batch: batch ?? 100,
        injectors: number ?? 1,
        stamp,
      });
      noteInjector(asked);
      onDone();
    } catch (error) {
      setTrouble(error instanceof Error ? error.message : String(error));
    } finally {
      setBusy(false);
    }
  };
  return (
    <form
      className="new-injector"
      aria-label="New injector"
      onSubmit={(event) => {
        event.preventDefault();
        void start();
      }}
    >
      <TuplesFrom
        from={from}
        onChange={(part) => {
          setFrom({ ...from, ...part });
          setTrouble(null);
        }}
      />
      {run.feeds.length > 1 && from.kind !== "template" && (
        <Labelled label="input">
          {(id) => <Select id={id} value={input} options={run.feeds} onChange={setInput} />}
        </Labelled>
      )}
      <div className="pair uneven">
        <Labelled label="pace">
          {(id) => (
            <Select
              id={id}
              value={pace}
              options={PACES}
              onChange={setPace}
              testId="injector-pace"
            />
          )}
        </Labelled>
        {pace === "rate" && (
          <Labelled label="per second">
            {(id) => (
              <NumberField id={id} value={rate} min={0} onChange={setRate} testId="injector-rate" />
            )}
          </Labelled>
        )}
        {pace === "time" && (
          <Labelled label="speed-up">
            {(id) => (
              <NumberField
                id={id}
                value={speed}
                min={0}
                onChange={setSpeed}
                testId="injector-speed"
              />
            )}
          </Labelled>
        )}
      </div>
      {pace === "time" && (
        <p className="help">
          The first tuple is sent immediately, each other one when its <code>{order}</code> is due.
          Numbers are seconds.
        </p>
      )}
      <div className="pair">
        <Labelled label="batch size">
          {(id) => <NumberField id={id} value={batch} min={1} onChange={setBatch} />}
        </Labelled>
        <Labelled label="injectors">
          {(id) => <NumberField id={id} value={number} min={1} onChange={setNumber} />}
        </Labelled>
      </div>
      <Toggle label="Stamp each tuple with its send time" value={stamp} onChange={setStamp} />
      <Wrongs messages={trouble === null ? [] : [trouble]} />
      <BusyButton
        label="Inject"
        busy={busy ? "Reading ..." : null}
        icon="bolt"
        kind="primary"
        onClick={() => void start()}
        testId="inject"
      />
    </form>
  );
}
