/** The open dialog, if any. */

import { openDialog, useStudio } from "../state/studio";
import { Dialog } from "../ui/Dialog";
import { KEYS } from "../state/keys";
import { usePalette } from "../state/palette";
import { Commands } from "./Commands";
import { DiffDialog } from "./DiffDialog";
import { Gallery } from "./Gallery";
import { OpenDialog, SaveDialog } from "./FileDialogs";
import { StartDialog } from "./StartDialog";

export const close = (): void => openDialog(null);

export function Dialogs() {
  const dialog = useStudio((state) => state.dialog);
  switch (dialog) {
    case "gallery":
      return <Gallery />;
    case "open":
      return <OpenDialog />;
    case "save":
      return <SaveDialog />;
    case "help":
      return <Help />;
    case "commands":
      return <Commands />;
    case "diff":
      return <DiffDialog />;
    case "start":
      return <StartDialog />;
    default:
      return null;
  }
}

function Help() {
  const about = usePalette((state) => state.about);
  return (
    <Dialog title="Keyboard shortcuts" onClose={close} testId="help-dialog">
      <dl className="keys">
        {KEYS.map(([keys, words]) => (
          <div key={keys}>
            <dt>
              <kbd>{keys}</kbd>
            </dt>
            <dd>{words}</dd>
          </div>
        ))}
      </dl>
      <p className="help">
        Boxcars {about?.version}, in {about?.folder}. Everything on this page can also be done on
        the command line: see <code>boxcars --help</code>. For the OpenAPI description, run{" "}
        <code>python -m boxcars.studio.api.openapi</code>.
      </p>
    </Dialog>
  );
}
