"""Overlapping calls: phones that take part in two calls at once.

The second query of chapter 7.2 of the thesis. A phone that starts a second call before the first
one has ended has been cloned.
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
from boxcars.model.window import tuples

SHARE = 20_000
"""Calls per planted phone of each kind."""


def build() -> Network:
    """Pair consecutive calls of each phone, and keep those that overlap."""
    net = Network("overlapping-calls")
    calls = net.input("calls", ts="time", fields=FIELDS)
    spans = {"time": "time", "starts": "time", "ends": "time + duration"}
    callers = calls.map(spans | {"phone": "caller"}).named("callers")
    callees = calls.map(spans | {"phone": "callee"}).named("callees")
    both = (callers | callees).named("both")
    pairs = both.aggregate(
        tuples(2, advance=1), by="phone", first_end="first(ends)", second_start="last(starts)"
    ).named("pairs")
    net.output("overlaps", pairs.filter("second_start <= first_end").named("overlapping"))
    return net


def feed(rows: int, seed: int) -> Feed:
    """People with one call at a time, and phones whose second call starts too early."""
    cases = min(max(rows // SHARE, 1), rows // 6)
    country = Country.settle(seed, quiet=9 * cases)
    rng = country.rng
    inside, touching, after = _trios(country, cases)
    start = (rng.uniform(0.1, 0.9, cases) * rows / RATE).astype(np.int64)
    lasting = rng.integers(60, 600, cases)
    planted = pl.concat(
        [
            _two_calls(country, inside, start, lasting, start + lasting // 2),
            _two_calls(country, touching, start, lasting, start + lasting),
            _two_calls(country, after, start, lasting, start + lasting + 1),
        ]
    )
    chunks = weave(_people(country, rows - planted.height), planted, "time")
    cloned = np.concatenate([inside[0], touching[0]])
    reported = pl.DataFrame({"phone": country.phones.gather(cloned)})
    return Feed(({"calls": chunk} for chunk in chunks), {"overlaps": reported})


def _people(country: Country, rows: int) -> Iterator[pl.DataFrame]:
    """Calls of people, one at a time."""
    turns = Turns()

    def free(calls: pl.DataFrame) -> np.ndarray:
        phones = np.column_stack([calls["caller"].hash(), calls["callee"].hash()])
        starts = np.repeat(calls["time"], 2)
        ends = starts + np.repeat(calls["duration"], 2)
        each = turns.free(phones.ravel(), starts, ends)
        both: np.ndarray = each[0::2] & each[1::2]
        return both

    return first(rows, country.calls(ENDLESS), free)


def _trios(country: Country, cases: int) -> np.ndarray:
    """For each of three kinds of cases: the phones, and two partners for each phone."""
    return np.arange(country.busy, country.busy + 9 * cases).reshape(3, 3, cases)


def _two_calls(
    country: Country, trio: np.ndarray, start: np.ndarray, lasting: np.ndarray, again: np.ndarray
) -> pl.DataFrame:
    """Each phone makes a call to one partner, and receives one from the other."""
    phones, one, other = trio
    made = country.talk(phones, one, start, lasting)
    return pl.concat([made, country.talk(other, phones, again, lasting)])


APP = App(
    name="overlapping-calls",
    family="telephony fraud",
    sentence="Finds cloned phones: a second call starts before the first one has ended.",
    unit="calls",
    build=build,
    feed=feed,
)
