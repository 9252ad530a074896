/** The side panel: properties of the selection. */

import { useShallow } from "zustand/react/shallow";

import { bodyAt, kindOf } from "../model/network";
import { removeSelected } from "../state/actions";
import { useDoc } from "../state/doc";
import { useFlow } from "../state/flow";
import { Button } from "../ui/controls";
import { plural } from "../ui/format";
import { ArcPanel } from "./ArcPanel";
import { BoxPanel } from "./BoxPanel";
import { ScopePanel } from "./ScopePanel";
import { InputPanel, OutputPanel } from "./EndPanels";

export function Inspector() {
  const [network, scope, selection, arc] = useDoc(
    useShallow((s) => [s.doc.network, s.scope, s.selection, s.arc]),
  );
  const edge = useFlow((state) => state.edges.find((e) => e.id === arc));
  const body = bodyAt(network, scope) ?? network;
  const [id] = selection;
  let inside;
  if (edge) inside = <ArcPanel key={edge.id} edge={edge} />;
  else if (selection.length > 1) inside = <ManyPanel number={selection.length} />;
  else if (id === undefined) return <ScopePanel />;
  else {
    const kind = kindOf(body, id);
    if (kind === "input" && body.inputs?.[id])
      inside = <InputPanel key={id} name={id} block={body.inputs[id]} />;
    else if (kind === "output") inside = <OutputPanel key={id} id={id} />;
    else if (body.boxes?.[id]) inside = <BoxPanel key={id} name={id} block={body.boxes[id]} />;
  }
  return (
    <aside className="inspector side floating" aria-label="Properties" data-testid="inspector">
      {inside}
    </aside>
  );
}

function ManyPanel({ number }: { number: number }) {
  return (
    <>
      <header className="side-head">
        <h2>{plural(number, "item")} selected</h2>
      </header>
      <div className="side-body padded">
        <p className="help">
          Drag to move them together, Ctrl+C to copy, Ctrl+G to group them into a superbox.
        </p>
        <Button label="Delete" icon="trash" onClick={removeSelected} />
      </div>
    </>
  );
}
