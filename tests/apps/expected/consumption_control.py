"""Consumption control, window by window."""

from collections.abc import Mapping
from typing import Any

import polars as pl

Rows = list[dict[str, Any]]


def expected(data: Mapping[str, pl.DataFrame], _: Mapping[str, pl.DataFrame]) -> dict[str, Rows]:
    counts: dict[tuple[int, str], int] = {}
    end = data["calls"]["time"].to_list()[-1]
    for caller, time in data["calls"].select("caller", "time").iter_rows():
        for start in range(time // 60 * 60, time - 300, -60):
            if start >= 0:
                counts[start, caller] = counts.get((start, caller), 0) + 1
    machines = [
        {"time": start, "caller": caller, "calls": calls}
        for (start, caller), calls in counts.items()
        if start + 300 <= end and calls >= 20
    ]
    return {"machines": machines}
