/** A window: its kind, size, advance and further options. */

import { useState } from "react";

import type { Block, Plain } from "../model/network";
import { usePalette } from "../state/palette";
import { NumberField, Select, TextField, Toggle } from "../ui/controls";
import { useFieldNames } from "./context";
import { isMap } from "./plain";

interface WindowProps {
  box: string;
  value: Block | undefined;
  onChange: (value: Plain | undefined, typing?: boolean) => void;
  id: string;
  param: { required: boolean; key: string };
}

const number = (plain: Plain | undefined): number | null =>
  typeof plain === "number" ? plain : null;

const KINDS = ["time", "tuples", "value", "landmark", "runs"];

const START: Record<string, Block> = {
  time: { time: 60 },
  tuples: { tuples: 2 },
  value: { value: "", size: 1 },
  landmark: { landmark: true },
  runs: { runs: true },
};

export function WindowField(props: WindowProps) {
  const { value = {}, onChange, param } = props;
  const kinds = usePalette((state) => state.palette?.windows.kinds ?? []);
  const names = useFieldNames(props.box);
  const kind = KINDS.find((key) => key in value) ?? "";
  const info = kinds.find((k) => k.by === kind);
  const sizeKey = kind === "value" ? "size" : kind;
  const put = (key: string, next: Plain | null | undefined) => {
    const { [key]: _, ...rest } = value;
    onChange(next === null || next === undefined ? rest : { ...value, [key]: next }, true);
  };
  return (
    <div className="window" data-testid={`window-${param.key}`}>
      <div className="pair">
        <Select
          id={props.id}
          value={kind}
          options={[{ value: "", label: param.required ? "choose ..." : "–" }, ...KINDS]}
          onChange={(next) => onChange(START[next])}
          testId="window-kind"
        />
        {info?.sized && (
          <label className="captioned">
            <span>size</span>
            <NumberField
              value={number(value[sizeKey])}
              onChange={(next) => put(sizeKey, next)}
              testId="window-size"
            />
          </label>
        )}
        {info?.keys.includes("advance") && (
          <label className="captioned">
            <span>advance</span>
            <NumberField
              value={number(value["advance"])}
              onChange={(next) => put("advance", next)}
              testId="window-advance"
            />
          </label>
        )}
      </div>
      {kind === "value" && (
        <TextField
          value={typeof value["value"] === "string" ? value["value"] : ""}
          onChange={(next) => put("value", next)}
          list={names}
          placeholder="field"
          mono
        />
      )}
      {info && <p className="help">{info.doc}</p>}
      {info && <More keys={info.keys} value={value} put={put} />}
    </div>
  );
}

const WORDS: Record<string, string> = {
  timeout: "timeout",
  slack: "slack",
  origin: "origin",
};

/** The less common options, collapsed until needed. */
function More(props: {
  keys: readonly string[];
  value: Block;
  put: (key: string, value: Plain | undefined | null) => void;
}) {
  const { keys, value, put } = props;
  const rare = keys.filter((key) => key !== "advance" && key !== "size");
  const [open, setOpen] = useState(rare.some((key) => key in value));
  const { emit = [], obsolete = [] } = usePalette((state) => state.palette?.windows) ?? {};
  if (!open)
    return (
      <button
        type="button"
        className="add-row"
        title={rare.join(", ")}
        onClick={() => setOpen(true)}
      >
        More ...
      </button>
    );
  const emits = isMap(value["emit"]) ? "every" : ((value["emit"] as string | undefined) ?? "close");
  const every = isMap(value["emit"]) ? number(value["emit"]["every"]) : null;
  return (
    <div className="more">
      {Object.keys(WORDS)
        .filter((key) => rare.includes(key))
        .map((key) => (
          <label key={key} className="inline">
            <span>{WORDS[key]}</span>
            <NumberField value={number(value[key])} onChange={(next) => put(key, next)} />
          </label>
        ))}
      {rare.includes("obsolete") && (
        <label className="inline">
          <span>obsolete</span>
          <Select
            value={(value["obsolete"] as string | undefined) ?? "close"}
            options={obsolete}
            onChange={(next) => put("obsolete", next === "close" ? null : next)}
          />
        </label>
      )}
      <label className="inline">
        <span>emit</span>
        <Select
          value={emits}
          options={emit}
          onChange={(next) =>
            put("emit", next === "close" ? null : next === "every" ? { every: 1 } : next)
          }
        />
      </label>
      {emits === "every" && (
        <label className="inline">
          <span>every</span>
          <NumberField value={every} onChange={(next) => put("emit", { every: next ?? 1 })} />
        </label>
      )}
      {rare.includes("flush") && (
        <Toggle
          label="Emit open windows at the end of the input"
          value={value["flush"] === true}
          onChange={(next) => put("flush", next ? true : null)}
        />
      )}
    </div>
  );
}
