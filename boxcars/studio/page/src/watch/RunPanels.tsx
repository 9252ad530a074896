/** The panels below the drawing of a run: results, all boxes, an arc, events, the log. */

import { useEffect, useState } from "react";
import { useShallow } from "zustand/react/shallow";

import { api } from "../api/client";
import type { Row, Run } from "../api/types";
import type { Live } from "../state/live";
import { isOver, useRuns, type WatchTab } from "../state/runs";
import { boxesOf } from "../state/series";
import { short } from "../ui/format";
import { OneOf } from "../ui/OneOf";
import { Table } from "../ui/Table";
import { Events } from "./Events";
import { Overview } from "./Overview";

const TABS: { value: WatchTab; label: string }[] = [
  { value: "results", label: "Overview" },
  { value: "boxes", label: "Boxes" },
  { value: "arc", label: "Arc" },
  { value: "events", label: "Events" },
  { value: "log", label: "Log" },
];

const SPANS = [
  { value: "60", label: "1 min" },
  { value: "300", label: "5 min" },
  { value: "0", label: "all" },
];

export function RunPanels({ run, live }: { run: Run; live: Live }) {
  const [tab, span] = useRuns(useShallow((s) => [s.tab, s.span]));
  return (
    <section className="dock open run-dock" aria-label="Run panels">
      <div className="dock-tabs">
        <OneOf
          label="Panels"
          look="plain"
          panel="run-panel"
          value={tab}
          options={TABS}
          onChange={(next) => useRuns.setState({ tab: next })}
          testId="watch"
        />
        <span className="grow" />
        <OneOf
          label="Time range of the charts"
          value={String(span)}
          options={SPANS}
          onChange={(next) => useRuns.setState({ span: Number(next) })}
          testId="span"
        />
      </div>
      <div
        className="dock-body"
        id="run-panel"
        role="tabpanel"
        aria-label={TABS.find(({ value }) => value === tab)?.label}
      >
        {tab === "results" && <Overview run={run} live={live} />}
        {tab === "boxes" && <Boxes live={live} over={isOver(run)} />}
        {tab === "arc" && <LastTuples run={run} />}
        {tab === "events" && <Events key={run.id} events={live.events} />}
        {tab === "log" && <Log run={run} />}
      </div>
    </section>
  );
}

const digits = (number: number | null): number | null =>
  number === null ? null : Number(number.toPrecision(4));

function Boxes({ live, over }: { live: Live; over: boolean }) {
  const now = (number: number | null) => (over ? null : digits(number));
  const rows: Row[] = Object.entries(boxesOf(live.stats)).map(([name, box]) => ({
    box: name,
    type: box.type,
    instances: box.pieces.length,
    "in/s": now(box.in_rate),
    "out/s": now(box.out_rate),
    "µs/tuple": digits(box.cost),
    "latency, s": digits(box.latency),
    CPU: now(box.cpu),
    share: digits(box.share),
    queue: box.queue,
    state: box.state_rows,
    late: box.late,
    in: box.tuples_in,
    out: box.tuples_out,
    "fused into": box.fused_into,
  }));
  return <Table rows={rows} label="All boxes" testId="boxes-table" empty="No statistics yet." />;
}

/** The last tuples of an arc, polled while they are shown. */
function LastTuples({ run }: { run: Run }) {
  const arc = useRuns((state) => state.arc);
  if (!arc) return <p className="help padded">Click an arrow to see its last tuples.</p>;
  return <ArcTuples key={`${run.id} ${arc.flat}`} id={run.id} flat={arc.flat} text={arc.text} />;
}

function ArcTuples({ id, flat, text }: { id: string; flat: string; text: string }) {
  const [rows, setRows] = useState<Row[] | null>(null);
  const [trouble, setTrouble] = useState("");
  useEffect(() => {
    let timer = 0;
    let mine = true;
    const look = () => {
      const again = () => {
        if (mine) timer = window.setTimeout(look, 1000);
      };
      api.arc(id, flat).then(
        (found) => {
          if (mine) setRows(found);
          if (mine) setTrouble("");
          again();
        },
        (error: unknown) => {
          if (mine) setTrouble(error instanceof Error ? error.message : "");
          again();
        },
      );
    };
    look();
    return () => {
      mine = false;
      window.clearTimeout(timer);
    };
  }, [id, flat]);
  return (
    <div className="results">
      <div className="bar">
        <strong>{text}</strong>
        <span className="soft">
          {trouble || (rows ? `the last ${short(rows.length)} tuples` : "loading ...")}
        </span>
      </div>
      <Table
        rows={(rows ?? []).toReversed()}
        label={`Tuples of ${text}`}
        testId="arc-table"
        empty={rows ? "No recent tuples." : "..."}
      />
    </div>
  );
}

function Log({ run }: { run: Run }) {
  const [lines, setLines] = useState<string[]>([]);
  const [id, state] = useRuns(
    useShallow((s) => [run.id, s.runs.find((r) => r.id === run.id)?.state]),
  );
  useEffect(() => {
    let mine = true;
    const look = () =>
      api.log(id).then(
        (found) => {
          if (mine) setLines(found);
        },
        () => undefined,
      );
    void look();
    const timer = window.setInterval(() => void look(), 2000);
    return () => {
      mine = false;
      window.clearInterval(timer);
    };
  }, [id, state]);
  return (
    <div className="log">
      <p className="help">
        <code>{run.command}</code>
      </p>
      <pre tabIndex={0} data-testid="log">
        {lines.join("\n")}
      </pre>
    </div>
  );
}
