/** The open superbox: its parameters, which each use may set. */

import { useShallow } from "zustand/react/shallow";

import { asText, parseJson, renameKey, withoutKey } from "../fields/plain";
import { bodyAt, freeName, nameTrouble, type Block, type Superbox } from "../model/network";
import { changeBody, leaveTo, useDoc } from "../state/doc";
import { Badge } from "../ui/Badge";
import { AddRow, CloseButton, Draft } from "../ui/controls";

function putParams(params: Block): void {
  changeBody((body) => {
    const { params: _, ...rest } = body as Superbox;
    return Object.keys(params).length ? { params, ...rest } : rest;
  });
}

export function ScopePanel() {
  const [network, scope] = useDoc(useShallow((s) => [s.doc.network, s.scope]));
  const inside = scope.at(-1);
  if (!inside) return null;
  const { params = {} } = (bodyAt(network, scope) ?? {}) as Superbox;
  return (
    <aside
      className="inspector side floating superbox"
      aria-label="Superbox"
      data-testid="scope-panel"
    >
      <header className="side-head">
        <Badge icon="⧉" />
        <div className="grow">
          <h2>{inside.superbox}</h2>
          <p className="help">A superbox. Changes here apply to all its uses.</p>
        </div>
        <CloseButton label="Leave" keys="Esc" onClick={() => leaveTo(scope.length - 1)} />
      </header>
      <div className="side-body padded">
        <section>
          <h3>Parameters</h3>
          <p className="help">
            In expressions, write a parameter as <code>$name</code>. A parameter without a default
            is required.
          </p>
          {Object.entries(params).map(([name, value], i) => (
            <div key={i} className="row-field named">
              <div className="row-name">
                <Draft
                  value={name}
                  mono
                  label="parameter name"
                  testId={`param-name-${i}`}
                  trouble={(to) =>
                    to !== name && to in params ? `'${to}' already exists.` : nameTrouble(to)
                  }
                  onDone={(to) => putParams(renameKey(params, name, to))}
                />
              </div>
              <div className="row-main">
                <Draft
                  value={value === null ? "" : asText(value)}
                  mono
                  label={`default of ${name}`}
                  placeholder="required"
                  testId={`param-default-${i}`}
                  onDone={(text) =>
                    putParams({ ...params, [name]: text === "" ? null : (parseJson(text) ?? text) })
                  }
                />
              </div>
              <CloseButton
                label={`Remove ${name}`}
                onClick={() => putParams(withoutKey(params, name))}
              />
            </div>
          ))}
          <AddRow
            label="Add a parameter"
            onClick={() =>
              putParams({ ...params, [freeName("limit", { has: (n) => n in params })]: null })
            }
            testId="add-param"
          />
        </section>
      </div>
    </aside>
  );
}
