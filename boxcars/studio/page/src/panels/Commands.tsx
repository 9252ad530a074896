/** Ctrl K: fuzzy search over boxes, commands, templates and files. */

import { useEffect, useMemo, useState } from "react";

import { api } from "../api/client";
import type { NetworkFile } from "../api/types";
import { add, groupSelected, selectAll, tidyUp, ungroupSelected } from "../state/actions";
import { redo, undo } from "../state/doc";
import { download, leaveFor, openFile, openNew, openTemplate } from "../state/files";
import { goTo, useFlow } from "../state/flow";
import { focusPanel } from "../state/focus";
import { usePalette } from "../state/palette";
import { save } from "../state/saving";
import { complain, openDialog, openDock, setMode, setTheme } from "../state/studio";
import { ENDS } from "../model/ends";
import { Dialog } from "../ui/Dialog";

interface Command {
  kind: string;
  words: string;
  hint?: string;
  run: () => unknown;
}

const FIXED: Command[] = [
  { kind: "command", words: "Compose", run: () => setMode("compose") },
  { kind: "command", words: "Preview on sample data", run: () => setMode("preview") },
  { kind: "command", words: "Plan and deploy", run: () => setMode("plan") },
  { kind: "command", words: "Watch runs", run: () => setMode("watch") },
  { kind: "command", words: "Run on Spark", run: () => openDialog("start") },
  { kind: "command", words: "Save", run: () => void save() },
  { kind: "command", words: "Save as, or download", run: () => openDialog("save") },
  { kind: "command", words: "Open a file", run: () => openDialog("open") },
  { kind: "command", words: "New network", run: () => void leaveFor(openNew) },
  { kind: "command", words: "Templates", run: () => openDialog("gallery") },
  { kind: "command", words: "Compare two versions", run: () => openDialog("diff") },
  { kind: "command", words: "Problems", run: () => openDock("problems") },
  { kind: "command", words: "Stored tables", run: () => openDock("tables") },
  { kind: "command", words: "Unit tests", run: () => openDock("tests") },
  { kind: "command", words: "Network as text", run: () => openDock("text") },
  { kind: "command", words: "Lay out automatically", run: () => void tidyUp() },
  { kind: "command", words: "Group into a superbox", run: () => void groupSelected() },
  { kind: "command", words: "Ungroup the superbox", run: () => void ungroupSelected() },
  { kind: "command", words: "Select all", run: selectAll },
  { kind: "command", words: "Undo", run: undo },
  { kind: "command", words: "Redo", run: redo },
  { kind: "command", words: "Dark theme", run: () => setTheme("dark") },
  { kind: "command", words: "Light theme", run: () => setTheme("light") },
  { kind: "command", words: "System theme", run: () => setTheme("system") },
  { kind: "command", words: "Download a picture (SVG)", run: () => void download("svg") },
  { kind: "command", words: "Keyboard shortcuts", run: () => openDialog("help") },
];

/** Fuzzy match: all letters in this order; earlier and closer together scores higher. */
function score(text: string, letters: string): number {
  const hay = text.toLowerCase();
  const at = hay.indexOf(letters);
  if (at >= 0) return 1000 - at;
  let from = -1;
  let gaps = 0;
  for (const letter of letters) {
    const next = hay.indexOf(letter, from + 1);
    if (next < 0) return 0;
    gaps += from >= 0 ? next - from - 1 : 0;
    from = next;
  }
  return Math.max(1, 400 - gaps * 10);
}

function useCommands(): Command[] {
  const nodes = useFlow((state) => state.nodes);
  const boxes = usePalette((state) => state.palette?.boxes ?? []);
  const templates = usePalette((state) => state.templates);
  const [files, setFiles] = useState<NetworkFile[]>([]);
  useEffect(() => {
    api.networks().then(setFiles, complain);
  }, []);
  return useMemo(() => {
    const shown: Command[] = nodes.map((node) => ({
      kind: "go to",
      words: node.data.name,
      hint: `${node.data.type}: ${node.data.summary}`,
      run: () => {
        setMode("compose");
        goTo(node.id);
        focusPanel();
      },
    }));
    const added: Command[] = [...ENDS, ...boxes].map((box) => ({
      kind: "add",
      words: box.type,
      hint: box.summary,
      run: () => {
        setMode("compose");
        add(box.type);
        focusPanel();
      },
    }));
    const opened: Command[] = files.map((file) => ({
      kind: "open",
      words: file.file,
      run: () => void leaveFor(() => openFile(file.file)),
    }));
    const started: Command[] = templates.map((template) => ({
      kind: "template",
      words: template.name,
      hint: template.sentence,
      run: () => void leaveFor(() => openTemplate(template.name)),
    }));
    return [...shown, ...FIXED, ...added, ...opened, ...started];
  }, [nodes, boxes, files, templates]);
}

export function Commands() {
  const commands = useCommands();
  const [words, setWords] = useState("");
  const [at, setAt] = useState(0);
  const letters = words.trim().toLowerCase();
  const found = commands
    .map((command) => ({
      command,
      score: letters
        ? Math.max(score(command.words, letters), score(command.hint ?? "", letters) / 4)
        : 1,
    }))
    .filter((entry) => entry.score > (letters ? 60 : 0))
    .toSorted((a, b) => b.score - a.score)
    .slice(0, 12);
  const run = (command: Command | undefined) => {
    openDialog(null);
    command?.run();
  };
  return (
    <Dialog title="Search" onClose={() => openDialog(null)} testId="commands">
      <input
        className="text big"
        value={words}
        data-first
        placeholder="A box, a command, a template, a file ..."
        aria-label="Search"
        role="combobox"
        aria-expanded
        aria-controls="found"
        aria-activedescendant={found.length ? `found-${at}` : undefined}
        onChange={(event) => {
          setWords(event.target.value);
          setAt(0);
        }}
        onKeyDown={(event) => {
          const step = event.key === "ArrowDown" ? 1 : event.key === "ArrowUp" ? -1 : 0;
          if (step) {
            event.preventDefault();
            setAt((at + step + found.length) % Math.max(1, found.length));
          }
          if (event.key === "Enter") {
            event.preventDefault(); // else Enter would also answer the question that the command asks
            run(found[at]?.command);
          }
        }}
        data-testid="commands-input"
      />
      <ul className="found" id="found" role="listbox" aria-label="Found">
        {found.map(({ command }, i) => (
          <li
            key={`${command.kind} ${command.words}`}
            id={`found-${i}`}
            role="option"
            aria-selected={i === at}
            className={i === at ? "on" : ""}
            onMouseEnter={() => setAt(i)}
            onClick={() => run(command)}
          >
            <span className="kind">{command.kind}</span>
            <strong>{command.words}</strong>
            <span className="soft clip">{command.hint}</span>
          </li>
        ))}
      </ul>
      {found.length === 0 && <p className="help">No matches.</p>}
    </Dialog>
  );
}
