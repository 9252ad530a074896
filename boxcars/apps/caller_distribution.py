"""Caller distribution: the number of phones that make 5, 6, ... 10 expensive calls in an hour.

Chapter 3 of the thesis uses it to compare parallelization strategies: a count for each caller, and
a count of these counts.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import polars as pl

from boxcars.apps.app import App, Feed
from boxcars.apps.calls import FIELDS, RATE, Country
from boxcars.apps.generate import weave
from boxcars.apps.turns import Turns
from boxcars.model.network import Network
from boxcars.model.window import time

EXPENSIVE = 5.0
"""Euros; an expensive call costs more than this."""
FEWEST, MOST = 5, 10
"""Range of expensive calls per phone and hour in the distribution."""
SIZE, ADVANCE = 3_600, 600
"""Seconds."""
SHARE = 20_000
"""Calls per planted company whose phones make expensive calls."""
PAUSE = 900
"""Minimum seconds between two expensive calls of a person, so that at most 4 fit into an hour."""
SPAN = 8 * 3_600
"""Minimum duration of the data in seconds, so that windows can close."""


def build() -> Network:
    """Count the expensive calls of each caller in an hour, then the callers for each count."""
    net = Network("caller-distribution")
    calls = net.input("calls", ts="time", fields=FIELDS)
    callers = calls.map(time="time", caller="caller", price="price").named("callers")
    expensive = callers.filter(f"price > {EXPENSIVE:g}").named("expensive")
    window = time(SIZE, advance=ADVANCE)
    counted = expensive.aggregate(window, by="caller", calls="count()").named("counted")
    some = counted.filter(f"calls >= {FEWEST} and calls <= {MOST}").named("some")
    phones = some.aggregate(window, by="calls", phones="count()").named("distribution")
    net.output("distribution", phones)
    return net


def feed(rows: int, seed: int) -> Feed:
    """People with at most 4 expensive calls an hour, and companies with known numbers of them."""
    companies = min(max(rows // SHARE, 1), rows // 1_000)
    rate = min(RATE, rows / SPAN)
    rng = np.random.default_rng(seed)
    groups = _companies(rng, companies, rows / rate)
    country = Country.settle(seed, quiet=int(groups["phones"].sum()))
    planted = _expensive_calls(country, groups)
    people = _people(country, rows - planted.height, rate)
    chunks = ({"calls": chunk} for chunk in weave(people, planted, "time"))
    return Feed(chunks, {"distribution": _distribution(groups)})


def _companies(rng: np.random.Generator, companies: int, span: float) -> pl.DataFrame:
    """Groups of phones with a start time and a number of calls: too few, in range, and too many."""
    calls = np.tile(np.arange(FEWEST - 1, MOST + 2), companies)
    start = rng.integers(0, int(span / 2 / ADVANCE) + 1, companies) * ADVANCE
    return pl.DataFrame(
        {
            "time": start.repeat(MOST - FEWEST + 3),
            "calls": calls,
            "phones": rng.integers(1, 6, len(calls)),
        }
    )


def _expensive_calls(country: Country, groups: pl.DataFrame) -> pl.DataFrame:
    """The expensive calls of the companies' phones, and one of each at exactly the limit."""
    each = groups.select(pl.exclude("phones").repeat_by("phones")).explode("time", "calls")
    phones, counts = np.arange(each.height) + country.busy, each["calls"].to_numpy() + 1
    number = np.arange(counts.sum()) - np.repeat(np.cumsum(counts) - counts, counts)
    times = np.repeat(each["time"].to_numpy(), counts) + 50 * number
    callees = country.rng.integers(0, country.busy, len(times))
    calls = country.talk(np.repeat(phones, counts), callees, times, np.full(len(times), 40))
    price = pl.when(pl.Series(number > 0)).then(EXPENSIVE + 1).otherwise(EXPENSIVE)
    return calls.with_columns(price=price)


def _people(country: Country, rows: int, rate: float) -> Iterator[pl.DataFrame]:
    """Calls of people; a third has a surcharge, which makes most of them expensive."""
    turns, rng = Turns(), country.rng
    for calls in country.calls(rows, rate):
        extra = np.where(rng.random(calls.height) < 1 / 3, rng.lognormal(2, 0.5, calls.height), 0)
        price = (calls["price"].to_numpy() + extra).round(2)
        expensive = np.flatnonzero(price > EXPENSIVE)
        callers, times = calls["caller"][expensive].hash(), calls["time"][expensive]
        soon = expensive[~turns.free(callers, times, times + PAUSE)]
        price[soon] = EXPENSIVE
        yield calls.with_columns(price=price)


def _distribution(groups: pl.DataFrame) -> pl.DataFrame:
    """The expected output: each window of the second aggregate counts the results in it."""
    some = groups.filter(pl.col("calls").is_between(FEWEST, MOST))
    for _ in range(2):
        back = [pl.col("time") - ADVANCE * step for step in range(SIZE // ADVANCE)]
        some = some.with_columns(time=pl.concat_list(back)).explode("time")
        some = some.filter(pl.col("time") >= 0)
    return some.group_by("time", "calls", maintain_order=True).agg(pl.col("phones").sum())


APP = App(
    name="caller-distribution",
    family="telephony fraud",
    sentence="Counts how many phones make 5, 6, ... 10 expensive calls in an hour.",
    unit="calls",
    build=build,
    feed=feed,
)
