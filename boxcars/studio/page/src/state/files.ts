/** Opening and saving: files of the studio's folder, of the person's own machine, templates. */

import { api, type Opened } from "../api/client";
import type { ReadFormat, WriteFormat } from "../api/types";
import { withPlaces } from "./actions";
import { checkNow } from "./check";
import { change, isDirty, load, markSaved, useDoc, type Doc } from "./doc";
import { complain, openDialog, openDock, say, setMode, useStudio } from "./studio";

const LAST = "boxcars.file";
const DRAFT = "boxcars.draft";

/** Show what was opened; everything in it gets a place. */
async function show(opened: Opened, file: string | null): Promise<void> {
  const positions = await withPlaces(opened.network, opened.positions);
  load({ network: opened.network, positions }, file);
  if (file === null) sessionStorage.removeItem(LAST);
  else sessionStorage.setItem(LAST, file);
  openDialog(null);
  setMode("compose");
  checkNow();
  if (opened.problems.length) openDock("problems");
}

/** Leave the drawing only if it is saved or as it was opened, or the person does not mind. */
export function mayLeave(): boolean {
  const state = useDoc.getState();
  const empty = Object.keys(state.doc.network).length <= 1;
  return (
    !isDirty(state) ||
    !state.past.length ||
    empty ||
    window.confirm("The drawing has changes that are not saved. Leave it all the same?")
  );
}

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
  attempt(async () => show(await api.open(file), file));

export const openTemplate = (name: string): Promise<boolean> =>
  attempt(async () => show(await api.template(name), null));

export function openNew(): void {
  load({ network: { name: "untitled" }, positions: {} }, null);
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

/** Open a file of the person's machine. */
export const openUpload = (file: File): Promise<boolean> =>
  attempt(async () => {
    const format = FORMATS[file.name.split(".").at(-1)?.toLowerCase() ?? ""];
    if (!format)
      throw new Error(`${file.name} is no network file: choose a YAML, JSON or XML file.`);
    const name = file.name.replace(/\.[^.]+$/, "");
    await show(await api.read(await file.text(), format, name), null);
  });

/** Keep what is not saved in this tab, so that loading the page again loses nothing. */
function keepDraft(): void {
  const state = useDoc.getState();
  if (isDirty(state) && state.past.length)
    sessionStorage.setItem(DRAFT, JSON.stringify({ doc: state.doc, file: state.file }));
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
  const { doc, file } = JSON.parse(text) as { doc: Doc; file: string | null };
  load(doc, file);
  change((same) => ({ ...same }));
  openDialog(null);
  checkNow();
  return true;
}

/** Open what was open before the page was loaded again, or what the studio was started with. */
export async function openLast(preferred: string | null): Promise<void> {
  if (takeDraft()) return;
  const file = sessionStorage.getItem(LAST) ?? preferred;
  if (file !== null && !(await openFile(file))) sessionStorage.removeItem(LAST);
}

/** Save under the name it has, or ask for one. */
export async function save(): Promise<void> {
  const { file } = useDoc.getState();
  if (file === null) openDialog("save");
  else await saveAs(file);
}

export const saveAs = (file: string): Promise<boolean> =>
  attempt(async () => {
    const { doc } = useDoc.getState();
    await api.save(file, doc.network, doc.positions);
    markSaved(doc, file);
    sessionStorage.setItem(LAST, file);
    if (useStudio.getState().dialog === "save") openDialog(null);
    say(`Saved as ${file}.`, "good");
  });

/** Hand a text to the person as a file. */
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
