/** The network as the text of its file. */

import { useEffect, useState } from "react";

import { api } from "../api/client";
import type { WriteFormat } from "../api/types";
import { useDoc } from "../state/doc";
import { download } from "../state/files";
import { say } from "../state/studio";
import { Button } from "../ui/controls";
import { OneOf } from "../ui/OneOf";

const FORMATS: { value: WriteFormat; label: string }[] = [
  { value: "yaml", label: "YAML" },
  { value: "xml", label: "XML" },
  { value: "json", label: "JSON" },
  { value: "py", label: "Python" },
];

export function TextPanel() {
  const doc = useDoc((state) => state.doc);
  const [format, setFormat] = useState<WriteFormat>("yaml");
  const [text, setText] = useState("");
  useEffect(() => {
    let mine = true;
    const timer = window.setTimeout(() => {
      api.write(doc.network, format, doc.positions).then(
        (written) => {
          if (mine) setText(written);
        },
        (error: unknown) => {
          if (mine) setText(error instanceof Error ? error.message : String(error));
        },
      );
    }, 200);
    return () => {
      mine = false;
      window.clearTimeout(timer);
    };
  }, [doc, format]);
  return (
    <div className="text-panel">
      <div className="bar">
        <OneOf label="Format" value={format} options={FORMATS} onChange={setFormat} />
        <Button
          label="Copy"
          icon="copy"
          kind="ghost"
          onClick={() => void navigator.clipboard.writeText(text).then(() => say("Copied."))}
        />
        <Button
          label="Download"
          icon="download"
          kind="ghost"
          onClick={() => void download(format)}
        />
      </div>
      <pre tabIndex={0} data-testid="text">
        {text}
      </pre>
    </div>
  );
}
