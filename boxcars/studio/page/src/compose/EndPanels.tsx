/** The panels of inputs and outputs. */

import { useProblems } from "../fields/context";
import { JsonField } from "../fields/JsonField";
import { asMap } from "../fields/plain";
import { SchemaField } from "../fields/SchemaField";
import { putInput, putOutput } from "../model/edit";
import { ARRIVAL, namesOf, nameOf, parseArc, type InputBlock } from "../model/network";
import { removeSelected } from "../state/actions";
import { changeBody, openBody, useDoc } from "../state/doc";
import { schemaOf } from "../fields/context";
import { Badge } from "../ui/Badge";
import { Button, Labelled, NumberField, Select, Wrongs } from "../ui/controls";
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

/** What moves time on, and what that means; `arrival` is the choice of `ts: arrival`. */
const CLOCKS = {
  event: ["the tuples", "Time goes on with the tuples only."],
  wall: ["wall clock", "Time also goes on while a live source is silent, so that windows close."],
  arrival: ["arrival", "The run stamps tuples as they enter; time goes on in silence."],
} as const;
type Clock = keyof typeof CLOCKS;
const CLOCK_NAMES = Object.keys(CLOCKS) as Clock[];

function ClockField({
  block,
  onChange,
}: {
  block: InputBlock;
  onChange: (to: InputBlock) => void;
}) {
  const fields = asMap(block.fields);
  const clock: Clock = isStamped(block) ? "arrival" : block.clock === "wall" ? "wall" : "event";
  const choose = (to: Clock) => {
    const { clock: _, ...rest } = block;
    const ts = isStamped(block) ? (likely(fields) ?? Object.keys(fields)[0] ?? "") : block.ts;
    onChange({ ...rest, ts: to === "arrival" ? ARRIVAL : ts, ...(to === "wall" && { clock: to }) });
  };
  return (
    <Labelled label="clock" help={CLOCKS[clock][1]}>
      {(id) => (
        <Select
          id={id}
          value={clock}
          options={CLOCK_NAMES.filter((name) => name !== "arrival" || !(ARRIVAL in fields)).map(
            (value) => ({ value, label: CLOCKS[value][0] }),
          )}
          onChange={choose}
          testId="input-clock"
        />
      )}
    </Labelled>
  );
}

const isStamped = (block: InputBlock) => block.ts === ARRIVAL && !(ARRIVAL in asMap(block.fields));

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
        help="Where tuples enter. Their source is set when the network is run."
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
                const kept = isStamped(block) || (block.ts && block.ts in next);
                const ts = kept ? block.ts : followed(fields, next, block.ts);
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
          <Labelled
            label="idle"
            help="Seconds until a silent source stops holding back the others."
          >
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
        <ClockField block={block} onChange={put} />
      </div>
    </>
  );
}

/** The new name of the order attribute, if it was renamed; else a likely replacement. */
function followed(
  old: Record<string, string>,
  next: Record<string, string>,
  ts: string | undefined,
): string | undefined {
  const at = Object.keys(old).indexOf(ts ?? "");
  const names = Object.keys(next);
  if (at >= 0 && names.length === Object.keys(old).length) return names[at];
  return likely(next);
}

/** The field that is most likely a time. */
const likely = (fields: Record<string, string>): string | undefined =>
  Object.keys(fields).find((name) => fields[name] === "timestamp" || /time|ts/i.test(name));

export function OutputPanel({ id }: { id: string }) {
  const name = nameOf(id);
  const block = useDoc((state) => openBody(state).outputs?.[name]);
  const problems = useProblems(id);
  if (!block) return null;
  const others = new Set(Object.keys(openBody(useDoc.getState()).outputs ?? {}));
  const schema = block.from ? schemaOf(parseArc(block.from)) : undefined;
  const declare = () =>
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
        help="Where results leave. Their sink is set when the network is run."
      />
      <div className="side-body padded">
        <Wrongs messages={[...new Set(problems.map((problem) => problem.message))]} />
        <NameField id={id} name={name} others={others} />
        <section>
          <h3>Input</h3>
          <Reads id={id} />
        </section>
        <Labelled
          label="QoS"
          help="Utility of a result by its latency in seconds, and by the share delivered."
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
        <Labelled
          label="declared fields"
          help="The schema that consumers rely on; the check enforces it."
        >
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
              <button type="button" className="add-row" onClick={declare} disabled={!schema}>
                Declare the current fields
              </button>
            )
          }
        </Labelled>
      </div>
    </>
  );
}
