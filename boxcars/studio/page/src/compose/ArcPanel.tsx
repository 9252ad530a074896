/** The panel of an arc: its fields and its connection point. */

import { schemaOf } from "../fields/context";
import type { ArcEdge } from "../model/graph";
import { nameTrouble, freeName, parseArc, type PointBlock } from "../model/network";
import { removeSelected } from "../state/actions";
import { useCheck } from "../state/check";
import { changeBody, openBody, useDoc } from "../state/doc";
import { Button, Draft, Labelled, NumberField } from "../ui/controls";
import { SchemaList } from "./Fields";

function putPoint(name: string, point: PointBlock | null, key = ""): void {
  changeBody((body) => {
    const { [name]: _, ...rest } = body.connection_points ?? {};
    const points = point ? { ...body.connection_points, [name]: point } : rest;
    const { connection_points: __, ...without } = body;
    return Object.keys(points).length ? { ...without, connection_points: points } : without;
  }, key);
}

function renamePoint(name: string, to: string, point: PointBlock): void {
  changeBody((body) => {
    const { [name]: _, ...rest } = body.connection_points ?? {};
    return { ...body, connection_points: { ...rest, [to]: point } };
  });
}

export function ArcPanel({ edge }: { edge: ArcEdge }) {
  useCheck((state) => state.answer);
  const data = edge.data;
  const points = useDoc((state) => openBody(state).connection_points);
  if (!data) return null;
  const schema = schemaOf(parseArc(data.text));
  const point = data.point ? points?.[data.point] : undefined;
  return (
    <>
      <header className="side-head">
        <div className="grow">
          <h2>
            {data.text} → {edge.target.replace(/^-> /, "")}
          </h2>
          <p className="help">An arrow. Drag either end to reconnect it.</p>
        </div>
        <Button
          label="Delete"
          icon="trash"
          kind="ghost"
          iconOnly
          keys="Del"
          onClick={removeSelected}
          testId="delete-arc"
        />
      </header>
      <div className="side-body padded">
        <section>
          <h3>Fields</h3>
          {schema ? (
            <SchemaList schema={schema} />
          ) : (
            <p className="help">Fields not known yet: fix the problems upstream.</p>
          )}
        </section>
        <section>
          <h3>Connection point</h3>
          {point ? (
            <>
              <Labelled label="name">
                {(id) => (
                  <Draft
                    id={id}
                    value={data.point}
                    trouble={nameTrouble}
                    testId="point-name"
                    onDone={(to) => renamePoint(data.point, to, point)}
                  />
                )}
              </Labelled>
              <div className="pair">
                <Labelled label="retained time">
                  {(id) => (
                    <NumberField
                      id={id}
                      value={point.time ?? null}
                      placeholder="–"
                      onChange={(time) => {
                        const { time: _, ...rest } = point;
                        putPoint(data.point, time === null ? rest : { ...rest, time }, "point");
                      }}
                    />
                  )}
                </Labelled>
                <Labelled label="retained tuples">
                  {(id) => (
                    <NumberField
                      id={id}
                      value={point.tuples ?? null}
                      placeholder="–"
                      testId="point-tuples"
                      onChange={(tuples) => {
                        const { tuples: _, ...rest } = point;
                        putPoint(data.point, tuples === null ? rest : { ...rest, tuples }, "point");
                      }}
                    />
                  )}
                </Labelled>
              </div>
              <Button label="Remove" icon="close" onClick={() => putPoint(data.point, null)} />
            </>
          ) : (
            <>
              <p className="help">
                Retains the last tuples of this arrow, so that they can be queried later.
              </p>
              <Button
                label="Retain tuples"
                icon="plus"
                onClick={() =>
                  putPoint(freeName("recent", { has: (n) => n in (points ?? {}) }), {
                    arc: data.text,
                    tuples: 1000,
                  })
                }
                testId="add-point"
              />
            </>
          )}
        </section>
      </div>
    </>
  );
}
