"""The distribution of callers, window by window."""

from collections.abc import Mapping
from typing import Any

import polars as pl

Rows = list[dict[str, Any]]
Counts = dict[tuple[int, Any], int]


def expected(data: Mapping[str, pl.DataFrame], _: Mapping[str, pl.DataFrame]) -> dict[str, Rows]:
    calls = data["calls"]
    expensive = [
        (time, caller)
        for time, caller, price in calls.select("time", "caller", "price").iter_rows()
        if price > 5
    ]
    end = calls["time"].to_list()[-1]
    per_caller = hours(expensive, end)
    some = [(start, calls) for (start, _), calls in per_caller.items() if 5 <= calls <= 10]
    rows = hours(some, latest_start(end) + 600)
    distribution = [
        {"time": start, "calls": calls, "phones": phones} for (start, calls), phones in rows.items()
    ]
    return {"distribution": distribution}


def hours(things: list[tuple[int, Any]], end: int) -> Counts:
    """Count each item per closed hourly window; windows start every ten minutes."""
    counts: Counts = {}
    for time, thing in things:
        for start in range(time // 600 * 600, time - 3600, -600):
            if 0 <= start <= end - 3600:
                counts[start, thing] = counts.get((start, thing), 0) + 1
    return counts


def latest_start(end: int) -> int:
    """The start of the last closed hour."""
    return (end - 3600) // 600 * 600
