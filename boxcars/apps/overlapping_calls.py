"""Overlapping calls: phones that take part in two calls at once.

The second query of the thesis' chapter 7.2. Whoever talks in a second call before the first is
over has a copy of the phone.
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
"""One phone of each kind that is planted, for so many calls."""


def build() -> Network:
    """Callers and callees, two calls of a phone in a row, and those that overlap."""
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
    """People who make one call at a time, and phones whose second call comes too soon."""
    cases = min(max(rows // SHARE, 1), rows // 6)
    country = Country.settle(seed, quiet=9 * cases)
    rng = country.rng
    inside, touching, behind = _trios(country, cases)
    start = (rng.uniform(0.1, 0.9, cases) * rows / RATE).astype(np.int64)
    lasting = rng.integers(60, 600, cases)
    planted = pl.concat(
        [
            _two_calls(country, inside, start, lasting, start + lasting // 2),
            _two_calls(country, touching, start, lasting, start + lasting),
            _two_calls(country, behind, start, lasting, start + lasting + 1),
        ]
    )
    chunks = weave(_people(country, rows - planted.height), planted, "time")
    cloned = np.concatenate([inside[0], touching[0]])
    reported = pl.DataFrame({"phone": country.phones.gather(cloned)})
    return Feed(({"calls": chunk} for chunk in chunks), {"overlaps": reported})


def _people(country: Country, rows: int) -> Iterator[pl.DataFrame]:
    """Calls of people, who have only one at a time."""
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
    """Three kinds of case: the phones of each, and two phones to talk to for each of them."""
    return np.arange(country.busy, country.busy + 9 * cases).reshape(3, 3, cases)


def _two_calls(
    country: Country, trio: np.ndarray, start: np.ndarray, lasting: np.ndarray, again: np.ndarray
) -> pl.DataFrame:
    """Each phone calls somebody, and is called by somebody else."""
    phones, one, other = trio
    made = country.talk(phones, one, start, lasting)
    return pl.concat([made, country.talk(other, phones, again, lasting)])


APP = App(
    name="overlapping-calls",
    family="telephony fraud",
    sentence="Finds cloned phones: a second call begins before the first one is over.",
    unit="calls",
    build=build,
    feed=feed,
)
