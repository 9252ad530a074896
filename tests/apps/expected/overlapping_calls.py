"""Overlapping calls, call by call."""

from collections.abc import Mapping
from typing import Any

import polars as pl

Rows = list[dict[str, Any]]


def expected(data: Mapping[str, pl.DataFrame], _: Mapping[str, pl.DataFrame]) -> dict[str, Rows]:
    ends: dict[str, int] = {}
    overlaps: Rows = []
    for call in data["calls"].iter_rows(named=True):
        start = call["time"]
        for phone in (call["caller"], call["callee"]):
            if phone in ends and start <= ends[phone]:
                row = {"time": start, "phone": phone, "second_start": start}
                overlaps.append(row | {"first_end": ends[phone]})
            ends[phone] = start + call["duration"]
    return {"overlaps": overlaps}
