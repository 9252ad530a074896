"""Battalion monitoring, report by report."""

from collections.abc import Mapping
from typing import Any

import polars as pl

Rows = list[dict[str, Any]]


def expected(data: Mapping[str, pl.DataFrame], _: Mapping[str, pl.DataFrame]) -> dict[str, Rows]:
    reports = [row for name in ("north", "south") for row in data[name].iter_rows(named=True)]
    enemies = [row for row in reports if row["unit"].split("-")[0] == "enemy"]
    return {
        "analysis": reports,
        "enemy-tanks": [row for row in enemies if row["unit"].split("-")[1] == "tank"],
        "enemy-aircraft": [row for row in enemies if row["unit"].split("-")[1] == "aircraft"],
        "across-the-line": [row for row in enemies if row["x"] < 350],
    }
