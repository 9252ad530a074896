"""Generated calls: who calls whom, when, for how long, and the positions of both.

Phones stay at home. A few make many calls and most make few, as people do.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import polars as pl

from boxcars.apps.generate import clock

FIELDS = {
    "caller": "str",
    "callee": "str",
    "time": "int",
    "duration": "int",
    "price": "float",
    "caller_x": "float",
    "caller_y": "float",
    "callee_x": "float",
    "callee_y": "float",
}
"""The schema of the thesis: seconds, euros, and positions in kilometres."""

PHONES = 50_000
COUNTRY = 1_000.0
"""Width of the country in kilometres."""
RATE = 12.0
"""Calls per second in the whole country."""


@dataclass(frozen=True)
class Country:
    """Phones with their homes and call frequencies.

    Phones after the first ``busy`` ones are used only for planted cases.
    """

    rng: np.random.Generator
    phones: pl.Series
    homes: np.ndarray
    habit: np.ndarray
    busy: int

    @classmethod
    def settle(cls, seed: int, busy: int = PHONES, quiet: int = 0) -> Country:
        """Assign a home and a call frequency to each phone."""
        rng = np.random.default_rng(seed)
        names = pl.Series("phone", [f"+34-6{number:08d}" for number in range(busy + quiet)])
        habit = rng.pareto(3, busy) + 0.5
        homes = rng.uniform(0, COUNTRY, (busy + quiet, 2))
        return cls(rng, names, homes, np.cumsum(habit / habit.sum()), busy)

    def calls(self, rows: int, rate: float = RATE) -> Iterator[pl.DataFrame]:
        """Yield ``rows`` calls between people at home."""
        rng = self.rng
        for times in clock(rng, rows, rate):
            size = len(times)
            callers = np.searchsorted(self.habit, rng.random(size)).clip(max=self.busy - 1)
            callees = (callers + rng.integers(1, self.busy, size)) % self.busy
            lasting = np.ceil(rng.lognormal(4.5, 1, size)).astype(np.int64)
            yield self.talk(callers, callees, times, lasting)

    def talk(
        self, callers: np.ndarray, callees: np.ndarray, times: np.ndarray, lasting: np.ndarray
    ) -> pl.DataFrame:
        """Calls between phones, given by index, at their homes."""
        here, there = self.homes[callers], self.homes[callees]
        return pl.DataFrame(
            {
                "caller": self.phones.gather(callers),
                "callee": self.phones.gather(callees),
                "time": times,
                "duration": lasting,
                "price": (0.05 + 0.002 * lasting).round(2),
                "caller_x": here[:, 0],
                "caller_y": here[:, 1],
                "callee_x": there[:, 0],
                "callee_y": there[:, 1],
            }
        )
