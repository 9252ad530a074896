"""The oracle of join and product: one tuple at a time, from the thesis (2.1.1); no product code."""

from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any

Row = dict[str, Any]
Kept = tuple[str, float]
"""How a window is limited: ("time", size) or ("tuples", size)."""


def join(
    left: list[Row],
    right: list[Row],
    orders: tuple[str, str],
    windows: tuple[Kept, Kept],
    matches: Callable[[Row, Row], bool | None],
) -> list[Row]:
    """What leaves the box: purge the other window, match, add to the own window."""
    events = [
        (row[ts], port, arrival, row)
        for port, (ts, rows) in enumerate(zip(orders, (left, right), strict=True))
        for arrival, row in enumerate(rows)
    ]
    events.sort(key=lambda event: event[:3])
    held: tuple[list[Row], list[Row]] = ([], [])
    out = []
    for now, port, _, row in events:
        other = 1 - port
        held[other][:] = purged(held[other], orders[other], windows[other], now)
        for partner in held[other]:
            pair = (row, partner) if port == 0 else (partner, row)
            if matches(*pair) is True:
                out.append(tuple_of(now, orders[0], *pair))
        held[port].append(row)
    return out


def purged(held: list[Row], ts: str, window: Kept, now: Any) -> list[Row]:
    by, size = window
    if by == "tuples":
        return held[max(len(held) - int(size), 0) :]
    return [row for row in held if near(row[ts], now, size)]


def near(then: Any, now: Any, size: float) -> bool:
    """Less than the size apart; equal values are, also the infinite ones."""
    if isinstance(now, datetime):
        return bool(now - then < timedelta(seconds=size))
    return bool(now == then or now - then < size)


def tuple_of(now: Any, ts: str, left: Row, right: Row) -> Row:
    fields = {f"left_{name}": value for name, value in left.items()}
    return {ts: now, **fields, **{f"right_{name}": value for name, value in right.items()}}
