"""Generated observations of fish tanks: the water, the fish, and occasional poisonings."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import polars as pl

from boxcars.apps.app import Chunk, Feed
from boxcars.apps.generate import first_tuples

MEASURES = ("temperature", "ph", "oxygen", "conductivity")
TANKS = 100
WATER_EVERY, FISH_EVERY = 300, 30
"""Seconds between two observations of the same tank."""
_FISH = WATER_EVERY // FISH_EVERY
_SLOT = TANKS * (1 + _FISH)
"""Tuples per slot, in which the water of each tank is measured once."""
_SLOTS = 30
"""Slots per chunk."""


@dataclass(frozen=True)
class Poisoning:
    """A poisoning of a tank: immediately visible in the water, later in the fish."""

    tank: int
    start: int
    odd: int
    """When the fish start to behave abnormally."""
    stop: int


class Laboratory:
    """The tanks, their observation times, and the poisonings."""

    def __init__(self, seed: int, slots: int) -> None:
        rng = np.random.default_rng(seed)
        self._rng = rng
        self.names = pl.Series([f"tank-{n:03d}" for n in range(TANKS)])
        self._water = rng.integers(0, WATER_EVERY, TANKS)
        self._fish = rng.integers(0, FISH_EVERY, TANKS)
        self._own = rng.normal(0, 1, TANKS)
        self.poisonings = [
            Poisoning(tank, start, start + 600, start + 2400)
            for start in range(7200, slots * WATER_EVERY - 2700, 5400)
            for tank in [int(rng.integers(0, TANKS))]
        ]

    def water(self, slots: range) -> pl.DataFrame:
        """The water of each tank, once in each slot."""
        times, tanks = self._grid(slots, self._water, 1)
        dirt = np.zeros(len(times))
        for poison in self.poisonings:
            hit = (tanks == poison.tank) & (times >= poison.start) & (times < poison.stop)
            dirt[hit] = np.minimum((times[hit] - poison.start) / 1200, 1)
        noise = self._rng.normal(0, 0.02, (4, len(times)))
        day, own = np.sin(2 * np.pi * times / 86_400), self._own[tanks]
        columns = {
            "time": times,
            "tank": self.names.gather(tanks),
            "temperature": 15 + 3 * day + own + noise[0],
            "ph": 7.5 + 0.1 * own - 1.5 * dirt + noise[1],
            "oxygen": 9 - 0.8 * day + 0.2 * own - 3 * dirt + noise[2],
            "conductivity": 300 + 20 * own + 120 * dirt + noise[3],
        }
        return pl.DataFrame(columns).with_columns(pl.col(MEASURES).round(2))

    def fish(self, slots: range) -> pl.DataFrame:
        """The breathing rate of the fish; only poison makes it abnormal."""
        times, tanks = self._grid(slots, self._fish, _FISH)
        calm = np.clip(self._rng.normal(60, 9, len(times)), 30, 90)
        odd = odd_times(self.poisonings, tanks, times)
        breathing = np.where(odd, self._rng.uniform(95, 130, len(times)), calm)
        columns = {"time": times, "tank": self.names.gather(tanks), "breathing": breathing.round(1)}
        return pl.DataFrame(columns)

    def cases(self) -> pl.DataFrame:
        """Each abnormal observation, which must cause an alarm."""
        found = [pl.DataFrame(schema={"time": pl.Int64, "tank": pl.String})]
        for poison in self.poisonings:
            first = self._fish[poison.tank]
            times = np.arange(
                poison.odd // FISH_EVERY * FISH_EVERY + first, poison.stop, FISH_EVERY
            )
            times = times[times >= poison.odd].astype(np.int64)
            tank = self.names.gather([poison.tank] * len(times))
            found.append(pl.DataFrame({"time": times, "tank": tank}))
        return pl.concat(found)

    @staticmethod
    def _grid(slots: range, phase: np.ndarray, often: int) -> tuple[np.ndarray, np.ndarray]:
        """The sorted observation times, and their tanks."""
        starts = np.arange(slots.start * often, slots.stop * often) * (WATER_EVERY // often)
        times = (starts[:, None] + phase[None, :]).ravel()
        order = np.argsort(times, kind="stable")
        return times[order].astype(np.int64), np.tile(np.arange(TANKS), len(starts))[order]


def odd_times(poisonings: list[Poisoning], tanks: np.ndarray, times: np.ndarray) -> np.ndarray:
    """Which observations are of poisoned fish."""
    odd = np.zeros(len(times), bool)
    for poison in poisonings:
        odd |= (tanks == poison.tank) & (times >= poison.odd) & (times < poison.stop)
    return odd


def feed(rows: int, seed: int) -> Feed:
    """Observations of water and fish; every hour and a half a tank is poisoned."""
    laboratory = Laboratory(seed, rows // _SLOT)
    return Feed(_chunks(laboratory, rows), {"alarms": laboratory.cases()})


def _chunks(laboratory: Laboratory, rows: int) -> Iterator[Chunk]:
    slot = 0
    while rows > 0:
        slots = range(slot, slot + _SLOTS)
        chunk = {"water": laboratory.water(slots), "fish": laboratory.fish(slots)}
        yield first_tuples(chunk, rows, "time")
        rows, slot = rows - _SLOT * _SLOTS, slot + _SLOTS
