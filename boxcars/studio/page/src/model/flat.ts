/** Flatten a network's superboxes: `nyse/cut` is the box `cut` in the use `nyse`. */

import {
  bodyAt,
  flatArc,
  flatName,
  parseArc,
  readsOf,
  superboxesAt,
  type BoxBlock,
  type Network,
  type OutputBlock,
  type Scope,
} from "./network";

export function flatten(network: Network): Network {
  const boxes: Record<string, BoxBlock> = {};
  const open = (scope: Scope): void => {
    if (scope.length > 20) return;
    const known = superboxesAt(network, scope);
    for (const [name, box] of Object.entries(bodyAt(network, scope)?.boxes ?? {})) {
      if (known[box.type]) {
        open([...scope, { use: name, superbox: box.type }]);
        continue;
      }
      const reads = readsOf(box).map((text) =>
        text === null ? null : flatArc(network, scope, parseArc(text)),
      );
      boxes[flatName(scope, name)] = { ...box, in: reads };
    }
  };
  open([]);
  const outputs = Object.entries(network.outputs ?? {}).map(([name, output]) => {
    const from = output.from ? flatArc(network, [], parseArc(output.from)) : null;
    return [name, { ...output, from }] as [string, OutputBlock];
  });
  return {
    name: network.name,
    ...(network.inputs && { inputs: network.inputs }),
    ...(network.tables && { tables: network.tables }),
    boxes,
    outputs: Object.fromEntries(outputs),
  };
}
