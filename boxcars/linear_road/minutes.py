"""What holds for a minute: speeds, numbers of cars and accidents, by place.

A place is a segment of one direction of an expressway: ``(xway * 2 + dir) * 100 + seg``.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from boxcars.linear_road.facts import AHEAD, FAST, FEW, LAV_MINUTES, NUDGE, SEGMENTS

PLACE = ((pl.col("xway") * 2 + pl.col("dir")) * SEGMENTS + pl.col("seg")).alias("place")
Ints = NDArray[np.int64]


@dataclass
class Statistics:
    """Speeds and numbers of cars of the last minutes."""

    _means: dict[int, pl.DataFrame] = field(default_factory=dict)

    def add(self, minute: int, reports: pl.DataFrame) -> None:
        """Take in a whole minute of ``place, vid, spd``, and forget the oldest."""
        cars = reports.group_by("place", "vid").agg(pl.col("spd").mean())
        means = cars.group_by("place").agg(pl.col("spd").mean(), cars=pl.len().cast(pl.Int64))
        kept = {old: m for old, m in self._means.items() if old > minute - LAV_MINUTES}
        self._means = {**kept, minute: means}

    def of(self, minute: int, places: int) -> tuple[Ints, Ints]:
        """The LAV and the number of cars that hold in a minute, by place."""
        total, minutes = np.zeros(places), np.zeros(places)
        cars = np.zeros(places, np.int64)
        for before in range(minute - LAV_MINUTES, minute):
            if before in self._means:
                means = self._means[before]
                at = means["place"].to_numpy()
                total[at] += means["spd"].to_numpy()
                minutes[at] += 1
                if before == minute - 1:
                    cars[at] = means["cars"].to_numpy()
        mean = np.floor(total / np.maximum(minutes, 1) + NUDGE).astype(np.int64)
        return np.where(minutes > 0, mean, -1), cars


class Spot(NamedTuple):
    """Where cars can crash."""

    place: int
    lane: int
    pos: int


@dataclass
class Accidents:
    """Where cars stand, and which two of them are an accident.

    >>> accidents, spot = Accidents(), Spot(7, 1, 40_000)
    >>> accidents.stand(1, spot), accidents.stand(2, spot), list(accidents.places())
    (None, None, [7])
    >>> accidents.move(2, spot), list(accidents.places())
    (None, [])
    """

    _standing: defaultdict[Spot, list[int]] = field(default_factory=lambda: defaultdict(list))
    _pairs: dict[Spot, tuple[int, int]] = field(default_factory=dict)

    def stand(self, vid: int, spot: Spot) -> None:
        """A car stands; if it is not alone there it is an accident."""
        if spot not in self._pairs and self._standing[spot]:
            self._pairs[spot] = (self._standing[spot][0], vid)
        self._standing[spot].append(vid)

    def move(self, vid: int, spot: Spot) -> None:
        """A car that stood is elsewhere; if it was one of the two the accident is gone."""
        self._standing[spot].remove(vid)
        if vid in self._pairs.get(spot, ()):
            del self._pairs[spot]

    def places(self) -> Iterable[int]:
        """Where accidents are now."""
        return (spot.place for spot in self._pairs)

    def ahead(self, places: int) -> Ints:
        """The segment of the nearest accident ahead, by place; -1 if there is none."""
        found = np.full(places, -1)
        for far in range(AHEAD, -1, -1):
            for place in self.places():
                seg = place % SEGMENTS
                backwards = -1 if place // SEGMENTS % 2 == 0 else 1
                if 0 <= seg + backwards * far < SEGMENTS:
                    found[place + backwards * far] = seg
        return found


def tolls(lav: Ints, cars: Ints, ahead: Ints) -> Ints:
    """The tolls of a minute, by place."""
    due = (lav < FAST) & (cars > FEW) & (ahead < 0)
    return np.where(due, 2 * (cars - FEW) ** 2, 0)
