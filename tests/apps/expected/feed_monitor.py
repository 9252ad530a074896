"""The feed monitor, update by update."""

from collections import Counter
from collections.abc import Mapping
from typing import Any

import polars as pl

Rows = list[dict[str, Any]]
EVERY = {"fast": 5_000, "slow": 60_000}


def expected(data: Mapping[str, pl.DataFrame], _: Mapping[str, pl.DataFrame]) -> dict[str, Rows]:
    outputs: dict[str, Rows] = {
        f"{who}-{level}": []
        for who, levels in {
            "reuters": ("high", "low"),
            "comstock": ("high", "low"),
            "nyse": ("high",),
            "nasdaq": ("high",),
        }.items()
        for level in levels
    }
    numbers: Counter[str] = Counter()
    for time, number, ticker, exchange in sorted(late_updates(data)):
        feed = list(data)[number].split("-")[0]
        for who in (feed, exchange.lower()):
            numbers[who] += 1
            n = numbers[who]
            alarm = {"time": time, "n": n, "ticker": ticker, "exchange": exchange, "feed": feed}
            if n % 100 == 0:
                outputs[f"{who}-high"].append(alarm)
            elif n < 100 and who == feed:
                outputs[f"{who}-low"].append(alarm)
    return outputs


def late_updates(data: Mapping[str, pl.DataFrame]) -> list[tuple[int, int, str, str]]:
    """When each security was late, with the number of the input, its name and its exchange."""
    found = []
    for number, (port, frame) in enumerate(data.items()):
        every, end = EVERY[port.split("-")[1]], frame["time"].max()
        last: dict[str, int] = {}
        for time, ticker, exchange, _ in frame.iter_rows():
            if ticker in last and time - last[ticker] >= every:
                found.append((last[ticker] + every, number, ticker, exchange))
            last[ticker] = time
        exchanges = dict(zip(frame["ticker"], frame["exchange"], strict=True))
        assert isinstance(end, int | None)
        for ticker, time in last.items():
            if end is not None and end - time >= every:
                found.append((time + every, number, ticker, exchanges[ticker]))
    return found
