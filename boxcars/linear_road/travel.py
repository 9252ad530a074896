"""The box that predicts travel times: segment by segment, for the minute of arrival."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
import polars as pl
from numba import njit

from boxcars.kernels.contract import State
from boxcars.kernels.user.operator import Operator, Setup
from boxcars.linear_road.facts import DAY, FAST, FEW
from boxcars.model.schema import Schema

ASKED = ("xway", "s_init", "s_end", "dow", "tod")


@dataclass(frozen=True)
class TravelTime(Operator):
    """Travel time in seconds and the toll from one segment to another.

    ``past`` is a NumPy file: for each expressway, direction, segment, day of the week and minute
    of the day the mean speed and the mean number of cars.
    """

    past: str

    def setup(self, inputs: tuple[Schema, ...]) -> Setup:
        """The output fields."""
        return Setup(fields=dict.fromkeys(("time", "qid", "travel_time", "toll"), "int"))

    def on_train(self, state: State, train: pl.DataFrame) -> tuple[pl.DataFrame, State]:
        """Answer each request."""
        asked = [train[name].to_numpy() for name in ASKED]
        seconds, toll = predict(_load(self.past), *asked)
        answers = train.select("time", "qid", *(c for c in train.columns if c.startswith("__")))
        return answers.with_columns(travel_time=pl.Series(seconds), toll=pl.Series(toll)), state


@lru_cache(maxsize=2)
def _load(past: str) -> np.ndarray:
    return np.asarray(np.load(past, mmap_mode="r"))


@njit(cache=True, nogil=True)
def predict(past: Any, xway: Any, s_init: Any, s_end: Any, dow: Any, tod: Any) -> Any:
    """The travel times in seconds and the tolls of some trips."""
    times, tolls = np.zeros(len(xway), np.int64), np.zeros(len(xway), np.int64)
    for i in range(len(xway)):
        west = s_init[i] > s_end[i]
        step = -1 if west else 1
        seg, seconds = s_init[i], 0
        while True:
            minute = (tod[i] - 1 + seconds // 60) % DAY
            lav, cars = past[xway[i], int(west), seg, dow[i] - 1, minute]
            seconds += 3_600 // max(int(lav), 1)
            if lav < FAST and cars > FEW:
                tolls[i] += 2 * (int(cars) - FEW) ** 2
            if seg == s_end[i]:
                break
            seg += step
        times[i] = seconds
    return times, tolls
