"""Retained tuples of early-firing windows, for functions that need all of them (median)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl
from numba import njit

from boxcars.kernels.columns.keys import group_order
from boxcars.kernels.columns.slices import DIRECT, Ints, Slices

_FIRST, _LAST = "__first", "__last"


def with_windows(tuples: pl.DataFrame, first: Ints, last: Ints) -> pl.DataFrame:
    """Tuples with the range of windows that each belongs to."""
    return pl.DataFrame({**tuples.to_dict(), _FIRST: first, _LAST: last})


@dataclass(frozen=True)
class RetainedTuples:
    """Tuples sorted by key, per key the ``old`` (stored) ones first.

    ``where`` has the index of each new tuple, ``starts`` the start of each key.
    """

    tuples: pl.DataFrame
    starts: Ints
    old: Ints
    where: Ints

    @classmethod
    def of(
        cls, old: pl.DataFrame, old_codes: Ints, new: pl.DataFrame, codes: Ints, keys: int
    ) -> RetainedTuples:
        """Merge stored and new tuples."""
        order, starts = group_order(np.concatenate([old_codes, codes]), keys)
        where = np.empty(len(order), np.int64)
        where[order] = np.arange(len(order))
        return cls(
            pl.concat([old, new])[order],
            starts,
            np.bincount(old_codes, minlength=keys),
            where[len(old_codes) :],
        )

    def slices(self, key: Ints, number: Ints, new: Ints) -> Slices:
        """Slices of windows, each up to a new tuple; where ``new`` < 0, only stored tuples."""
        last = self.tuples[_LAST].to_numpy()
        lo = _first_of_windows(last, self.starts, key, number)
        hi = self.starts[key] + self.old[key]
        if len(self.where):
            hi = np.where(new >= 0, self.where[np.maximum(new, 0)] + 1, hi)
        parts = np.full(len(key), DIRECT, np.uint8)
        nothing = np.zeros(len(key), np.uint32)
        return Slices(nothing, lo.astype(np.uint32), hi.astype(np.uint32), parts)

    def retained(self, key: Ints, number: Ints, distinct: bool) -> pl.DataFrame:
        """The tuples of these windows and of later windows of their keys.

        Where only ``distinct`` values matter, duplicates in the same windows are retained once:
        then the size is bounded by the number of values, however long a window grows.
        """
        least = np.full(len(self.starts) - 1, np.iinfo(np.int64).max)
        np.minimum.at(least, key, number)
        needed = np.repeat(least, np.diff(self.starts))
        retained = self.tuples.filter(self.tuples[_LAST] >= pl.Series(needed))
        return retained.unique(keep="first", maintain_order=True) if distinct else retained


@njit(cache=True, nogil=True)
def _first_of_windows(last: Ints, starts: Ints, key: Ints, number: Ints) -> Ints:
    """Start of each window, by binary search: the last window of tuples never decreases."""
    found = np.empty(len(key), np.int64)
    for row in range(len(key)):
        begin, stop = starts[key[row]], starts[key[row] + 1]
        found[row] = begin + np.searchsorted(last[begin:stop], number[row])
    return found
