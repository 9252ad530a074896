"""The loops of early-firing windows: the open windows of each key, and the new tuples in each."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from boxcars.kernels.columns.folds import Mask, Numbers

Ints = NDArray[np.int64]


@dataclass(frozen=True)
class Groups:
    """Windows by key and number: the row of stored partials (``old``, -1: none) and new tuples.

    The new tuples of a window are ``[lo, hi)`` of those sorted by key; ``after`` is the next tuple
    of its key after them (-1: none).
    """

    key: Ints
    id: Ints
    old: Ints
    lo: Ints
    hi: Ints
    after: Ints

    @property
    def starts(self) -> Ints:
        """Start of each window among the rows of all: its stored row first, then its new tuples."""
        sizes = (self.old >= 0) + self.hi - self.lo
        return np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)

    def rows(self, kept: int) -> Ints:
        """Row indices of all windows: below ``kept`` stored rows, from there on new tuples."""
        return _rows(self.old, self.lo, self.hi, kept)


def form_groups(
    first: Ints, last: Ints, starts: Ints, old_key: Ints, old_id: Ints, number: int
) -> Groups:
    """The stored windows and those that new tuples open, ordered by key and number."""
    order = np.lexsort((old_id, old_key))
    old_starts = np.searchsorted(old_key[order], np.arange(number + 1))
    return Groups(*_form(first, last, starts, old_starts, order, old_id[order]))


@njit(cache=True, nogil=True)
def _form(
    first: Ints, last: Ints, starts: Ints, old_starts: Ints, old_order: Ints, old_ids: Ints
) -> tuple[Ints, Ints, Ints, Ints, Ints, Ints]:
    rows = [(0, 0, 0, 0, 0, 0)]
    rows.clear()
    for key in range(len(starts) - 1):
        lo = hi = starts[key]
        stop, old, old_stop = starts[key + 1], old_starts[key], old_starts[key + 1]
        current = np.int64(-(2**62))
        while True:
            while lo < stop and max(first[lo], current) > last[lo]:
                lo += 1
            if lo == stop and old == old_stop:
                break
            number = max(first[lo], current) if lo < stop else old_ids[old]
            if old < old_stop:
                number = min(number, old_ids[old])
            hi = max(hi, lo) if lo < stop and first[lo] <= number else hi
            while hi < stop and first[hi] <= number:
                hi += 1
            begin = lo if lo < stop and first[lo] <= number else hi
            kept = old < old_stop and old_ids[old] == number
            which = int(old_order[old]) if kept else -1
            rows.append((key, int(number), which, begin, hi, hi if hi < stop else -1))
            old += kept
            current = number + 1
    out = np.empty((6, len(rows)), np.int64)
    for row in range(len(rows)):
        for column, value in enumerate(rows[row]):
            out[column, row] = value
    return out[0], out[1], out[2], out[3], out[4], out[5]


@njit(cache=True, nogil=True)
def _rows(old: Ints, lo: Ints, hi: Ints, kept: int) -> Ints:
    total = 0
    for group in range(len(old)):
        total += hi[group] - lo[group] + (old[group] >= 0)
    rows = np.empty(total, np.int64)
    n = 0
    for group in range(len(old)):
        if old[group] >= 0:
            rows[n] = old[group]
            n += 1
        for i in range(lo[group], hi[group]):
            rows[n] = kept + i
            n += 1
    return rows


@njit(cache=True, nogil=True)
def late_tuples(values: Numbers, starts: Ints, known: Mask, greatest: Numbers) -> Mask:
    """Mask of the tuples whose value is less than an earlier one of their key."""
    late = np.zeros(len(values), np.bool_)
    for key in range(len(starts) - 1):
        some = known[key]
        most: Any = greatest[key]
        for i in range(starts[key], starts[key + 1]):
            late[i] = some and values[i] < most
            if not late[i]:
                some, most = True, values[i]
    return late
