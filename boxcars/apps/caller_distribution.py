"""Caller distribution: how many phones make 5, 6, ... 10 dear calls in an hour.

The query with which the thesis' chapter 3 compares ways to run a network in many places: a count
for each caller, and a count of these counts.
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

DEAR = 5.0
"""Euros; a dear call costs more."""
FEWEST, MOST = 5, 10
"""Dear calls of a phone in an hour that are of interest."""
SIZE, ADVANCE = 3_600, 600
SHARE = 20_000
"""One company whose phones make dear calls, for so many calls."""
PAUSE = 900
"""Seconds from a dear call of a person to the next at least: no more than 4 fit into an hour."""
SPAN = 8 * 3_600
"""Seconds that few calls are spread over."""


def build() -> Network:
    """Dear calls, how many each caller makes in an hour, and how many callers make how many."""
    net = Network("caller-distribution")
    calls = net.input("calls", ts="time", fields=FIELDS)
    callers = calls.map(time="time", caller="caller", price="price").named("callers")
    dear = callers.filter(f"price > {DEAR:g}").named("dear")
    window = time(SIZE, advance=ADVANCE)
    counted = dear.aggregate(window, by="caller", calls="count()").named("counted")
    some = counted.filter(f"calls >= {FEWEST} and calls <= {MOST}").named("some")
    phones = some.aggregate(window, by="calls", phones="count()").named("distribution")
    net.output("distribution", phones)
    return net


def feed(rows: int, seed: int) -> Feed:
    """People with at most 4 dear calls in an hour, and companies with known numbers of them."""
    companies = min(max(rows // SHARE, 1), rows // 1_000)
    rate = min(RATE, rows / SPAN)
    rng = np.random.default_rng(seed)
    groups = _companies(rng, companies, rows / rate)
    country = Country.settle(seed, quiet=int(groups["phones"].sum()))
    planted = _dear_calls(country, groups)
    people = _people(country, rows - planted.height, rate)
    chunks = ({"calls": chunk} for chunk in weave(people, planted, "time"))
    return Feed(chunks, {"distribution": _distribution(groups)})


def _companies(rng: np.random.Generator, companies: int, span: float) -> pl.DataFrame:
    """When how many phones make how many calls: too few, some, and too many."""
    calls = np.tile(np.arange(FEWEST - 1, MOST + 2), companies)
    start = rng.integers(0, int(span / 2 / ADVANCE) + 1, companies) * ADVANCE
    return pl.DataFrame(
        {
            "time": start.repeat(MOST - FEWEST + 3),
            "calls": calls,
            "phones": rng.integers(1, 6, len(calls)),
        }
    )


def _dear_calls(country: Country, groups: pl.DataFrame) -> pl.DataFrame:
    """The calls of the companies' phones, and one of each phone that costs just not too much."""
    each = groups.select(pl.exclude("phones").repeat_by("phones")).explode("time", "calls")
    phones, counts = np.arange(each.height) + country.busy, each["calls"].to_numpy() + 1
    number = np.arange(counts.sum()) - np.repeat(np.cumsum(counts) - counts, counts)
    times = np.repeat(each["time"].to_numpy(), counts) + 50 * number
    callees = country.rng.integers(0, country.busy, len(times))
    calls = country.talk(np.repeat(phones, counts), callees, times, np.full(len(times), 40))
    return calls.with_columns(price=pl.when(pl.Series(number > 0)).then(DEAR + 1).otherwise(DEAR))


def _people(country: Country, rows: int, rate: float) -> Iterator[pl.DataFrame]:
    """Calls of people, a third of them abroad or to services; most of these are dear."""
    turns, rng = Turns(), country.rng
    for calls in country.calls(rows, rate):
        extra = np.where(rng.random(calls.height) < 1 / 3, rng.lognormal(2, 0.5, calls.height), 0)
        price = (calls["price"].to_numpy() + extra).round(2)
        dear = np.flatnonzero(price > DEAR)
        callers, times = calls["caller"][dear].hash(), calls["time"][dear]
        soon = dear[~turns.free(callers, times, times + PAUSE)]
        price[soon] = DEAR
        yield calls.with_columns(price=price)


def _distribution(groups: pl.DataFrame) -> pl.DataFrame:
    """What must be reported: each hour that a result of an hour belongs to counts its phones."""
    some = groups.filter(pl.col("calls").is_between(FEWEST, MOST))
    for _ in range(2):
        back = [pl.col("time") - ADVANCE * step for step in range(SIZE // ADVANCE)]
        some = some.with_columns(time=pl.concat_list(back)).explode("time")
        some = some.filter(pl.col("time") >= 0)
    return some.group_by("time", "calls", maintain_order=True).agg(pl.col("phones").sum())


APP = App(
    name="caller-distribution",
    family="telephony fraud",
    sentence="Counts how many phones make 5, 6, ... 10 dear calls in an hour.",
    unit="calls",
    build=build,
    feed=feed,
)
