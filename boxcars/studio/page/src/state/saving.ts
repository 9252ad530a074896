/** Saving without data loss: a file that changed in the meantime is not overwritten unasked. */

import { api, ApiError, type Opened } from "../api/client";
import { withPlaces } from "./actions";
import { ask } from "./asking";
import { checkNow } from "./check";
import { change, isOwn, markSaved, useDoc, type Doc } from "./doc";
import { compareWith, complain, openDialog, say, useStudio } from "./studio";

export const LAST = "boxcars.file";

/** Save under the current name, or ask for one; returns whether it was saved. */
export async function save(): Promise<boolean> {
  const { file } = useDoc.getState();
  if (file !== null) return saveAs(file);
  openDialog("save");
  return false;
}

let last: Promise<boolean> = Promise.resolve(true);

/** Save under a name, after any save in progress: each needs the version that the last one wrote. */
export function saveAs(file: string): Promise<boolean> {
  last = last.then(async () => {
    const { doc, file: open, version } = useDoc.getState();
    try {
      return await saveOver(file, doc, file === open ? version : "");
    } catch (error) {
      complain(error);
      return false;
    }
  });
  return last;
}

/** Save if the file still has the known version; else ask the user. */
async function saveOver(file: string, doc: Doc, over: string | null): Promise<boolean> {
  try {
    const { file: before, origins } = useDoc.getState();
    const document = before === null ? (origins.find(isOwn) ?? "") : "";
    const { network, positions } = doc;
    const { version } = await api.save(file, { network, positions, over, document });
    markSaved(doc, file, version);
    sessionStorage.setItem(LAST, file);
    if (useStudio.getState().dialog === "save") openDialog(null);
    say(`Saved as ${file}.`, "good");
    return true;
  } catch (error) {
    if (!(error instanceof ApiError && error.status === 409)) throw error;
  }
  const there = await api.open(file).catch(() => null);
  const own = file === useDoc.getState().file;
  const choice = await (own ? askChanged(file, there) : askReplace(file, there));
  if (choice === "save") return saveOver(file, doc, there?.version ?? null);
  if (choice === "reload" && there) await reload(file, there);
  if (choice === "compare") compareWith(file);
  return false;
}

const askChanged = (file: string, there: Opened | null): Promise<string | null> =>
  ask({
    title: `${file} has changed since you opened it`,
    words: [
      "It was saved from another tab or by another program. If you save now, those changes are lost.",
      there
        ? "If you reload the file, it replaces the drawing; undo restores your changes."
        : "The file can't be read as a network now.",
    ],
    choices: [
      ...(there
        ? [
            { key: "compare", label: "Compare" },
            { key: "reload", label: "Reload the file" },
          ]
        : []),
      { key: "save", label: "Save anyway", kind: "danger" },
    ],
  });

const askReplace = (file: string, there: Opened | null): Promise<string | null> =>
  ask({
    title: `Replace ${file}?`,
    words: [
      there
        ? `This file already exists, with the network ${there.network.name}. If you replace it, that network is lost.`
        : "This file already exists. If you replace it, its content is lost.",
    ],
    choices: [{ key: "save", label: "Replace", kind: "danger" }],
  });

/** Replace the drawing by the content of the file, as one undo step. */
async function reload(file: string, there: Opened): Promise<void> {
  const positions = await withPlaces(there.network, there.positions);
  change(() => ({ network: there.network, positions }));
  markSaved(useDoc.getState().doc, file, there.version);
  if (useStudio.getState().dialog === "save") openDialog(null);
  checkNow();
}
