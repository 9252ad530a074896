"""Statistics of a minute: speeds, numbers of cars and accidents, by segment.

A segment includes expressway and direction: ``(xway * 2 + dir) * 100 + seg``.
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

SEGMENT = ((pl.col("xway") * 2 + pl.col("dir")) * SEGMENTS + pl.col("seg")).alias("segment")
Ints = NDArray[np.int64]


@dataclass
class Statistics:
    """Speeds and numbers of cars of the last minutes."""

    _means: dict[int, pl.DataFrame] = field(default_factory=dict)

    def add(self, minute: int, reports: pl.DataFrame) -> None:
        """Add a whole minute of ``segment, vid, spd``, and drop the oldest."""
        cars = reports.group_by("segment", "vid").agg(pl.col("spd").mean())
        means = cars.group_by("segment").agg(pl.col("spd").mean(), cars=pl.len().cast(pl.Int64))
        kept = {old: m for old, m in self._means.items() if old > minute - LAV_MINUTES}
        self._means = {**kept, minute: means}

    def of(self, minute: int, segments: int) -> tuple[Ints, Ints]:
        """The LAV and the number of cars for a minute, by segment."""
        total, minutes = np.zeros(segments), np.zeros(segments)
        cars = np.zeros(segments, np.int64)
        for before in range(minute - LAV_MINUTES, minute):
            if before in self._means:
                means = self._means[before]
                at = means["segment"].to_numpy()
                total[at] += means["spd"].to_numpy()
                minutes[at] += 1
                if before == minute - 1:
                    cars[at] = means["cars"].to_numpy()
        mean = np.floor(total / np.maximum(minutes, 1) + NUDGE).astype(np.int64)
        return np.where(minutes > 0, mean, -1), cars


class Spot(NamedTuple):
    """A position where cars can stop."""

    segment: int
    lane: int
    pos: int


@dataclass
class Accidents:
    """Stopped cars, and the pairs of them that are accidents.

    >>> accidents, spot = Accidents(), Spot(7, 1, 40_000)
    >>> accidents.stand(1, spot), accidents.stand(2, spot), list(accidents.segments())
    (None, None, [7])
    >>> accidents.move(2, spot), list(accidents.segments())
    (None, [])
    """

    _standing: defaultdict[Spot, list[int]] = field(default_factory=lambda: defaultdict(list))
    _pairs: dict[Spot, tuple[int, int]] = field(default_factory=dict)

    def stand(self, vid: int, spot: Spot) -> None:
        """A car stops; if another car is stopped at the spot, it is an accident."""
        if spot not in self._pairs and self._standing[spot]:
            self._pairs[spot] = (self._standing[spot][0], vid)
        self._standing[spot].append(vid)

    def move(self, vid: int, spot: Spot) -> None:
        """A stopped car has moved; if it was one of a pair, the accident is cleared."""
        self._standing[spot].remove(vid)
        if vid in self._pairs.get(spot, ()):
            del self._pairs[spot]

    def segments(self) -> Iterable[int]:
        """The segments of current accidents."""
        return (spot.segment for spot in self._pairs)

    def ahead(self, segments: int) -> Ints:
        """The segment of the nearest accident ahead, by segment; -1 if there is none."""
        found = np.full(segments, -1)
        for far in range(AHEAD, -1, -1):
            for segment in self.segments():
                seg = segment % SEGMENTS
                upstream = -1 if segment // SEGMENTS % 2 == 0 else 1
                if 0 <= seg + upstream * far < SEGMENTS:
                    found[segment + upstream * far] = seg
        return found


def tolls(lav: Ints, cars: Ints, ahead: Ints) -> Ints:
    """The tolls of a minute, by segment."""
    due = (lav < FAST) & (cars > FEW) & (ahead < 0)
    return np.where(due, 2 * (cars - FEW) ** 2, 0)
