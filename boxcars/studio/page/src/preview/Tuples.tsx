/** The tuples on the selected arc, or of an output. */

import { useState } from "react";
import { useShallow } from "zustand/react/shallow";

import { ExprField } from "../fields/ExprField";
import { parseArc } from "../model/network";
import { selectArc, useDoc } from "../state/doc";
import { useFlow } from "../state/flow";
import { keepAsTest, putStop, usePreview } from "../state/preview";
import { Button } from "../ui/controls";
import { plural } from "../ui/format";
import { OneOf } from "../ui/OneOf";
import { Table } from "../ui/Table";

export function Tuples() {
  const chosen = useDoc((state) => state.arc);
  const edge = useFlow((state) => state.edges.find((e) => e.id === chosen));
  const [preview, stops, busy] = usePreview(useShallow((s) => [s.preview, s.stops, s.busy]));
  const outputs = Object.keys(preview?.outputs ?? {});
  const [output, setOutput] = useState<string | null>(null);
  const shown = output !== null && outputs.includes(output) ? output : outputs[0];
  const arc = edge?.data?.flat;
  const rows =
    arc !== undefined
      ? preview?.arcs[arc]
      : shown === undefined
        ? undefined
        : preview?.outputs[shown];
  const isStop = arc !== undefined && arc in stops;
  return (
    <section className="dock open tuples" aria-label="Tuples">
      <div className="dock-tabs">
        <OneOf
          label="Outputs"
          look="plain"
          panel="tuples-panel"
          value={arc === undefined ? (shown ?? null) : null}
          options={outputs.map((value) => ({
            value,
            label: (
              <>
                {value} <span className="count plain">{preview?.outputs[value]?.total}</span>
              </>
            ),
          }))}
          onChange={(name) => {
            selectArc(null);
            setOutput(name);
          }}
          testId="tuples"
        />
        {arc !== undefined && <strong className="of-arc">arc {edge?.data?.text}</strong>}
        <span className="grow" />
        {rows && (
          <span className="soft">
            {plural(rows.total, "tuple")}
            {rows.fresh > 0 && `, ${rows.fresh} new`}
            {rows.total > rows.rows.length && `, the last ${rows.rows.length} shown`}
          </span>
        )}
        {preview && arc === undefined && (
          <Button
            label="Save as test"
            icon="test"
            kind="ghost"
            title="Save the data and its results as a unit test"
            disabled={busy}
            onClick={keepAsTest}
            testId="keep-test"
          />
        )}
        {arc !== undefined && (
          <Button
            label={isStop ? "Remove breakpoint" : "Breakpoint"}
            icon="dot"
            kind="ghost"
            pressed={isStop}
            onClick={() => putStop(arc, isStop ? null : "")}
            testId="breakpoint"
          />
        )}
      </div>
      {arc !== undefined && isStop && (
        <div className="bar stop-where">
          <span>Stop when</span>
          <ExprField
            value={stops[arc] ?? ""}
            onChange={(where) => putStop(arc, where)}
            label="breakpoint condition"
            box={parseArc(edge?.data?.text ?? "").source}
            hint="any tuple arrives, or a condition such as speed > 110"
            testId="stop-where"
          />
        </div>
      )}
      <div
        className="dock-body"
        id="tuples-panel"
        role="tabpanel"
        aria-label={arc === undefined ? (shown ?? "Tuples") : `arc ${edge?.data?.text ?? ""}`}
      >
        <Table
          rows={rows?.rows ?? []}
          freshFrom={rows ? rows.rows.length - rows.fresh : Infinity}
          label="Tuples"
          testId="tuples-table"
          empty={
            preview
              ? "No tuples here yet. Step, or click another arrow."
              : "Step to count the tuples on each arrow; click an arrow to see them."
          }
        />
      </div>
    </section>
  );
}
