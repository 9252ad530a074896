"""Generated updates of stock prices by two providers from two exchanges, with outages.

Each security is updated once per time slot, and the slots are so short that two updates are never
too far apart. So only outages cause gaps, and the expected alarms are known.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import polars as pl

from boxcars.apps.app import Chunk, Feed
from boxcars.apps.generate import first_tuples

FEEDS = ("reuters", "comstock")
EXCHANGES = ("NYSE", "NASDAQ")
EVERY = {"fast": 5_000, "slow": 60_000}
"""Milliseconds within which a security must be updated."""
TICKERS = {"fast": 500, "slow": 4_000}
ALARMS = 100
"""Low alarms per high alarm."""

_SLOT = {speed: every * 6 // 10 for speed, every in EVERY.items()}
_BLOCK = 520_000
"""Milliseconds after which the same kinds of incidents recur."""
_RATE = sum(len(FEEDS) * number / _SLOT[speed] for speed, number in TICKERS.items())
"""Updates per millisecond."""


@dataclass(frozen=True)
class Incident:
    """Securities of a feed, by index, without updates for a while."""

    feed: str
    speed: str
    tickers: np.ndarray
    start: int
    stop: int


class Market:
    """The securities, their update times and their incidents."""

    def __init__(self, seed: int) -> None:
        self._seed = seed
        rng = self._rng(0)
        self.exchange = {speed: rng.integers(0, 2, number) for speed, number in TICKERS.items()}
        self.names = {
            speed: pl.Series([f"{speed[0].upper()}{n:04d}" for n in range(number)])
            for speed, number in TICKERS.items()
        }

    def _rng(self, *what: int) -> np.random.Generator:
        return np.random.default_rng((self._seed, *what))

    def times(self, feed: str, speed: str, slot: int) -> np.ndarray:
        """The update times of the securities in a slot, without incidents."""
        which, number = (FEEDS.index(feed), list(EVERY).index(speed)), TICKERS[speed]
        phase = self._rng(1, *which).random(number) * 0.7
        jitter = self._rng(2, *which, slot + 1).random(number) * 0.3
        return ((slot + phase + jitter) * _SLOT[speed]).astype(np.int64)

    def incidents(self, block: int) -> Iterator[Incident]:
        """The incidents of a block: single securities, a feed, an exchange, a few securities.

        They are so far apart that the gaps of one are closed before the next one starts.
        """
        rng, start = self._rng(3, block), block * _BLOCK
        for feed in FEEDS:
            for at in range(start + 8_000, start + 60_000, 12_000):
                yield Incident(feed, "fast", rng.integers(0, TICKERS["fast"], 1), at, at + 7_000)
            some = rng.permutation(TICKERS["slow"])[:3]
            yield Incident(feed, "slow", some, start + 40_000, start + 107_000)
            for speed, number in TICKERS.items():
                outages = {300_000: np.flatnonzero(self.exchange[speed] == 0)}
                if feed == "reuters":
                    outages[170_000] = np.arange(number)
                else:
                    outages[430_000] = rng.permutation(number)[:40]
                for at, tickers in outages.items():
                    yield Incident(feed, speed, tickers, start + at, start + at + 7_000)

    def gaps(self, incident: Incident) -> pl.DataFrame:
        """The low alarms of an incident: securities without an update in time, and when.

        The fields are sufficient to sort alarms with equal times.
        """
        feed, speed, every = incident.feed, incident.speed, EVERY[incident.speed]
        slots = range(incident.start // _SLOT[speed] - 1, incident.stop // _SLOT[speed] + 2)
        times = np.stack([self.times(feed, speed, slot) for slot in slots])[:, incident.tickers]
        before = np.where(times < incident.start, times, -1).max(axis=0)
        after = np.where(times >= incident.stop, times, np.iinfo(np.int64).max).min(axis=0)
        late = after - before >= every
        tickers = incident.tickers[late]
        return pl.DataFrame(
            {
                "time": before[late] + every,
                "speed": pl.Series([speed] * len(tickers), dtype=pl.String),
                "ticker": self.names[speed].gather(tickers),
                "feed": pl.Series([feed] * len(tickers), dtype=pl.String),
                "exchange": np.array(EXCHANGES)[self.exchange[speed][tickers]],
            }
        )


def feed(rows: int, seed: int) -> Feed:
    """Updates of all securities, with an outage every few minutes."""
    market, end = Market(seed), int(rows / _RATE)
    incidents = [
        incident
        for block in range(end // _BLOCK + 1)
        for incident in market.incidents(block)
        if incident.stop + EVERY[incident.speed] < end
    ]
    return Feed(_chunks(market, incidents, rows), _planted(market, incidents))


def _planted(market: Market, incidents: list[Incident]) -> dict[str, pl.DataFrame]:
    """The low alarms of each feed before the first high one, and the numbers of the high ones."""
    none = Incident(FEEDS[0], "fast", np.array([], np.int64), 0, 0)
    gaps = pl.concat([market.gaps(incident) for incident in [none, *incidents]])
    gaps = gaps.sort("time", "speed", "ticker")
    planted = {}
    for kind, names in {"feed": FEEDS, "exchange": EXCHANGES}.items():
        for name in names:
            mine = gaps.filter(pl.col(kind) == name)
            high = pl.int_range(ALARMS, mine.height + 1, ALARMS, eager=True)
            planted[f"{name}-high".lower()] = high.to_frame("n")
            if kind == "feed":
                planted[f"{name}-low"] = mine[: ALARMS - 1].select("time", "ticker")
    return planted


def _chunks(market: Market, incidents: list[Incident], rows: int) -> Iterator[Chunk]:
    """Yield all updates, one slow slot at a time, until there are ``rows``."""
    slot = 0
    while rows > 0:
        chunk: Chunk = {
            f"{feed}-{speed}": _updates(market, feed, speed, slot, incidents)
            for feed in FEEDS
            for speed in EVERY
        }
        yield first_tuples(chunk, rows, "time")
        rows, slot = rows - sum(frame.height for frame in chunk.values()), slot + 1


def _updates(
    market: Market, feed: str, speed: str, slot: int, incidents: list[Incident]
) -> pl.DataFrame:
    """The updates of some securities in one slow slot."""
    slots = _SLOT["slow"] // _SLOT[speed]
    times = np.concatenate([market.times(feed, speed, slot * slots + n) for n in range(slots)])
    tickers = np.tile(np.arange(TICKERS[speed]), slots)
    start, stop = slot * _SLOT["slow"], (slot + 1) * _SLOT["slow"]
    there = np.ones(len(times), bool)
    for incident in incidents:
        mine = (incident.feed, incident.speed) == (feed, speed)
        if mine and incident.start < stop and incident.stop > start:
            hit = np.isin(tickers, incident.tickers)
            there &= ~(hit & (times >= incident.start) & (times < incident.stop))
    order = np.flatnonzero(there)[np.argsort(times[there], kind="stable")]
    tickers, times = tickers[order], times[order]
    price = 20 + 3 * (tickers % 50) + np.sin(times / 60_000 + tickers)
    return pl.DataFrame(
        {
            "time": times,
            "ticker": market.names[speed].gather(tickers),
            "exchange": pl.Series(EXCHANGES).gather(market.exchange[speed][tickers]),
            "price": price.round(2),
        }
    )
