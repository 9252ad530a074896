/** The panel of a box: parameters, inputs and outputs. */

import { useShallow } from "zustand/react/shallow";

import { useProblems } from "../fields/context";
import { asText } from "../fields/plain";
import { ParamField } from "../fields/ParamField";
import { putBox, swapReads } from "../model/edit";
import {
  namesOf,
  nameTrouble,
  readsOf,
  superboxesAt,
  type BoxBlock,
  type Plain,
} from "../model/network";
import { openInside, removeSelected, renameTo } from "../state/actions";
import { changeBody, openBody, useDoc } from "../state/doc";
import { useFlow } from "../state/flow";
import { usePalette } from "../state/palette";
import type { ParamInfo } from "../api/types";
import { Badge } from "../ui/Badge";
import { Button, Draft, Labelled, TextField, Wrongs } from "../ui/controls";
import { Fields } from "./Fields";
import { Reads } from "./Reads";

/** Set a parameter; undefined removes it. */
function put(name: string, key: string, value: Plain | undefined, typing = false): void {
  changeBody(
    (body) => {
      const box = body.boxes?.[name];
      if (!box) return body;
      const { [key]: _, ...rest } = box;
      return putBox(
        body,
        name,
        (value === undefined ? rest : { ...box, [key]: value }) as BoxBlock,
      );
    },
    typing ? `${name}.${key}` : "",
  );
}

export function NameField({ id, name, others }: { id: string; name: string; others: Set<string> }) {
  const trouble = (to: string) =>
    to !== name && others.has(to) ? `'${to}' already exists.` : nameTrouble(to);
  return (
    <Labelled label="name">
      {(field) => (
        <Draft
          id={field}
          value={name}
          trouble={trouble}
          onDone={(to) => renameTo(id, to)}
          testId="entity-name"
        />
      )}
    </Labelled>
  );
}

/** The declared parameters of a superbox, in the form of a box's parameters. */
function paramsOf(params: Record<string, Plain>): ParamInfo[] {
  return Object.entries(params).map(([key, value]) => ({
    key,
    doc: value === null ? "Required." : `Default: ${asText(value)}.`,
    kind: typeof value === "number" ? "float" : typeof value === "boolean" ? "bool" : "str",
    required: value === null,
    default: value,
    choices: null,
  }));
}

export function BoxPanel({ name, block }: { name: string; block: BoxBlock }) {
  const [network, scope] = useDoc(useShallow((s) => [s.doc.network, s.scope]));
  const info = usePalette((state) => state.types[block.type]);
  const ports = useFlow((state) => state.nodes.find((n) => n.id === name)?.data);
  const definition = superboxesAt(network, scope)[block.type];
  const problems = useProblems(name);
  const sources = readsOf(block);
  const params = definition ? paramsOf(definition.params ?? {}) : (info?.params ?? []);
  const keys = new Set(params.map((param) => param.key));
  const elsewhere = problems
    .filter((problem) => !problem.path.some((part) => keys.has(part)))
    .map((problem) => problem.message);
  const tables = Object.keys(network.tables ?? {});
  const known = ports ? [...ports.ports, ...ports.side] : [];
  return (
    <>
      <header className={`side-head ${ports?.tone ?? ""}`}>
        <Badge icon={ports?.icon ?? ""} />
        <div className="grow">
          <h2>{block.type}</h2>
          <p className="help">{definition ? "A superbox of this network." : info?.summary}</p>
        </div>
        <Button
          label="Delete"
          icon="trash"
          kind="ghost"
          iconOnly
          keys="Del"
          onClick={removeSelected}
        />
      </header>
      <div className="side-body padded">
        <Wrongs messages={[...new Set(elsewhere)]} />
        <NameField id={name} name={name} others={namesOf(openBody(useDoc.getState()))} />
        {definition && (
          <Button
            label="Open"
            icon="open"
            onClick={() => void openInside(name)}
            testId="open-inside"
          />
        )}
        {params.map((param) => (
          <ParamField
            key={param.key}
            box={name}
            param={param}
            value={block[param.key]}
            onChange={(value, typing) => put(name, param.key, value, typing)}
            problems={problems}
            tables={tables}
          />
        ))}
        {!definition && (
          <details>
            <summary>Deployment group</summary>
            <TextField
              value={block.group ?? ""}
              onChange={(group) => put(name, "group", group || undefined, true)}
              placeholder="group name"
              label="group"
              mono
            />
            <p className="help">Boxes in the same group run on the same machines.</p>
          </details>
        )}
        <section>
          <h3>
            Inputs
            {sources.length === 2 && (
              <Button
                label="Swap"
                icon="swap"
                kind="ghost"
                iconOnly
                title="Swap left and right"
                onClick={() => changeBody((body) => swapReads(body, name))}
                testId="swap"
              />
            )}
          </h3>
          <Reads id={name} />
        </section>
        <section>
          <h3>Outputs</h3>
          {known.map((port) => (
            <Fields
              key={port}
              arc={{ source: name, port }}
              title={known.length > 1 ? port : name}
            />
          ))}
        </section>
        {info && (
          <details>
            <summary>About {info.type}</summary>
            <p className="prose">{info.doc}</p>
            {info.paper && <p className="help">{info.paper}</p>}
            {info.example && <pre className="example">{info.example}</pre>}
          </details>
        )}
      </div>
    </>
  );
}
