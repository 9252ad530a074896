"""Runs of consecutive time windows of a key that hold the same tuples.

A tuple that arrives alone lies in many windows of a small advance, and is all they hold. Their
result is computed once per run, key by key while the tuples are in cache, and then copied to each
window of the run.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import polars as pl
from numba import njit
from numpy.typing import NDArray

from boxcars.kernels.columns.slices import DIRECT, HEAD, TAIL, Flags, Indices, Ints, Slices

_MAX_COUNTERS = 4_000_000
"""Windows; up to this many get a counter each, whether they hold a tuple or not."""


@dataclass(frozen=True)
class Panes:
    """Blocks and window ranges of tuples, as the loops need them.

    Computed for all tuples at once: a division inside the loop would cost more than the rest of it.
    """

    block: Ints
    first: Ints
    last: Ints
    change: Ints
    """The first window that starts in the block."""

    @classmethod
    def of(cls, pane: Ints, size: int, advance: int) -> Panes:
        """Compute from the panes of the tuples."""
        block = pane // size
        if advance == 1:
            return cls(block, pane - (size - 1), pane, block * size)
        first, last = (pane - size) // advance + 1, pane // advance
        return cls(block, first, last, -(-block * size // advance))


@dataclass(frozen=True)
class EqualRuns:
    """The windows of each run: from ``since`` up to ``until``, indices into ``windows``.

    ``rows`` has the number of result rows of each window, one for each key that has tuples in it.
    They follow those of the previous windows, in the order of keys.
    """

    since: Indices
    until: Indices
    windows: Ints
    rows: Ints

    @cached_property
    def _run(self) -> pl.Series:
        """The run of each result row."""
        return pl.Series(self.spread(np.arange(len(self.since), dtype=np.uint32)))

    def repeat(self, column: pl.Series) -> pl.Series:
        """Expand a value per window to result rows."""
        numbers = column.to_physical().to_numpy()
        return pl.Series(np.repeat(numbers, self.rows)).cast(column.dtype)

    def spread(self, numbers: NDArray[Any]) -> NDArray[Any]:
        """Expand a value per run to result rows."""
        return np.asarray(_spread(numbers, self.since, self.until, self.rows))

    def spread_column(self, column: pl.Series) -> pl.Series:
        """Expand a column of any type."""
        if _plain(column):
            return pl.Series(self.spread(column.to_numpy()))
        return column.gather(self._run)

    def spread_all(
        self, key: Indices, columns: Sequence[pl.Series]
    ) -> tuple[Indices, list[pl.Series]]:
        """Expand keys and columns; two numeric columns are expanded along with the keys."""
        plain = [i for i, column in enumerate(columns) if _plain(column)][:2]
        if len(plain) < 2:
            return self.spread(key), [self.spread_column(column) for column in columns]
        one, other = (columns[i].to_numpy() for i in plain)
        keys, *both = _spread_three(
            key, one.view(np.int64), other.view(np.int64), self.since, self.until, self.rows
        )
        found = dict(zip(plain, (both[0].view(one.dtype), both[1].view(other.dtype)), strict=True))
        return keys, [
            pl.Series(found[i]) if i in found else self.spread_column(column)
            for i, column in enumerate(columns)
        ]


def _plain(column: pl.Series) -> bool:
    return column.dtype in (pl.Int64, pl.Float64) and not column.null_count()


def closed_windows(panes: Panes, starts: Ints, first: int, end: int) -> tuple[Slices, EqualRuns]:
    """The windows from ``first`` up to ``end`` that hold a tuple: one slice per run."""
    found, windows, offset = [], [np.empty(0, np.int64)], 0
    for low, high in _spans(panes, first, end):
        columns = _equal_runs(panes.block, panes.first, panes.last, panes.change, starts, low, high)
        found.append((*columns[:4], columns[4] + offset, columns[5] + offset, columns[6]))
        windows.append(np.arange(low, high))
        offset += high - low
    key, lo, hi, parts, since, until, rows = (
        found[0] if len(found) == 1 else map(np.concatenate, zip(*found, strict=True))
    )
    return Slices(key, lo, hi, parts), EqualRuns(since, until, np.concatenate(windows), rows)


def _spans(panes: Panes, first: int, end: int) -> list[tuple[int, int]]:
    """Ranges of windows that may hold tuples, skipping long gaps of empty ones.

    Event time may jump arbitrarily far, also by mistake: the cost must depend on the tuples alone.
    """
    if end - first <= _MAX_COUNTERS or not len(panes.first):
        return [(first, end if len(panes.first) else first)]
    begins, ends = np.sort(panes.first), np.sort(panes.last)
    gaps = np.flatnonzero(begins[1:] - ends[:-1] > max(_MAX_COUNTERS // len(begins), 1))
    lows = np.maximum(np.concatenate([begins[:1], begins[gaps + 1]]), first)
    highs = np.minimum(np.concatenate([ends[gaps], ends[-1:]]) + 1, end)
    spans = [(int(low), int(high)) for low, high in zip(lows, highs, strict=True) if low < high]
    return spans or [(first, first)]


@njit(cache=True, nogil=True)
def _equal_runs(
    block: Ints, firsts: Ints, lasts: Ints, change: Ints, starts: Ints, first: int, end: int
) -> tuple[Indices, Indices, Indices, Flags, Indices, Indices, Ints]:
    """For each tuple, the windows in which it is the last, by the first tuple they hold.

    ``change`` has the first window that starts in the block of a tuple: before it a slice is the
    head of that block, from there on a tail, which is added in another order. So a run ends there,
    unless it holds a single tuple and there is nothing to add.
    """
    room = 3 * len(block)  # A run starts at a last tuple, at a first one, or at a change.
    key, low, high = np.empty(room, np.uint32), np.empty(room, np.uint32), np.empty(room, np.uint32)
    since, until = np.empty(room, np.uint32), np.empty(room, np.uint32)
    parts = np.empty(room, np.uint8)
    rows = np.zeros(end - first + 1, np.int64)
    n = 0
    for code in range(len(starts) - 1):
        lo, stop = starts[code], starts[code + 1]
        for i in range(lo, stop):
            k, until_k = max(firsts[i], first), min(lasts[i] + 1, end)
            if i + 1 < stop:
                until_k = min(until_k, firsts[i + 1])
            while k < until_k:
                while lasts[lo] < k:
                    lo += 1
                to, part = min(until_k, lasts[lo] + 1), DIRECT
                if lo < i and k < change[lo]:
                    to, part = min(to, change[lo]), HEAD
                elif lo < i:
                    part = TAIL if block[lo] == block[i] else TAIL | HEAD
                key[n], low[n], high[n], parts[n] = code, lo, i + 1, part
                since[n], until[n] = k - first, to - first
                rows[k - first] += 1
                rows[to - first] -= 1
                n += 1
                k = to
    return key[:n], low[:n], high[:n], parts[:n], since[:n], until[:n], np.cumsum(rows)[:-1]


@njit(cache=True, nogil=True)
def _spread(values: NDArray[Any], since: Indices, until: Indices, rows: Ints) -> NDArray[Any]:
    target = np.cumsum(rows) - rows
    out = np.empty(rows.sum(), values.dtype)
    for run in range(len(since)):
        value = values[run]
        for window in range(since[run], until[run]):
            out[target[window]] = value
            target[window] += 1
    return out


@njit(cache=True, nogil=True)
def _spread_three(
    keys: Indices, values: Ints, others: Ints, since: Indices, until: Indices, rows: Ints
) -> tuple[Indices, Ints, Ints]:
    """Expand three columns in one pass: computing the target row costs as much as writing it."""
    target, total = np.cumsum(rows) - rows, rows.sum()
    out = np.empty(total, np.uint32), np.empty(total, np.int64), np.empty(total, np.int64)
    for run in range(len(since)):
        key, value, other = keys[run], values[run], others[run]
        for window in range(since[run], until[run]):
            row = target[window]
            out[0][row], out[1][row], out[2][row] = key, value, other
            target[window] = row + 1
    return out
