/** The fields of an arc, collapsed. */

import type { ArcSchema } from "../api/types";
import { schemaOf } from "../fields/context";
import type { Arc } from "../model/network";
import { useCheck } from "../state/check";
import { plural } from "../ui/format";

export function Fields(props: { title?: string; schema?: ArcSchema | undefined; arc?: Arc }) {
  useCheck((state) => state.answer);
  const schema = props.arc ? schemaOf(props.arc) : props.schema;
  const title = props.title && <code>{props.title}</code>;
  if (!schema?.fields.length)
    return (
      <p className="arc-line">
        {title} <span className="soft">fields not known yet</span>
      </p>
    );
  return (
    <details className="arc-fields">
      <summary>
        {title} <span className="soft">{plural(schema.fields.length, "field")}</span>
      </summary>
      <SchemaList schema={schema} />
    </details>
  );
}

export function SchemaList({ schema }: { schema: ArcSchema }) {
  return (
    <dl className="schema-list">
      {schema.fields.map((field) => (
        <div key={field.name}>
          <dt>
            {field.name}
            {field.name === schema.ts && (
              <span
                className="star"
                title={schema.ordered ? "the order attribute" : "the order attribute, not in order"}
              >
                {schema.ordered ? "★" : "?"}
              </span>
            )}
          </dt>
          <dd>{field.type}</dd>
        </div>
      ))}
    </dl>
  );
}
