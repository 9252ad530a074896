"""Interpolation: the tuples near each resampling time, and the value there."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl
from numba import njit
from numpy.typing import NDArray

from boxcars.kernels.aggregates.builtin import FUNCTIONS, Function, Ints
from boxcars.kernels.aggregates.partials import Columns
from boxcars.kernels.columns.folds import Windows
from boxcars.kernels.columns.slices import DIRECT, Slices

Numbers = NDArray[Any]
Mask = NDArray[np.bool_]


@dataclass(frozen=True, kw_only=True)
class Nearby(Windows):
    """The tuples near each of the times ``at``; ``times`` are those of the tuples."""

    at: Numbers
    times: Numbers

    @classmethod
    def of(cls, at: Numbers, times: Numbers, lo: Ints, hi: Ints) -> Nearby:
        """The tuples from ``lo`` up to ``hi`` for each time, at least one."""
        parts = np.full(len(at), DIRECT, np.uint8)
        key = np.zeros(len(at), np.uint32)
        slices = Slices(key, lo.astype(np.uint32), hi.astype(np.uint32), parts)
        return cls(slices, np.zeros(len(times), np.int64), at=at, times=times)


def _interpolate(windows: Windows, columns: Columns) -> pl.Series:
    assert isinstance(windows, Nearby)
    values = columns[0].cast(pl.Float64)
    found, known = _between(
        values.fill_null(0).to_numpy(),
        values.is_not_null().to_numpy(),
        windows.times,
        windows.at,
        np.searchsorted(windows.times, windows.at, "right"),
        windows.slices.lo.astype(np.int64),
        windows.slices.hi.astype(np.int64),
    )
    return pl.select(pl.when(pl.Series(known)).then(pl.Series(found))).to_series()


@njit(cache=True, nogil=True)
def _between(
    values: Numbers, valid: Mask, times: Numbers, at: Numbers, middle: Ints, lo: Ints, hi: Ints
) -> tuple[Numbers, Mask]:
    """Interpolate linearly between the last value up to a time and the first one after it.

    ``middle`` is the first tuple after each time.
    """
    out, known = np.zeros(len(at)), np.zeros(len(at), np.bool_)
    for row in range(len(at)):
        i, j = middle[row] - 1, middle[row]
        while i >= lo[row] and not valid[i]:
            i -= 1
        while j < hi[row] and not valid[j]:
            j += 1
        if i < lo[row]:
            continue
        if times[i] == at[row]:
            out[row], known[row] = values[i], True
        elif j < hi[row]:
            share = (at[row] - times[i]) / (times[j] - times[i])
            out[row], known[row] = values[i] + (values[j] - values[i]) * share, True
    return out, known


INTERPOLATE = Function(
    "interpolate",
    "interpolate(x)",
    "The value at the time itself, interpolated linearly between the values before and after it.",
    (1, 1),
    FUNCTIONS["avg"].result,
    _interpolate,
)
