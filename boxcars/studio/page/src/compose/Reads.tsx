/** The inputs of a box or an output: each arrow can be chosen here instead of drawn. */

import { schemaOf } from "../fields/context";
import { arcText, leadsTo } from "../model/edit";
import { arcKey, nameOf, parseArc, readsOf, type Arc, type Body } from "../model/network";
import { cut, join, reroute } from "../state/actions";
import { useCheck } from "../state/check";
import { openBody, useDoc } from "../state/doc";
import { useFlow } from "../state/flow";
import { Labelled, Select } from "../ui/controls";
import { Fields } from "./Fields";

const written = (text: string | null): string => (text === null ? "" : arcKey(parseArc(text)));

function readsAt(body: Body, id: string): (string | null)[] {
  const box = body.boxes?.[id];
  return box ? readsOf(box) : [body.outputs?.[nameOf(id)]?.from ?? null];
}

interface Choice {
  value: string;
  label: string;
  arc: Arc;
}

/** All arcs that may enter a box or output without closing a loop. */
function useChoices(id: string): Choice[] {
  const nodes = useFlow((state) => state.nodes);
  const body = useDoc(openBody);
  return nodes
    .filter((node) => !leadsTo(body, id, node.id))
    .flatMap(({ id: source, data }) =>
      [...data.ports, ...data.side].map((port) => {
        const arc = { source, port };
        return { value: arcKey(arc), label: arcText(arc, data.ports.length > 1), arc };
      }),
    );
}

const NOTHING = { value: "", label: "none" };

export function Reads({ id }: { id: string }) {
  useCheck((state) => state.answer);
  const data = useFlow((state) => state.nodes.find((node) => node.id === id)?.data);
  const reads = useDoc((state) => readsAt(openBody(state), id).map(written).join("\n")).split("\n");
  const choices = useChoices(id);
  if (!data) return null;
  const sources = data.many
    ? [...reads.filter(Boolean), ""]
    : data.inputs.map((_, i) => reads[i] ?? "");
  const choose = (index: number, text: string) => {
    const arc = choices.find((choice) => choice.value === text)?.arc;
    const edge = `${id}#${index}`;
    if (!arc) cut(edge);
    else if (sources[index]) reroute(edge, { ...arc, target: id, index });
    else join(arc.source, arc.port, id, index);
  };
  return sources.map((source, i) => (
    <div key={i} className="reads">
      <Labelled label={data.inputs[i] || (data.many && !source ? "another" : "from")}>
        {(field) => (
          <Select
            id={field}
            value={source}
            options={
              choices.some((choice) => choice.value === source)
                ? [NOTHING, ...choices]
                : [NOTHING, ...choices, ...(source ? [source] : [])]
            }
            onChange={(text) => choose(i, text)}
            testId={`read-${i}`}
          />
        )}
      </Labelled>
      {source && <Fields schema={schemaOf(parseArc(source))} />}
    </div>
  ));
}
