/** What happened in a run, newest first, and a filter by kind. */

import { useState } from "react";

import type { Event, Row } from "../api/types";
import { moment, plural, short } from "../ui/format";
import { Table } from "../ui/Table";
import { kindText } from "./eventKinds";

const COLUMNS = ["time", "epoch", "event", "box", "cause", "figures"];

const rowOf = (event: Event): Row => ({
  time: moment(event.at),
  epoch: event.epoch,
  event: kindText(event.kind),
  box: event.box,
  cause: event.cause,
  figures: Object.entries(event.figures)
    .map(([name, value]) => `${name} ${short(value)}`)
    .join(", "),
});

export function Events({ events }: { events: readonly Event[] }) {
  const [wanted, want] = useState<string | null>(null);
  const kinds = [...new Set(events.map(({ kind }) => kind))].toSorted();
  const chosen = wanted !== null && kinds.includes(wanted) ? wanted : null;
  const shown = events.filter(({ kind }) => chosen === null || kind === chosen);
  return (
    <div className="results events">
      <div className="bar" role="group" aria-label="Kind of events">
        {[null, ...kinds].map((kind) => (
          <button
            key={kind ?? ""}
            type="button"
            className={kind === chosen ? "chip on" : "chip"}
            aria-pressed={kind === chosen}
            onClick={() => want(kind)}
            data-testid={`events-${kind ?? "all"}`}
          >
            {kind === null ? "all" : kindText(kind)}
          </button>
        ))}
        <span className="soft" data-testid="events-total">
          {plural(shown.length, "event")}, newest first
        </span>
      </div>
      <Table
        rows={shown.toReversed().map(rowOf)}
        columns={COLUMNS}
        label="Events"
        testId="events-table"
        empty="No events yet."
      />
    </div>
  );
}
