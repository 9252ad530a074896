/** The panels of inputs and outputs. */

import { useProblems } from "../fields/context";
import { JsonField } from "../fields/JsonField";
import { asMap } from "../fields/plain";
import { SchemaField } from "../fields/SchemaField";
import { putInput, putOutput } from "../model/edit";
import { namesOf, nameOf, parseArc, type InputBlock } from "../model/network";
import { removeSelected } from "../state/actions";
import { changeBody, openBody, useDoc } from "../state/doc";
import { schemaOf } from "../fields/context";
import { Badge } from "../ui/Badge";
import { Button, Labelled, NumberField, Wrongs } from "../ui/controls";
import { NameField } from "./BoxPanel";
import { Reads } from "./Reads";

function Head({
  tone,
  icon,
  title,
  help,
}: {
  tone: string;
  icon: string;
  title: string;
  help: string;
}) {
  return (
    <header className={`side-head ${tone}`}>
      <Badge icon={icon} />
      <div className="grow">
        <h2>{title}</h2>
        <p className="help">{help}</p>
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
  );
}

export function InputPanel({ name, block }: { name: string; block: InputBlock }) {
  const problems = useProblems(name);
  const put = (next: InputBlock, key = "") => changeBody((body) => putInput(body, name, next), key);
  const fields = asMap(block.fields);
  const number = (key: "slack" | "idle", value: number | null) => {
    const { [key]: _, ...rest } = block;
    put(value === null ? rest : { ...rest, [key]: value }, `${name}.${key}`);
  };
  return (
    <>
      <Head
        tone="input"
        icon="▶"
        title="input"
        help="Where tuples come in. Which file or queue they come from is said when it runs."
      />
      <div className="side-body padded">
        <Wrongs messages={[...new Set(problems.map((problem) => problem.message))]} />
        <NameField id={name} name={name} others={namesOf(openBody(useDoc.getState()))} />
        <Labelled label="fields" help="★ marks the order attribute, such as a time.">
          {() => (
            <SchemaField
              fields={fields}
              onChange={(next) => {
                const names = Object.keys(next);
                const ts =
                  block.ts && block.ts in next ? block.ts : followed(fields, next, block.ts);
                put({ ...block, ts: ts ?? names[0] ?? "", fields: next });
              }}
              marked={block.ts ? [block.ts] : []}
              mark="the order attribute"
              onMark={(ts) => put({ ...block, ts })}
            />
          )}
        </Labelled>
        <div className="pair">
          <Labelled label="slack" help="How late a tuple may be.">
            {(id) => (
              <NumberField
                id={id}
                value={block.slack ?? null}
                onChange={(value) => number("slack", value)}
                placeholder="0"
              />
            )}
          </Labelled>
          <Labelled label="idle" help="Seconds until a silent source holds nobody back.">
            {(id) => (
              <NumberField
                id={id}
                value={block.idle ?? null}
                onChange={(value) => number("idle", value)}
                placeholder="–"
              />
            )}
          </Labelled>
        </div>
      </div>
    </>
  );
}

/** The order attribute under its new name, if only that was changed. */
function followed(
  old: Record<string, string>,
  next: Record<string, string>,
  ts: string | undefined,
): string | undefined {
  const at = Object.keys(old).indexOf(ts ?? "");
  const names = Object.keys(next);
  if (at >= 0 && names.length === Object.keys(old).length) return names[at];
  return names.find((name) => next[name] === "timestamp" || /time|ts/i.test(name));
}

export function OutputPanel({ id }: { id: string }) {
  const name = nameOf(id);
  const block = useDoc((state) => openBody(state).outputs?.[name]);
  const problems = useProblems(id);
  if (!block) return null;
  const others = new Set(Object.keys(openBody(useDoc.getState()).outputs ?? {}));
  const schema = block.from ? schemaOf(parseArc(block.from)) : undefined;
  const promise = () =>
    changeBody((body) =>
      putOutput(body, name, {
        ...block,
        fields: Object.fromEntries((schema?.fields ?? []).map((f) => [f.name, f.type])),
      }),
    );
  return (
    <>
      <Head
        tone="output"
        icon="◀"
        title="output"
        help="Where results leave. Where they go to is said when it runs."
      />
      <div className="side-body padded">
        <Wrongs messages={[...new Set(problems.map((problem) => problem.message))]} />
        <NameField id={id} name={name} others={others} />
        <section>
          <h3>Reads</h3>
          <Reads id={id} />
        </section>
        <Labelled
          label="QoS"
          help="What a result is worth by its latency in seconds, and by the share delivered."
        >
          {(field) => (
            <JsonField
              id={field}
              value={block.qos}
              onChange={(qos) =>
                changeBody((body) => {
                  const { qos: _, ...rest } = block;
                  return putOutput(body, name, qos === undefined ? rest : { ...rest, qos });
                })
              }
              example={'{"latency": [[1, 1], [5, 0]]}'}
            />
          )}
        </Labelled>
        <Labelled label="promised fields" help="What readers rely on; the check keeps you to it.">
          {() =>
            block.fields ? (
              <SchemaField
                fields={asMap(block.fields)}
                onChange={(fields) =>
                  changeBody((body) => {
                    const { fields: _, ...rest } = block;
                    const some = Object.keys(fields).length > 0;
                    return putOutput(body, name, some ? { ...rest, fields } : rest);
                  })
                }
              />
            ) : (
              <button type="button" className="add-row" onClick={promise} disabled={!schema}>
                Promise the fields it has now
              </button>
            )
          }
        </Labelled>
      </div>
    </>
  );
}
