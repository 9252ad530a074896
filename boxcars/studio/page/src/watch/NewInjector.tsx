/** A form for one more injector. */

import { useState } from "react";

import { api } from "../api/client";
import type { AskInjector, InjectorSource, Run } from "../api/types";
import { usePalette } from "../state/palette";
import { networkOf, noteInjector } from "../state/runs";
import { complain } from "../state/studio";
import { Button, Labelled, NumberField, Select, TextField, Toggle } from "../ui/controls";

const SOURCES = [
  { value: "template", label: "data of an application" },
  { value: "generator", label: "made-up tuples" },
  { value: "file", label: "a file of the folder" },
  { value: "text", label: "pasted text" },
] as const;
type Source = (typeof SOURCES)[number]["value"];

const PACES = [
  { value: "rate", label: "tuples a second" },
  { value: "time", label: "the times in the data" },
  { value: "fast", label: "as fast as it can" },
] as const;
type Pace = (typeof PACES)[number]["value"];

export function NewInjector({ run, onDone }: { run: Run; onDone: () => void }) {
  const templates = usePalette((state) => state.templates);
  const own = templates.find((template) => template.name === networkOf(run).name);
  const [kind, setKind] = useState<Source>(own ? "template" : "generator");
  const [text, setText] = useState("");
  const [template, setTemplate] = useState(own?.name ?? templates[0]?.name ?? "");
  const [input, setInput] = useState(run.feeds[0] ?? "");
  const [pace, setPace] = useState<Pace>("rate");
  const [rate, setRate] = useState<number | null>(500);
  const [speed, setSpeed] = useState<number | null>(1);
  const [batch, setBatch] = useState<number | null>(100);
  const [number, setNumber] = useState<number | null>(1);
  const [stamp, setStamp] = useState(false);
  const sourceOf = (): InjectorSource => {
    const rest = { rows: 1_000_000, seed: 1 };
    const rows = templates.find((t) => t.name === template)?.rows ?? 1;
    if (kind === "template") return { template, rows, seed: 1, endless: true };
    if (kind === "file") return { file: text, ...rest };
    if (kind === "text") return { text, ...rest };
    return { generator: { fields: {}, seed: 1 }, ...rest };
  };
  const start = async () => {
    const ask: AskInjector = {
      input: kind === "template" && run.feeds.length > 1 ? null : input,
      source: sourceOf(),
      rate: pace === "rate" ? (rate ?? 1) : null,
      speed: speed ?? 1,
      fast: pace === "fast",
      batch: batch ?? 100,
      injectors: number ?? 1,
      stamp,
    };
    try {
      noteInjector(await api.inject(run.id, ask));
      onDone();
    } catch (error) {
      complain(error);
    }
  };
  return (
    <form
      className="new-injector"
      onSubmit={(event) => {
        event.preventDefault();
        void start();
      }}
    >
      <Labelled label="tuples from">
        {(id) => (
          <Select
            id={id}
            value={kind}
            options={SOURCES}
            onChange={setKind}
            testId="injector-source"
          />
        )}
      </Labelled>
      {kind === "template" && (
        <Select
          value={template}
          options={templates.map((t) => t.name)}
          label="application"
          onChange={setTemplate}
        />
      )}
      {kind === "file" && (
        <TextField value={text} onChange={setText} placeholder="calls.csv" mono label="file" />
      )}
      {kind === "text" && (
        <textarea
          className="text mono"
          rows={4}
          value={text}
          placeholder="CSV with a line of names, or JSON lines"
          aria-label="tuples"
          onChange={(event) => setText(event.target.value)}
        />
      )}
      {run.feeds.length > 1 && kind !== "template" && (
        <Labelled label="into">
          {(id) => <Select id={id} value={input} options={run.feeds} onChange={setInput} />}
        </Labelled>
      )}
      <div className="pair">
        <Labelled label="pace">
          {(id) => <Select id={id} value={pace} options={PACES} onChange={setPace} />}
        </Labelled>
        {pace === "rate" && (
          <Labelled label="a second">
            {(id) => (
              <NumberField id={id} value={rate} min={0} onChange={setRate} testId="injector-rate" />
            )}
          </Labelled>
        )}
        {pace === "time" && (
          <Labelled label="times as fast">
            {(id) => <NumberField id={id} value={speed} min={0} onChange={setSpeed} />}
          </Labelled>
        )}
      </div>
      <div className="pair">
        <Labelled label="in a batch">
          {(id) => <NumberField id={id} value={batch} min={1} onChange={setBatch} />}
        </Labelled>
        <Labelled label="injectors">
          {(id) => <NumberField id={id} value={number} min={1} onChange={setNumber} />}
        </Labelled>
      </div>
      <Toggle
        label="Stamp each tuple with the time at which it is sent"
        value={stamp}
        onChange={setStamp}
      />
      <Button
        label="Inject"
        icon="bolt"
        kind="primary"
        onClick={() => void start()}
        testId="inject"
      />
    </form>
  );
}
