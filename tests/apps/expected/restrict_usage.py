"""Restrict usage, day by day."""

from collections.abc import Mapping
from typing import Any

import polars as pl

Rows = list[dict[str, Any]]
DAY = 86_400


def expected(
    data: Mapping[str, pl.DataFrame], tables: Mapping[str, pl.DataFrame]
) -> dict[str, Rows]:
    limits: dict[str, float] = dict(tables["limits"].select("card", "limit").iter_rows())
    last_day = data["payments"]["time"].to_list()[-1] // DAY
    spent: dict[tuple[str, int], float] = {}
    for card, time, price in data["payments"].select("card", "time", "price").iter_rows():
        today = time // DAY
        for first_day in range(max(today - 29, 0), min(today, last_day - 30) + 1):
            spent[card, first_day] = spent.get((card, first_day), 0) + price
    exceeded: Rows = []
    for (card, day), expenses in spent.items():
        if expenses > limits[card]:
            time = day * DAY
            left = {"left_time": time, "left_card": card, "left_expenses": expenses}
            right = {"right_time": time, "right_card": card, "right_limit": limits[card]}
            exceeded.append({"time": time} | left | right)
    return {"exceeded": exceeded}
