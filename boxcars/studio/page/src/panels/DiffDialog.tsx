/** Two versions of a network side by side in one drawing: added, removed, changed. */

import { ReactFlowProvider } from "@xyflow/react";
import { useEffect, useMemo, useState } from "react";

import { api } from "../api/client";
import type { Change, Diff, NetworkFile } from "../api/types";
import { ReadCanvas } from "../canvas/ReadCanvas";
import { Zoom } from "../canvas/Tools";
import { graphOf } from "../model/graph";
import type { Network, Positions } from "../model/network";
import { withPlaces } from "../state/actions";
import { useDoc } from "../state/doc";
import { clearOverlay, overlay, type BoxMark } from "../state/overlay";
import { complain, openDialog, useStudio } from "../state/studio";
import { Empty, Labelled, Select } from "../ui/controls";
import { Dialog } from "../ui/Dialog";

interface Version {
  network: Network;
  positions: Positions;
}

const SAVED = "last saved version";
const START = "version as opened";
const NOW = "current drawing";

/** The union of both versions: the new one, and the parts of the old one that it lacks. */
function both(before: Version, after: Version): Version {
  const [o, n] = [before.network, after.network];
  return {
    network: {
      name: n.name,
      inputs: { ...o.inputs, ...n.inputs },
      superboxes: { ...o.superboxes, ...n.superboxes },
      boxes: { ...o.boxes, ...n.boxes },
      outputs: { ...o.outputs, ...n.outputs },
    },
    positions: { ...before.positions, ...after.positions },
  };
}

function marksOf(changes: readonly Change[]): Record<string, BoxMark> {
  const marks: Record<string, BoxMark> = {};
  for (const change of changes) {
    const id = change.entity === "output" ? `-> ${change.name}` : change.name;
    marks[id] = { tone: change.kind };
  }
  return marks;
}

async function fetchVersion(choice: string): Promise<Version> {
  const { saved, past, doc } = useDoc.getState();
  if (choice === SAVED) return saved;
  if (choice === START) return past[0] ?? doc;
  if (choice === NOW) return doc;
  return api.open(choice);
}

export function DiffDialog() {
  const doc = useDoc((state) => state.doc);
  const file = useDoc((state) => state.file);
  const [files, setFiles] = useState<NetworkFile[]>([]);
  const against = useStudio((state) => state.against);
  const [choice, setChoice] = useState(against ?? (file === null ? START : SAVED));
  const [later, setLater] = useState(NOW);
  const [shown, setShown] = useState<{ version: Version; diff: Diff } | null>(null);
  useEffect(() => {
    api.networks().then(setFiles, complain);
    return clearOverlay;
  }, []);
  useEffect(() => {
    let mine = true;
    const compare = async () => {
      const [old, new_] = [await fetchVersion(choice), await fetchVersion(later)];
      const diff = await api.diff(old.network, new_.network);
      const version = both(old, new_);
      const positions = await withPlaces(version.network, version.positions);
      if (!mine) return;
      overlay({ boxes: marksOf(diff.changes), arcs: {} });
      setShown({ version: { ...version, positions }, diff });
    };
    compare().catch(complain);
    return () => {
      mine = false;
    };
  }, [choice, later, doc]);
  const graph = useMemo(
    () => shown && graphOf({ ...shown.version, scope: [], check: null }),
    [shown],
  );
  const named = files.map((f) => f.file);
  const options = [
    ...(file === null ? [] : [SAVED]),
    START,
    ...(against === null || named.includes(against) ? named : [against, ...named]),
  ];
  return (
    <Dialog title="Compare two versions" onClose={() => openDialog(null)} wide testId="diff-dialog">
      <div className="pair">
        <Labelled label="before">
          {(id) => (
            <Select
              id={id}
              value={choice}
              options={options}
              onChange={setChoice}
              testId="diff-old"
            />
          )}
        </Labelled>
        <Labelled label="after">
          {(id) => (
            <Select
              id={id}
              value={later}
              options={[NOW, ...options]}
              onChange={setLater}
              testId="diff-new"
            />
          )}
        </Labelled>
      </div>
      <div className="diff">
        <div className="diff-canvas canvas">
          {graph && (
            <ReactFlowProvider key={`${choice} ${later}`}>
              <ReadCanvas nodes={graph.nodes} edges={graph.edges} map={false} />
              <Zoom />
            </ReactFlowProvider>
          )}
          <p className="legend">
            <i className="added" /> added <i className="removed" /> removed{" "}
            <i className="changed" /> changed
          </p>
        </div>
        <ul className="changes" data-testid="changes">
          {shown?.diff.changes.length === 0 && <Empty title="No differences." />}
          {shown?.diff.changes.map((change) => (
            <li key={`${change.entity} ${change.name}`} className={change.kind}>
              <strong>
                {change.kind} {change.entity} {change.name}
              </strong>
              {change.lines.map((line, i) => (
                <code key={i}>{line}</code>
              ))}
            </li>
          ))}
        </ul>
      </div>
    </Dialog>
  );
}
