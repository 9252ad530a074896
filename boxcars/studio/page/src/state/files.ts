/** Open, leave and download: files in the studio's folder or on the user's computer, templates. */

import { api, type Opened } from "../api/client";
import type { ReadFormat, WriteFormat } from "../api/types";
import { withPlaces } from "./actions";
import { ask } from "./asking";
import { checkNow } from "./check";
import { change, hasWork, isDirty, load, newOrigin, useDoc, type Doc, type Home } from "./doc";
import { LAST, save } from "./saving";
import { complain, openDialog, openDock, setMode } from "./studio";
import { hasUnsavedTests, keepTests } from "./tests";

const DRAFT = "boxcars.draft";

/** Show an opened document, with positions for all its items. */
async function show(opened: Opened, file: string | null, origin: string): Promise<void> {
  const positions = await withPlaces(opened.network, opened.positions);
  load(
    { network: opened.network, positions },
    { file, version: opened.version, origins: [origin] },
  );
  if (file === null) sessionStorage.removeItem(LAST);
  else sessionStorage.setItem(LAST, file);
  openDialog(null);
  setMode("compose");
  checkNow();
  if (opened.problems.length) openDock("problems");
}

/** Whether the drawing may be left: nothing is lost, or the user confirms. */
async function mayLeave(): Promise<boolean> {
  await keepTests();
  const state = useDoc.getState();
  if (!hasWork(state) && !hasUnsavedTests()) return true;
  const choice = await ask({
    title: "Leave without saving?",
    words: [
      hasWork(state)
        ? `The drawing ${state.doc.network.name} has unsaved changes. They are lost if you leave it.`
        : `The tests of ${state.doc.network.name} are not saved in a file yet. They are lost if you leave it.`,
    ],
    choices: [
      { key: "leave", label: "Leave without saving", kind: "danger" },
      ...(state.file === null
        ? []
        : [{ key: "save", label: "Save first", kind: "primary" as const }]),
    ],
    stay: "Stay here",
  });
  return choice === "leave" || (choice === "save" && (await save()));
}

/** Show another drawing, if this one may be left. */
export async function leaveFor(work: () => unknown): Promise<void> {
  if (await mayLeave()) await work();
}

window.addEventListener("beforeunload", (event) => {
  keepDraft();
  if (hasWork(useDoc.getState()) || hasUnsavedTests()) event.preventDefault();
});

async function attempt(work: () => Promise<void>): Promise<boolean> {
  try {
    await work();
    return true;
  } catch (error) {
    complain(error);
    return false;
  }
}

export const openFile = (file: string): Promise<boolean> =>
  attempt(async () => show(await api.open(file), file, file));

export const openTemplate = (name: string): Promise<boolean> =>
  attempt(async () => show(await api.template(name), null, `template ${name}`));

export function openNew(): void {
  const home = { file: null, version: "", origins: [newOrigin()] };
  load({ network: { name: "untitled" }, positions: {} }, home);
  sessionStorage.removeItem(LAST);
  openDialog(null);
  setMode("compose");
}

const FORMATS: Record<string, ReadFormat> = {
  yaml: "yaml",
  yml: "yaml",
  json: "json",
  xml: "xml",
  py: "py",
};

/** Open a file from the user's computer. */
export const openUpload = (file: File): Promise<boolean> =>
  attempt(async () => {
    const format = FORMATS[file.name.split(".").at(-1)?.toLowerCase() ?? ""];
    if (!format)
      throw new Error(`${file.name} is not a network file: choose a YAML, JSON or XML file.`);
    const name = file.name.replace(/\.[^.]+$/, "");
    await show(await api.read(await file.text(), format, name), null, newOrigin());
  });

interface DraftDoc extends Home {
  doc: Doc;
}

const draftOf = ({ doc, file, version, origins }: DraftDoc): DraftDoc => ({
  doc,
  file,
  version,
  origins,
});

/** Store unsaved changes in this tab, so that reloading the page loses nothing. */
function keepDraft(): void {
  const state = useDoc.getState();
  if (isDirty(state) && state.past.length)
    sessionStorage.setItem(DRAFT, JSON.stringify(draftOf(state)));
  else sessionStorage.removeItem(DRAFT);
}

let timer = 0;
useDoc.subscribe(() => {
  window.clearTimeout(timer);
  timer = window.setTimeout(keepDraft, 500);
});

function takeDraft(): boolean {
  const text = sessionStorage.getItem(DRAFT);
  if (text === null) return false;
  const { doc, ...home } = JSON.parse(text) as DraftDoc;
  load(doc, home);
  change((same) => ({ ...same }));
  openDialog(null);
  checkNow();
  return true;
}

/** Open what was open before the reload, or the file that the studio was started with. */
export async function openLast(preferred: string | null): Promise<void> {
  if (takeDraft()) return;
  const file = sessionStorage.getItem(LAST) ?? preferred;
  if (file !== null && !(await openFile(file))) sessionStorage.removeItem(LAST);
}

/** Download a text as a file. */
export function offer(text: string, name: string): void {
  const address = URL.createObjectURL(new Blob([text], { type: "text/plain" }));
  const link = document.createElement("a");
  link.href = address;
  link.download = name;
  link.click();
  window.setTimeout(() => URL.revokeObjectURL(address), 10_000);
}

const ENDINGS: Partial<Record<WriteFormat, string>> = { mermaid: "mmd", text: "txt" };

export const download = (format: WriteFormat): Promise<boolean> =>
  attempt(async () => {
    const { doc } = useDoc.getState();
    const text = await api.write(doc.network, format, doc.positions);
    offer(text, `${doc.network.name}.${ENDINGS[format] ?? format}`);
  });
