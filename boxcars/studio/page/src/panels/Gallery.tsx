/** The welcome dialog: an empty canvas, files in the folder, and applications as templates. */

import { useEffect, useState } from "react";
import { useShallow } from "zustand/react/shallow";

import { api } from "../api/client";
import type { NetworkFile } from "../api/types";
import { leaveFor, openFile, openNew, openTemplate } from "../state/files";
import { runExample } from "../state/launch";
import { usePalette } from "../state/palette";
import { complain, openDialog } from "../state/studio";
import { Button } from "../ui/controls";
import { Dialog } from "../ui/Dialog";
import { day } from "../ui/format";
import { Icon } from "../ui/Icon";

export function Gallery() {
  const [templates, settled] = usePalette(useShallow((s) => [s.templates, s.settled]));
  const [files, setFiles] = useState<NetworkFile[] | null>(null);
  useEffect(() => {
    api.networks().then(setFiles, (error: unknown) => {
      setFiles([]);
      complain(error);
    });
  }, []);
  // Shown once it is complete: a button that moves while it is pressed is not clicked.
  if (files === null || !settled) return null;
  const recent = files.toSorted((a, b) => b.modified - a.modified).slice(0, 6);
  return (
    <Dialog title="Welcome to Boxcars" onClose={() => openDialog(null)} wide testId="gallery">
      <section className="hero">
        <div className="grow">
          <strong>See one run first</strong>
          <p className="help">
            Phones that move impossibly fast: a drawn network on Spark, fed with generated calls. It
            starts in a few seconds, and you can change it while it runs.
          </p>
        </div>
        <Button
          label="Run an example"
          icon="play"
          kind="primary"
          first
          onClick={() => void leaveFor(runExample)}
          testId="run-example"
        />
      </section>
      <h3>Or draw your own</h3>
      <div className="gallery-start">
        <button
          type="button"
          className="card start"
          onClick={() => void leaveFor(openNew)}
          data-testid="new-network"
        >
          <Icon name="new" size={22} />
          <strong>Empty canvas</strong>
          <span>Draw a network from scratch.</span>
        </button>
        <button
          type="button"
          className="card start"
          onClick={() => openDialog("open")}
          data-testid="gallery-open"
        >
          <Icon name="open" size={22} />
          <strong>Open a file</strong>
          <span>YAML, XML or JSON, from this folder or your computer.</span>
        </button>
        {recent.length > 0 && (
          <div className="recent">
            <h3>In this folder</h3>
            <ul>
              {recent.map((file) => (
                <li key={file.file}>
                  <button type="button" onClick={() => void leaveFor(() => openFile(file.file))}>
                    <code>{file.file}</code>
                    <span className="soft">{day(file.modified)}</span>
                  </button>
                </li>
              ))}
            </ul>
          </div>
        )}
      </div>
      <section>
        <h3>Or start from an application</h3>
        <div className="cards">
          {templates.map((template) => (
            <button
              key={template.name}
              type="button"
              className="card"
              onClick={() => void leaveFor(() => openTemplate(template.name))}
              data-testid={`template-${template.name}`}
            >
              <small>{template.family}</small>
              <strong>{template.name}</strong>
              <span>{template.sentence}</span>
            </button>
          ))}
        </div>
      </section>
    </Dialog>
  );
}
