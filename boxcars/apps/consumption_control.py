"""Consumption control: phones that make more calls than a person can.

The first query of chapter 7.2 of the thesis: 20 calls or more in five minutes indicate a robot, or
many people who share a stolen line.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import polars as pl

from boxcars.apps.app import App, Feed
from boxcars.apps.calls import FIELDS, RATE, Country
from boxcars.apps.generate import weave
from boxcars.apps.turns import ENDLESS, Turns, first
from boxcars.model.network import Network
from boxcars.model.window import time

TOO_MANY = 20
"""Calls of one phone in a window."""
SIZE, ADVANCE = 300, 60
"""Seconds."""
SHARE = 20_000
"""Calls per robot."""
PAUSE = 15
"""Minimum seconds between two calls of a person, so that at most 19 fit into a window."""
SPAN = 3_600
"""Minimum duration of the data in seconds, so that windows can close."""


def build() -> Network:
    """Count the calls of each caller in five minutes, and keep callers with too many."""
    net = Network("consumption-control")
    calls = net.input("calls", ts="time", fields=FIELDS)
    callers = calls.map(time="time", caller="caller").named("callers")
    window = time(SIZE, advance=ADVANCE)
    counted = callers.aggregate(window, by="caller", calls="count()").named("counted")
    net.output("machines", counted.filter(f"calls >= {TOO_MANY}").named("too-many"))
    return net


def feed(rows: int, seed: int) -> Feed:
    """Calls of people, robots that make 20 calls, and near misses."""
    cases = min(max(rows // SHARE, 1), rows // 200)
    country, rate = Country.settle(seed, quiet=3 * cases), min(RATE, rows / SPAN)
    machines, shy, slow = np.arange(country.busy, country.busy + 3 * cases).reshape(3, cases)
    start = (country.rng.uniform(0.1, 0.8, cases) * rows / rate).astype(np.int64)
    planted = pl.concat(
        [
            _in_a_row(country, machines, start, calls=TOO_MANY, every=12),
            _in_a_row(country, shy, start, calls=TOO_MANY - 1, every=12),
            _in_a_row(country, slow, start, calls=TOO_MANY, every=16),
        ]
    )
    chunks = weave(_people(country, rows - planted.height, rate), planted, "time")
    reported = pl.DataFrame({"caller": country.phones.gather(machines)})
    return Feed(({"calls": chunk} for chunk in chunks), {"machines": reported})


def _people(country: Country, rows: int, rate: float) -> Iterator[pl.DataFrame]:
    """Calls of people, with a pause between two calls of a person."""
    turns = Turns()
    return first(
        rows,
        country.calls(ENDLESS, rate),
        lambda calls: turns.free(calls["caller"].hash(), calls["time"], calls["time"] + PAUSE),
    )


def _in_a_row(
    country: Country, phones: np.ndarray, start: np.ndarray, *, calls: int, every: int
) -> pl.DataFrame:
    """Short calls of each phone, one every ``every`` seconds."""
    times = (start[:, None] + every * np.arange(calls)).ravel()
    callees = country.rng.integers(0, country.busy, len(times))
    return country.talk(np.repeat(phones, calls), callees, times, np.full(len(times), 5))


APP = App(
    name="consumption-control",
    family="telephony fraud",
    sentence="Finds phones that make 20 calls or more in five minutes: robots, not people.",
    unit="calls",
    build=build,
    feed=feed,
)
