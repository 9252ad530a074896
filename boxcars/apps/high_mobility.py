"""High mobility: phones that are seen in two locations too far apart for the time between.

The query of chapters 2 and 6 of the thesis: each call is a sighting of two phones, and two
consecutive sightings of a phone give a speed. A phone faster than 1,000 km/h has been cloned.
"""

from __future__ import annotations

import numpy as np
import polars as pl

from boxcars.apps.app import App, Feed
from boxcars.apps.calls import FIELDS, RATE, Country
from boxcars.apps.generate import weave
from boxcars.model.network import Network
from boxcars.model.window import tuples

TOO_FAST = 1_000
"""Kilometres per hour."""
SHARE = 20_000
"""Calls per cloned phone."""


def build() -> Network:
    """Pair consecutive sightings of each phone, and keep those with too high a speed."""
    net = Network("high-mobility")
    calls = net.input("calls", ts="time", fields=FIELDS)
    callers = calls.map(time="time", phone="caller", x="caller_x", y="caller_y").named("callers")
    callees = calls.map(time="time", phone="callee", x="callee_x", y="callee_y").named("callees")
    both = (callers | callees).named("both")
    pairs = both.aggregate(
        tuples(2, advance=1),
        by="phone",
        seconds="delta(time)",
        x1="first(x)",
        y1="first(y)",
        x2="last(x)",
        y2="last(y)",
    )
    speed = pairs.named("pairs").map(
        time="time", phone="phone", kmh="round(3600 * distance(x1, y1, x2, y2) / seconds)"
    )
    net.output("clones", speed.named("speed").filter(f"kmh > {TOO_FAST}").named("too-fast"))
    return net


def feed(rows: int, seed: int) -> Feed:
    """Calls between people at home, cloned phones abroad, and travellers by plane."""
    cases = min(max(rows // SHARE, 1), rows // 4)
    country = Country.settle(seed, quiet=cases)
    rng, phones = country.rng, country.phones
    cloned = rng.choice(country.busy, cases, replace=False)
    flying = np.arange(country.busy, country.busy + cases)
    start = (rng.uniform(0.1, 0.9, cases) * rows / RATE).astype(np.int64)
    copies = _two_calls(country, cloned, start, start + rng.integers(60, 600, cases), 7_000)
    flights = _two_calls(country, flying, start, start + 2 * 3600, 1_800)
    planted = pl.concat([copies, flights])
    chunks = weave(country.calls(rows - planted.height), planted, "time")
    clones = pl.DataFrame({"phone": phones.gather(cloned)})
    return Feed(({"calls": chunk} for chunk in chunks), {"clones": clones})


def _two_calls(
    country: Country, phones: np.ndarray, first: np.ndarray, second: np.ndarray, km: float
) -> pl.DataFrame:
    """A call of each phone at home, and a second one ``km`` kilometres away."""
    others, lasting = (phones + 1) % country.busy, np.full(len(phones), 40)
    home = country.talk(phones, others, first, lasting)
    away = country.talk(phones, others, second, lasting)
    return pl.concat([home, away.with_columns(caller_x=pl.col("caller_x") + km)])


APP = App(
    name="high-mobility",
    family="telephony fraud",
    sentence="Finds cloned phones: two sightings, too far apart for the time between them.",
    unit="calls",
    build=build,
    feed=feed,
)
