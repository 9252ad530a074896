"""Blacklist: calls of phones that are known for fraud.

The third query of chapter 7.2 of the thesis: look up both phones of each call in a stored table.
"""

from __future__ import annotations

import numpy as np
import polars as pl

from boxcars.apps.app import App, Feed
from boxcars.apps.calls import FIELDS, RATE, Country
from boxcars.apps.generate import weave
from boxcars.model.network import Network

SHARE = 20_000
"""Calls per planted case: one listed phone that makes a call and one that receives a call."""
SILENT = 1_000
"""Listed phones without calls."""


def build() -> Network:
    """Look up callers and callees in the list, and keep those that are on it."""
    net = Network("blacklist")
    calls = net.input("calls", ts="time", fields=FIELDS)
    net.table("fraudsters", fields={"phone": "str"}, key="phone")
    callers = calls.map(time="time", phone="caller").named("callers")
    callees = calls.map(time="time", phone="callee").named("callees")
    both = (callers | callees).named("both")
    look_up = both.select("SELECT * FROM fraudsters WHERE phone = input.phone").named("look-up")
    _, _, number = look_up
    net.output("known", number.filter("Count = 1").named("listed"))
    return net


def feed(rows: int, seed: int) -> Feed:
    """Calls of honest people, calls with listed phones, and calls with similar numbers."""
    cases = min(max(rows // SHARE, 1), rows // 4)
    country = Country.settle(seed, quiet=2 * cases + SILENT)
    rng = country.rng
    listed = country.phones[country.busy :]
    calling, called = np.arange(country.busy, country.busy + 2 * cases).reshape(2, cases)
    honest = rng.integers(0, country.busy, (2, cases))
    start = (rng.uniform(0.1, 0.9, cases) * rows / RATE).astype(np.int64)
    lasting = np.full(cases, 40)
    made = country.talk(calling, honest[0], start, lasting)
    received = country.talk(honest[1], called, start + 1, lasting)
    abroad = made.with_columns(pl.col("caller").str.replace("+34", "+35", literal=True))
    planted = pl.concat([made, received, abroad])
    chunks = weave(country.calls(rows - planted.height), planted, "time")
    known = pl.DataFrame({"phone": listed.head(2 * cases)})
    return Feed(
        ({"calls": chunk} for chunk in chunks),
        {"known": known},
        {"fraudsters": pl.DataFrame({"phone": listed.sort()})},
    )


APP = App(
    name="blacklist",
    family="telephony fraud",
    sentence="Finds calls from and to phones that are on a list of fraudsters.",
    unit="calls",
    build=build,
    feed=feed,
)
