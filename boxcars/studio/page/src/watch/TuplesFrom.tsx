/** The source of an injector: the fields of its form. */

import { useEffect, useState } from "react";

import { api } from "../api/client";
import type { DataFile, InjectorSource, TemplateInfo } from "../api/types";
import { usePalette } from "../state/palette";
import { complain } from "../state/studio";
import { Labelled, Select, TextField, Toggle } from "../ui/controls";
import { bytes } from "../ui/format";

const KINDS = [
  { value: "template", label: "application data" },
  { value: "generator", label: "generated tuples" },
  { value: "file", label: "file in the studio's folder" },
  { value: "upload", label: "file on your computer" },
  { value: "text", label: "pasted text" },
] as const;
type Kind = (typeof KINDS)[number]["value"];

export interface From {
  kind: Kind;
  template: string;
  file: string;
  upload: File | null;
  text: string;
  /** Repeat when the file or text ends. */
  again: boolean;
}

/** Bytes; the largest file that the page uploads. */
const MOST = 48 * 2 ** 20;
/** Number of files offered as buttons; the others are offered while typing. */
const OFFERED = 6;

/** The source as a message of the API; throws if something is missing. */
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
    if (!from.file.trim()) throw new Error("Choose a file, or type its name.");
    return { ...rest, file: from.file.trim() };
  }
  if (from.kind === "text") {
    if (!from.text.trim()) throw new Error("Paste some tuples first.");
    return { ...rest, text: from.text };
  }
  const { upload } = from;
  if (!upload) throw new Error("Choose a file on your computer.");
  if (upload.size > MOST)
    throw new Error(
      `${upload.name} is larger than ${bytes(MOST)}: put it into the studio's folder instead.`,
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
            ? `${from.upload.name}, ${bytes(from.upload.size)}. Change ...`
            : "Choose a CSV or JSON lines file ..."}
        </label>
      )}
      {from.kind === "text" && (
        <textarea
          className="text mono"
          rows={4}
          value={from.text}
          placeholder="CSV with a header line, or JSON lines"
          aria-label="tuples"
          onChange={(event) => onChange({ text: event.target.value })}
          data-testid="injector-text"
        />
      )}
      {["file", "upload", "text"].includes(from.kind) && (
        <Toggle
          label="Repeat at the end, with times that continue"
          value={from.again}
          onChange={(again) => onChange({ again })}
          testId="injector-again"
        />
      )}
    </>
  );
}

/** A file by name, with the files in the folder as suggestions. */
function FolderFile(props: { value: string; onChange: (file: string) => void }) {
  const folder = usePalette((state) => state.about?.folder);
  const [files, setFiles] = useState<DataFile[] | null>(null);
  useEffect(() => {
    api.data().then(setFiles, complain);
  }, []);
  const nothing = `No .csv, .jsonl, .parquet or .arrow file in ${folder ?? "the folder"}.`;
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
