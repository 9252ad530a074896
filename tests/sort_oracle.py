"""The boxes that sort, wait and resample, one tuple at a time, from their definitions."""

from collections.abc import Callable
from typing import Any

from tests.aggregate_oracle import FUNCTIONS, Fields, key_of, sortable
from tests.expression_oracle import is_nan

Row = dict[str, Any]


def has_no_place(value: Any) -> bool:
    return value is None or is_nan(value)


def bsort_slack(rows: list[Row], by: str, slack: Any) -> tuple[list[Row], list[Row]]:
    """In order and late: late is who is more than the slack behind the greatest before it."""
    kept: list[Row] = []
    late: list[Row] = []
    greatest = None
    for row in rows:
        if has_no_place(row[by]) or (greatest is not None and row[by] < greatest - slack):
            late.append(row)
            continue
        greatest = row[by] if greatest is None else max(greatest, row[by])
        kept.append(row)
    return sorted(kept, key=lambda row: row[by]), late


def bsort_tuples(rows: list[Row], by: str, tuples: int) -> tuple[list[Row], list[Row]]:
    """In order and late: when the buffer holds more than so many tuples, the least leaves."""
    buffer: list[Row] = []
    left: list[Row] = []
    late: list[Row] = []
    for row in rows:
        if has_no_place(row[by]) or (left and row[by] < left[-1][by]):
            late.append(row)
            continue
        buffer.append(row)
        if len(buffer) > tuples:
            least = min(buffer, key=lambda row: row[by])  # the first of several
            buffer = [other for other in buffer if other is not least]
            left.append(least)
    return left + sorted(buffer, key=lambda row: row[by]), late


def waitfor(
    left: list[Row], right: list[Row], holds: Callable[[Row, Row], bool | None], timeout: Any
) -> tuple[list[Row], list[Row]]:
    """Let go and discarded, event by event; at equal times left comes first."""
    events = [(row["t"], 0, row) for row in left] + [(row["t"], 1, row) for row in right]
    events.sort(key=lambda event: event[:2])
    waiting: list[Row] = []
    released: list[Row] = []
    discarded: list[Row] = []
    for now, side, row in events:
        for old in [old for old in waiting if old["t"] + timeout <= now]:
            discarded.append({**old, "t": old["t"] + timeout})
            waiting.remove(old)
        if side == 0:
            waiting.append(row)
            continue
        for old in [old for old in waiting if holds(old, row) is True]:
            released.append({**old, "t": now})
            waiting.remove(old)
    return released, discarded + [{**old, "t": old["t"] + timeout} for old in waiting]


def wsort(
    rows: list[Row], by: list[str], timeout: Any, end: Any
) -> tuple[list[Row], list[Row], list[Row]]:
    """What left at timeouts up to ``end``, what is lost, and what waits then, in order."""

    def key(row: Row) -> tuple[Any, ...]:
        return sortable(key_of(row, by))

    waiting: list[Row] = []
    emitted: list[Row] = []
    lost: list[Row] = []
    last: list[Row] = []
    moment = (rows[0]["t"] // timeout) * timeout if rows else 0

    def pass_time(now: Any) -> None:
        nonlocal moment
        while moment + timeout <= now:
            moment += timeout
            if waiting:
                least = min(waiting, key=key)
                waiting.remove(least)
                emitted.append({**least, "t": moment})
                last[:] = [least]

    for row in rows:
        pass_time(row["t"])
        if last and key(row) < key(last[0]):
            lost.append(row)
        else:
            waiting.append(row)
    if rows:
        pass_time(end)
    return emitted, lost, sorted(waiting, key=key)


def resample(left: list[Row], right: list[Row], size: Any, fields: Fields) -> list[Row]:
    """Each left tuple with functions over the right tuples that are less than the size away."""
    results = []
    for row in left:
        near = [other for other in right if abs(other["t"] - row["t"]) < size]
        result = dict(row)
        for name, (function, field, *more) in fields.items():
            if function == "interpolate":
                result[name] = _interpolate(near, field, row["t"])
            elif near:
                result[name] = FUNCTIONS[function](near, field, *more)
            else:
                result[name] = 0 if function in ("count", "count_distinct") else None
        results.append(result)
    return results


def _interpolate(rows: list[Row], field: str, time: Any) -> float | None:
    known = [row for row in rows if row[field] is not None]
    before = [row for row in known if row["t"] <= time]
    after = [row for row in known if row["t"] > time]
    if before and before[-1]["t"] == time:
        return float(before[-1][field])
    if not (before and after):
        return None
    one, two = before[-1], after[0]
    share = (time - one["t"]) / (two["t"] - one["t"])
    return float(one[field] + (two[field] - one[field]) * share)
