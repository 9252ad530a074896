/** Saving, without a loss: what others have saved since is not replaced unseen. */

import { api, ApiError, type Opened } from "../api/client";
import { withPlaces } from "./actions";
import { ask } from "./asking";
import { checkNow } from "./check";
import { change, isOwn, markSaved, useDoc, type Doc } from "./doc";
import { compareWith, complain, openDialog, say, useStudio } from "./studio";

export const LAST = "boxcars.file";

/** Save under the name it has, or ask for one; whether it is saved now. */
export async function save(): Promise<boolean> {
  const { file } = useDoc.getState();
  if (file !== null) return saveAs(file);
  openDialog("save");
  return false;
}

let last: Promise<boolean> = Promise.resolve(true);

/** Save under a name, when what is being saved already is done: each has to know the version. */
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

/** Save if the file is as it is known; else the person says what is to be done. */
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
  if (choice === "reload" && there) await takeOver(file, there);
  if (choice === "compare") compareWith(file);
  return false;
}

const askChanged = (file: string, there: Opened | null): Promise<string | null> =>
  ask({
    title: `${file} was changed since you opened it`,
    words: [
      "It was saved from another tab or by another program. If you save now, those changes are lost.",
      there
        ? "If you take over the file, the drawing becomes what is in it; undo brings your changes back."
        : "What is in it now can't be read as a network.",
    ],
    choices: [
      ...(there
        ? [
            { key: "compare", label: "Compare" },
            { key: "reload", label: "Take over the file" },
          ]
        : []),
      { key: "save", label: "Save all the same", kind: "danger" },
    ],
  });

const askReplace = (file: string, there: Opened | null): Promise<string | null> =>
  ask({
    title: `Replace ${file}?`,
    words: [
      there
        ? `There is a file of this name already, with the network ${there.network.name}. If you replace it, that network is lost.`
        : "There is a file of this name already. If you replace it, what is in it is lost.",
    ],
    choices: [{ key: "save", label: "Replace it", kind: "danger" }],
  });

/** Let the drawing become what is in the file, as one step that can be undone. */
async function takeOver(file: string, there: Opened): Promise<void> {
  const positions = await withPlaces(there.network, there.positions);
  change(() => ({ network: there.network, positions }));
  markSaved(useDoc.getState().doc, file, there.version);
  if (useStudio.getState().dialog === "save") openDialog(null);
  checkNow();
}
