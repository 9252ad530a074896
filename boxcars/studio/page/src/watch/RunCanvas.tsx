/** The network of a run, coloured by load. */

import { useEffect, useMemo, type ReactNode } from "react";
import { useShallow } from "zustand/react/shallow";

import type { Run } from "../api/types";
import { ReadCanvas } from "../canvas/ReadCanvas";
import { graphOf } from "../model/graph";
import { superboxesAt, bodyAt, type Network, type Scope } from "../model/network";
import { withPlaces } from "../state/actions";
import { useDoc } from "../state/doc";
import type { Live } from "../state/live";
import { overlay } from "../state/overlay";
import { isOver, useRuns } from "../state/runs";
import { complain } from "../state/studio";
import { marksOf, readersOf, restingMarks } from "./marks";

/** Positions for the boxes of a run: those of the drawing where the names match. */
async function findPlaces(id: string, network: Network, scope: Scope): Promise<void> {
  const { doc } = useDoc.getState();
  const known =
    useRuns.getState().places[id] ?? (doc.network.name === network.name ? doc.positions : {});
  const found = await withPlaces(network, known, scope);
  useRuns.setState((state) => ({ places: { ...state.places, [id]: found } }));
}

export function RunCanvas(props: { run: Run; live: Live; children?: ReactNode }) {
  const { run, live } = props;
  const [scope, places, box, arc] = useRuns(
    useShallow((s) => [s.scope, s.places[run.id], s.box, s.arc?.id]),
  );
  const text = JSON.stringify(run.network);
  const network = useMemo(() => JSON.parse(text) as Network, [text]);
  const readers = useMemo(() => readersOf(network), [network]);
  const over = isOver(run);
  useEffect(() => {
    findPlaces(run.id, network, scope).catch(complain);
  }, [run.id, network, scope]);
  useEffect(() => {
    if (live.stats) overlay((over ? restingMarks : marksOf)(live.stats, readers));
  }, [live.stats, readers, over]);
  const graph = useMemo(
    () => places && graphOf({ network, scope, positions: places, check: null }),
    [network, scope, places],
  );
  if (!graph) return null;
  const nodes = graph.nodes.map((node) => (node.id === box ? { ...node, selected: true } : node));
  const edges = graph.edges.map((edge) => (edge.id === arc ? { ...edge, selected: true } : edge));
  return (
    <ReadCanvas
      key={scope.map((step) => step.use).join("/")}
      nodes={nodes}
      edges={edges}
      onNode={(id) => useRuns.setState({ box: id, arc: null })}
      onArc={(edge) =>
        useRuns.setState({
          arc: { id: edge.id, flat: edge.data?.flat ?? "", text: edge.data?.text ?? "" },
          box: null,
          tab: "arc",
        })
      }
      onNothing={() => useRuns.setState({ box: null, arc: null })}
      onOpen={(id) => {
        const type = bodyAt(network, scope)?.boxes?.[id]?.type ?? "";
        if (superboxesAt(network, scope)[type])
          useRuns.setState({ scope: [...scope, { use: id, superbox: type }], box: null });
      }}
    >
      {props.children}
    </ReadCanvas>
  );
}
