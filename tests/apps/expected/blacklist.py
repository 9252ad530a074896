"""The blacklist, phone by phone."""

from collections.abc import Mapping
from typing import Any

import polars as pl

Rows = list[dict[str, Any]]


def expected(
    data: Mapping[str, pl.DataFrame], tables: Mapping[str, pl.DataFrame]
) -> dict[str, Rows]:
    listed = set(tables["fraudsters"]["phone"].to_list())
    known = [
        {"time": call["time"], "phone": call[who], "Count": 1}
        for call in data["calls"].iter_rows(named=True)
        for who in ("caller", "callee")
        if call[who] in listed
    ]
    return {"known": known}
