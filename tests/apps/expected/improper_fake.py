"""Improper-fake transactions, window by window and pair by pair."""

from collections.abc import Mapping
from typing import Any

import polars as pl

Rows = list[dict[str, Any]]


def expected(data: Mapping[str, pl.DataFrame], _: Mapping[str, pl.DataFrame]) -> dict[str, Rows]:
    payments = data["payments"]
    end = payments["time"].to_list()[-1]
    counts: dict[tuple[str, str, int], int] = {}
    for card, time, seller in payments.select("card", "time", "seller").iter_rows():
        for start in range(time // 600 * 600, time - 3600, -600):
            if 0 <= start <= end - 3600:
                counts[seller, card, start] = counts.get((seller, card, start), 0) + 1
    charged: dict[str, Rows] = {}
    for (seller, card, start), number in counts.items():
        if number >= 2:
            row = {"time": start, "card": card, "seller": seller, "payments": number}
            charged.setdefault(seller, []).append(row)
    fakes: Rows = []
    for cards in charged.values():
        for left in cards:
            for right in cards:
                if left["card"] != right["card"] and abs(left["time"] - right["time"]) < 3600:
                    pair = {"time": max(left["time"], right["time"])}
                    pair |= {f"left_{name}": value for name, value in left.items()}
                    fakes.append(pair | {f"right_{name}": value for name, value in right.items()})
    return {"fakes": fakes}
