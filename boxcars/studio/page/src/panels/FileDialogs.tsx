/** Open a file from the folder or the user's computer; save under a name; download. */

import { useEffect, useState } from "react";

import { api } from "../api/client";
import type { NetworkFile, WriteFormat } from "../api/types";
import { useDoc } from "../state/doc";
import { askFirst } from "../state/asking";
import { download, leaveFor, openFile, openUpload } from "../state/files";
import { usePalette } from "../state/palette";
import { saveAs } from "../state/saving";
import { complain, openDialog } from "../state/studio";
import { Button, Empty, Labelled, TextField } from "../ui/controls";
import { Dialog } from "../ui/Dialog";
import { day } from "../ui/format";
import { OneOf } from "../ui/OneOf";

const close = () => openDialog(null);

export function OpenDialog() {
  const folder = usePalette((state) => state.about?.folder);
  const [files, setFiles] = useState<NetworkFile[] | null>(null);
  const look = () => api.networks().then(setFiles, complain);
  useEffect(() => {
    api.networks().then(setFiles, complain);
  }, []);
  return (
    <Dialog title="Open" onClose={close} testId="open-dialog">
      <p className="help">Networks in {folder}</p>
      {files?.length === 0 && (
        <Empty title="No networks in this folder yet.">
          Save one, or open a file from your computer below.
        </Empty>
      )}
      <ul className="files">
        {files?.map((file) => (
          <li key={file.file}>
            <button
              type="button"
              className="file-row"
              onClick={() => void leaveFor(() => openFile(file.file))}
              data-testid={`file-${file.file}`}
            >
              <strong>{file.file}</strong>
              <span className="soft">{file.name}</span>
              <span className="soft end">{day(file.modified)}</span>
            </button>
            <Button
              label={`Delete ${file.file}`}
              icon="trash"
              kind="ghost"
              iconOnly
              onClick={() =>
                void askFirst(
                  {
                    title: `Delete ${file.file}?`,
                    words: ["The network, its layout and its tests are permanently deleted."],
                    yes: "Delete",
                  },
                  () => api.removeFile(file.file).then(look, complain),
                )
              }
            />
          </li>
        ))}
      </ul>
      <label className="drop">
        <input
          type="file"
          accept=".yaml,.yml,.json,.xml,.py"
          onChange={(event) => {
            const file = event.target.files?.[0];
            event.target.value = "";
            if (file) void leaveFor(() => openUpload(file));
          }}
          data-testid="upload"
        />
        <span>Open a file from your computer (YAML, XML, JSON) ...</span>
      </label>
    </Dialog>
  );
}

const ENDINGS = ["yaml", "xml", "json"] as const;
const DOWNLOADS: [WriteFormat, string][] = [
  ["yaml", "YAML"],
  ["xml", "XML"],
  ["json", "JSON"],
  ["py", "Python"],
  ["svg", "SVG picture"],
  ["mermaid", "Mermaid"],
];

export function SaveDialog() {
  const file = useDoc((state) => state.file);
  const network = useDoc((state) => state.doc.network.name);
  const folder = usePalette((state) => state.about?.folder);
  const [stem, setStem] = useState((file ?? network).replace(/\.[^.]+$/, ""));
  const [ending, setEnding] = useState<(typeof ENDINGS)[number]>(
    ENDINGS.find((e) => file?.endsWith(`.${e}`)) ?? "yaml",
  );
  const name = `${stem.trim()}.${ending}`;
  return (
    <Dialog
      title="Save"
      onClose={close}
      testId="save-dialog"
      actions={
        <Button
          label={`Save as ${name}`}
          icon="save"
          kind="primary"
          disabled={!stem.trim()}
          onClick={() => void saveAs(name)}
          testId="save-confirm"
        />
      }
    >
      <Labelled label="name" help={`A file in ${folder ?? "this folder"}.`}>
        {(id) => <TextField id={id} value={stem} onChange={setStem} autoFocus testId="save-name" />}
      </Labelled>
      <OneOf
        label="Format"
        value={ending}
        options={ENDINGS.map((value) => ({ value, label: value.toUpperCase() }))}
        onChange={setEnding}
        testId="save-format"
      />
      <h3>Or download it</h3>
      <div className="chips">
        {DOWNLOADS.map(([format, words]) => (
          <Button
            key={format}
            label={words}
            icon="download"
            onClick={() => void download(format)}
            testId={`download-${format}`}
          />
        ))}
      </div>
    </Dialog>
  );
}
