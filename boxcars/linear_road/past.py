"""The history for the validator: from tables, or computed from the seed."""

from __future__ import annotations

from math import ceil
from typing import Any, Protocol

import numpy as np
import polars as pl
from numba import njit
from numpy.typing import NDArray

from boxcars.linear_road.facts import DAY, FAST, FEW, SEGMENTS, WEEK
from boxcars.linear_road.history import past_mean, past_toll, past_xway

Ints = NDArray[np.int64]


class Past(Protocol):
    """Answers from the history of ten weeks."""

    def expenditures(self, requests: pl.DataFrame) -> pl.Series:
        """The expected answer to each request of type 3; null if there is no such row."""

    def travel_times(self, requests: pl.DataFrame) -> pl.DataFrame:
        """The ``travel_time`` and ``toll`` of each request of type 4; null if a row is missing."""


class Seeded:
    """The history of generated traffic."""

    def __init__(self, expressways: float, seed: int) -> None:
        self._xways, self._seed = ceil(expressways), seed

    def expenditures(self, requests: pl.DataFrame) -> pl.Series:
        """Compute the tolls: the history is a function of vehicle and day."""
        columns = (requests[name].to_numpy() for name in ("vid", "day", "xway"))
        tolls = pl.Series("expenditure", _expenditures(self._seed, self._xways, *columns))
        return tolls.set(tolls < 0, None)

    def travel_times(self, requests: pl.DataFrame) -> pl.DataFrame:
        """Compute the travel times, one request at a time."""
        names = ("xway", "s_init", "s_end", "dow", "tod")
        times, tolls = _travel(self._seed, *(requests[name].to_numpy() for name in names))
        return pl.DataFrame({"travel_time": times, "toll": tolls})


class Stored:
    """A history in tables: ``vid, day, xway, toll`` and ``xway, dir, seg, dow, tod, lav, cnt``."""

    def __init__(self, tolls: pl.DataFrame, means: pl.DataFrame) -> None:
        self._tolls = tolls
        keys = _key(*(means[name].to_numpy() for name in ("xway", "dir", "seg", "dow", "tod")))
        order = np.argsort(keys)
        self._keys, self._lav = keys[order], means["lav"].to_numpy()[order]
        self._cars = means["cnt"].to_numpy()[order]

    def expenditures(self, requests: pl.DataFrame) -> pl.Series:
        """Look up the row of vehicle, day and expressway."""
        keys = ["vid", "day", "xway"]
        found = requests.select(keys).join(self._tolls, on=keys, how="left", maintain_order="left")
        return found["toll"].alias("expenditure")

    def travel_times(self, requests: pl.DataFrame) -> pl.DataFrame:
        """Compute the travel times from the table, all requests one segment at a time."""
        names = ("xway", "s_init", "s_end", "dow", "tod")
        xway, seg, end, dow, tod = (requests[name].to_numpy().copy() for name in names)
        west = seg > end
        times, tolls = np.zeros(len(seg), np.int64), np.zeros(len(seg), np.int64)
        known, on = np.ones(len(seg), bool), np.ones(len(seg), bool)
        while on.any():
            minute = (tod - 1 + times // 60) % DAY + 1
            there, lav, cars = self._look_up(_key(xway, west.astype(np.int64), seg, dow, minute))
            known &= there | ~on
            times += np.where(on, 3_600 // np.maximum(lav, 1), 0)
            tolls += np.where(on & (lav < FAST) & (cars > FEW), 2 * (cars - FEW) ** 2, 0)
            on &= seg != end
            seg += np.where(west, -1, 1)
        frame = pl.DataFrame({"travel_time": times, "toll": tolls})
        return frame.with_columns(pl.when(pl.Series(known)).then(pl.all()))

    def _look_up(self, keys: Ints) -> tuple[NDArray[np.bool_], Ints, Ints]:
        """Whether these keys have rows, and their LAVs and numbers of cars."""
        if not len(self._keys):
            return np.zeros(len(keys), bool), np.zeros_like(keys), np.zeros_like(keys)
        at = np.searchsorted(self._keys, keys).clip(max=len(self._keys) - 1)
        return self._keys[at] == keys, self._lav[at], self._cars[at]


def _key(xway: Ints, direction: Ints, seg: Ints, dow: Ints, tod: Ints) -> Ints:
    """Encode a minute of a segment as one number."""
    return (((xway * 2 + direction) * SEGMENTS + seg) * (WEEK + 1) + dow) * (DAY + 1) + tod


@njit(cache=True, nogil=True)
def _expenditures(seed: int, xways: int, vid: Any, day: Any, xway: Any) -> Any:
    tolls = np.full(len(vid), -1, np.int64)
    for i in range(len(vid)):
        if past_xway(seed, vid[i], day[i], xways) == xway[i]:
            tolls[i] = past_toll(seed, vid[i], day[i])
    return tolls


@njit(cache=True, nogil=True)
def _travel(seed: int, xway: Any, s_init: Any, s_end: Any, dow: Any, tod: Any) -> Any:
    times, tolls = np.zeros(len(xway), np.int64), np.zeros(len(xway), np.int64)
    for i in range(len(xway)):
        direction = 1 if s_init[i] > s_end[i] else 0
        for far in range(abs(s_end[i] - s_init[i]) + 1):
            seg = s_init[i] - far if direction else s_init[i] + far
            minute = (tod[i] - 1 + times[i] // 60) % DAY + 1
            lav, cars = past_mean(seed, dow[i], minute, xway[i], direction, seg)
            times[i] += 3_600 // max(lav, 1)
            if lav < FAST and cars > FEW:
                tolls[i] += 2 * (cars - FEW) ** 2
    return times, tolls
