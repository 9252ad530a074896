/** Sources, sinks and databases: an address for each input, output and table. */

import { useDoc } from "../state/doc";
import { setLaunch, useLaunch } from "../state/launch";
import { usePalette } from "../state/palette";
import { Labelled, TextField } from "../ui/controls";

export function Addresses() {
  const network = useDoc((state) => state.doc.network);
  const { sources, sinks, tables } = useLaunch();
  const connectors = usePalette((state) => state.palette?.connectors ?? []);
  const froms = connectors.filter((c) => c.source).map((c) => c.example);
  const tos = connectors.filter((c) => c.sink).map((c) => c.example);
  return (
    <>
      {Object.keys(network.inputs ?? {}).map((name) => (
        <Labelled key={name} label={`from → ${name}`}>
          {(id) => (
            <TextField
              id={id}
              value={sources[name] ?? ""}
              onChange={(to) => setLaunch({ sources: { ...sources, [name]: to } })}
              list={froms}
              placeholder="inject: tuples are sent from this page"
              mono
              testId={`source-${name}`}
            />
          )}
        </Labelled>
      ))}
      {Object.keys(network.outputs ?? {}).map((name) => (
        <Labelled key={name} label={`${name} → to`}>
          {(id) => (
            <TextField
              id={id}
              value={sinks[name] ?? ""}
              onChange={(to) => setLaunch({ sinks: { ...sinks, [name]: to } })}
              list={tos}
              placeholder="live: results are shown on this page"
              mono
              testId={`sink-${name}`}
            />
          )}
        </Labelled>
      ))}
      {Object.keys(network.tables ?? {}).map((name) => (
        <Labelled key={name} label={`table ${name}`}>
          {(id) => (
            <TextField
              id={id}
              value={tables[name] ?? ""}
              onChange={(to) => setLaunch({ tables: { ...tables, [name]: to } })}
              placeholder="empty, or cards.csv, sqlite:///cards.db ..."
              mono
            />
          )}
        </Labelled>
      ))}
    </>
  );
}
