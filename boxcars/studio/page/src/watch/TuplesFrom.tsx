/** Where an injector has its tuples from: the fields of the form for it. */

import { useEffect, useState } from "react";

import { api } from "../api/client";
import type { DataFile, InjectorSource, TemplateInfo } from "../api/types";
import { usePalette } from "../state/palette";
import { complain } from "../state/studio";
import { Labelled, Select, TextField, Toggle } from "../ui/controls";
import { bytes } from "../ui/format";

const KINDS = [
  { value: "template", label: "data of an application" },
  { value: "generator", label: "made-up tuples" },
  { value: "file", label: "a file of the studio's folder" },
  { value: "upload", label: "a file of your machine" },
  { value: "text", label: "pasted text" },
] as const;
type Kind = (typeof KINDS)[number]["value"];

export interface From {
  kind: Kind;
  template: string;
  file: string;
  upload: File | null;
  text: string;
  /** Begin again when a file or a text ends. */
  again: boolean;
}

/** So much of a file can be sent from the page. */
const MOST = 48 * 2 ** 20;
/** Files that are offered with a click; the others as one types. */
const OFFERED = 6;

/** The source in the words of the API; what is missing is an error with a sentence. */
export async function sourceOf(
  from: From,
  templates: readonly TemplateInfo[],
): Promise<InjectorSource> {
  const rest = { rows: 1_000_000, seed: 1, name: "", endless: from.again };
  if (from.kind === "template") {
    const rows = templates.find((t) => t.name === from.template)?.rows ?? 1;
    return { ...rest, template: from.template, rows, endless: true };
  }
  if (from.kind === "generator") return { ...rest, generator: { fields: {}, seed: 1 } };
  if (from.kind === "file") {
    if (!from.file.trim()) throw new Error("Which file? Choose one, or type its name.");
    return { ...rest, file: from.file.trim() };
  }
  if (from.kind === "text") {
    if (!from.text.trim()) throw new Error("There is no text yet: paste some tuples.");
    return { ...rest, text: from.text };
  }
  const { upload } = from;
  if (!upload) throw new Error("Which file? Choose one of your machine.");
  if (upload.size > MOST)
    throw new Error(
      `${upload.name} has more than ${bytes(MOST)}: put it into the studio's folder instead.`,
    );
  return { ...rest, text: await upload.text(), name: upload.name };
}

export function TuplesFrom(props: { from: From; onChange: (part: Partial<From>) => void }) {
  const { from, onChange } = props;
  const templates = usePalette((state) => state.templates);
  return (
    <>
      <Labelled label="tuples from">
        {(id) => (
          <Select
            id={id}
            value={from.kind}
            options={KINDS}
            onChange={(kind) => onChange({ kind })}
            testId="injector-source"
          />
        )}
      </Labelled>
      {from.kind === "template" && (
        <Select
          value={from.template}
          options={templates.map((t) => t.name)}
          label="application"
          onChange={(template) => onChange({ template })}
        />
      )}
      {from.kind === "file" && (
        <FolderFile value={from.file} onChange={(file) => onChange({ file })} />
      )}
      {from.kind === "upload" && (
        <label className="add-row">
          <input
            type="file"
            accept=".csv,.jsonl,.json,.txt"
            onChange={(event) => {
              const [upload] = event.target.files ?? [];
              if (upload) onChange({ upload });
            }}
            data-testid="injector-upload"
          />
          {from.upload
            ? `${from.upload.name}, ${bytes(from.upload.size)}. Another ...`
            : "Choose a file of CSV or JSON lines ..."}
        </label>
      )}
      {from.kind === "text" && (
        <textarea
          className="text mono"
          rows={4}
          value={from.text}
          placeholder="CSV with a line of names, or JSON lines"
          aria-label="tuples"
          onChange={(event) => onChange({ text: event.target.value })}
          data-testid="injector-text"
        />
      )}
      {["file", "upload", "text"].includes(from.kind) && (
        <Toggle
          label="Begin again at its end, with times that go on"
          value={from.again}
          onChange={(again) => onChange({ again })}
          testId="injector-again"
        />
      )}
    </>
  );
}

/** A file by its name; those that are there are offered. */
function FolderFile(props: { value: string; onChange: (file: string) => void }) {
  const folder = usePalette((state) => state.about?.folder);
  const [files, setFiles] = useState<DataFile[] | null>(null);
  useEffect(() => {
    api.data().then(setFiles, complain);
  }, []);
  const nothing = `There is no .csv, .jsonl, .parquet or .arrow file in ${folder ?? "the folder"}.`;
  return (
    <>
      <Labelled label="file" {...(files?.length === 0 && { help: nothing })}>
        {(id) => (
          <TextField
            id={id}
            value={props.value}
            onChange={props.onChange}
            list={(files ?? []).map(({ file }) => file)}
            placeholder="calls.csv"
            mono
            testId="injector-file"
          />
        )}
      </Labelled>
      <div className="chips">
        {(files ?? []).slice(0, OFFERED).map(({ file, size }) => (
          <button
            key={file}
            type="button"
            className={file === props.value ? "chip on" : "chip"}
            title={`${file}, ${bytes(size)}`}
            aria-pressed={file === props.value}
            onClick={() => props.onChange(file)}
            data-testid={`data-file-${file}`}
          >
            <span className="clip">{file}</span>
          </button>
        ))}
      </div>
    </>
  );
}
