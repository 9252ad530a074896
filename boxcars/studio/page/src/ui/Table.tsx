/** A virtualised table of tuples: only visible rows are rendered. */

import { useState, type ReactNode } from "react";

import type { Row } from "../api/types";
import { showValue } from "./format";

const HEIGHT = 24;
const SPARE = 8;

interface TableProps {
  rows: readonly Row[];
  columns?: readonly string[];
  /** Rows from here on are new. */
  freshFrom?: number;
  empty?: ReactNode;
  testId?: string;
  label: string;
}

export function columnsOf(rows: readonly Row[]): string[] {
  const names = new Set<string>();
  for (const row of rows.slice(0, 50)) for (const name of Object.keys(row)) names.add(name);
  return [...names];
}

export function Table(props: TableProps) {
  const { rows, freshFrom = Infinity } = props;
  const columns = props.columns?.length ? props.columns : columnsOf(rows);
  const [top, setTop] = useState(0);
  const [room, setRoom] = useState(400);
  const first = Math.max(0, Math.floor(top / HEIGHT) - SPARE);
  const last = Math.min(rows.length, Math.ceil((top + room) / HEIGHT) + SPARE);
  if (!rows.length && props.empty) return <div className="table-empty">{props.empty}</div>;
  return (
    <div
      className="table"
      tabIndex={0}
      role="region"
      aria-label={props.label}
      data-testid={props.testId}
      onScroll={(event) => {
        setTop(event.currentTarget.scrollTop);
        setRoom(event.currentTarget.clientHeight);
      }}
    >
      <table aria-rowcount={rows.length}>
        <thead>
          <tr>
            {columns.map((name) => (
              <th
                key={name}
                scope="col"
                className={typeof rows[0]?.[name] === "number" ? "number" : ""}
              >
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {first > 0 && (
            <tr aria-hidden="true" style={{ height: first * HEIGHT }}>
              <td colSpan={columns.length} />
            </tr>
          )}
          {rows.slice(first, last).map((row, i) => (
            <tr
              key={first + i}
              aria-rowindex={first + i + 1}
              className={first + i >= freshFrom ? "fresh" : ""}
            >
              {columns.map((name) => (
                <td key={name} className={typeof row[name] === "number" ? "number" : ""}>
                  {showValue(row[name])}
                </td>
              ))}
            </tr>
          ))}
          {last < rows.length && (
            <tr aria-hidden="true" style={{ height: (rows.length - last) * HEIGHT }}>
              <td colSpan={columns.length} />
            </tr>
          )}
        </tbody>
      </table>
    </div>
  );
}
