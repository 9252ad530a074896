"""Time windows that closed, in stretches: windows of a key one after another with the same tuples.

A tuple that comes alone lies in many windows that slide by a little, and is all that they hold.
What they come to is computed once for the whole stretch, key by key, while its tuples are at hand,
and then given to each of its windows.
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

from boxcars.kernels.columns.slices import DIRECT, HEAD, TAIL, Flags, Ints, Places, Slices

_MANY = 4_000_000
"""Windows for each of which there may be a counter, whether they hold a tuple or not."""


@dataclass(frozen=True)
class Panes:
    """What the loops need to know of tuples: their blocks, and the windows that they lie in.

    Found for all tuples at once: a division in a loop takes longer than all the rest of it.
    """

    block: Ints
    first: Ints
    last: Ints
    change: Ints
    """The first window that starts in the block."""

    @classmethod
    def of(cls, pane: Ints, size: int, advance: int) -> Panes:
        """From the panes of the tuples."""
        block = pane // size
        if advance == 1:
            return cls(block, pane - (size - 1), pane, block * size)
        first, last = (pane - size) // advance + 1, pane // advance
        return cls(block, first, last, -(-block * size // advance))


@dataclass(frozen=True)
class Stretches:
    """Which windows each stretch goes over: from ``since`` up to ``until``, places in ``windows``.

    The rows of a window, one for each key that has tuples in it, are ``rows`` in number; they lie
    behind those of the windows before it, in the order of keys.
    """

    since: Places
    until: Places
    windows: Ints
    rows: Ints

    @cached_property
    def _stretch(self) -> pl.Series:
        """The stretch of each row."""
        return pl.Series(self.spread(np.arange(len(self.since), dtype=np.uint32)))

    def repeat(self, column: pl.Series) -> pl.Series:
        """What each window has, for each row."""
        numbers = column.to_physical().to_numpy()
        return pl.Series(np.repeat(numbers, self.rows)).cast(column.dtype)

    def spread(self, numbers: NDArray[Any]) -> NDArray[Any]:
        """What each stretch has, for each row."""
        return np.asarray(_spread(numbers, self.since, self.until, self.rows))

    def spread_column(self, column: pl.Series) -> pl.Series:
        """The same for a column of any type."""
        if _plain(column):
            return pl.Series(self.spread(column.to_numpy()))
        return column.gather(self._stretch)

    def spread_all(
        self, key: Places, columns: Sequence[pl.Series]
    ) -> tuple[Places, list[pl.Series]]:
        """The same for keys and columns; two columns of numbers go together with the keys."""
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


def closed_windows(panes: Panes, starts: Ints, first: int, end: int) -> tuple[Slices, Stretches]:
    """The windows from ``first`` up to ``end`` that hold a tuple: a slice for each stretch."""
    found, windows, behind = [], [np.empty(0, np.int64)], 0
    for low, high in _spans(panes, first, end):
        columns = _stretches(panes.block, panes.first, panes.last, panes.change, starts, low, high)
        found.append((*columns[:4], columns[4] + behind, columns[5] + behind, columns[6]))
        windows.append(np.arange(low, high))
        behind += high - low
    key, lo, hi, parts, since, until, rows = (
        found[0] if len(found) == 1 else map(np.concatenate, zip(*found, strict=True))
    )
    return Slices(key, lo, hi, parts), Stretches(since, until, np.concatenate(windows), rows)


def _spans(panes: Panes, first: int, end: int) -> list[tuple[int, int]]:
    """Where windows may hold tuples, without long stretches of empty ones.

    Time may jump as far as it likes, by a mistake too: only what comes may cost anything.
    """
    if end - first <= _MANY or not len(panes.first):
        return [(first, end if len(panes.first) else first)]
    begins, ends = np.sort(panes.first), np.sort(panes.last)
    gaps = np.flatnonzero(begins[1:] - ends[:-1] > max(_MANY // len(begins), 1))
    lows = np.maximum(np.concatenate([begins[:1], begins[gaps + 1]]), first)
    highs = np.minimum(np.concatenate([ends[gaps], ends[-1:]]) + 1, end)
    spans = [(int(low), int(high)) for low, high in zip(lows, highs, strict=True) if low < high]
    return spans or [(first, first)]


@njit(cache=True, nogil=True)
def _stretches(
    block: Ints, firsts: Ints, lasts: Ints, change: Ints, starts: Ints, first: int, end: int
) -> tuple[Places, Places, Places, Flags, Places, Places, Ints]:
    """For each tuple the windows in which it is the last one, by the first tuple they hold.

    ``change`` has the first window that starts in the block of a tuple: before it a slice is the
    head of that block, from there on a tail, which is added up in another order. So a stretch ends
    there, unless it holds one tuple and there is nothing to add.
    """
    room = 3 * len(block)  # A stretch starts with a last tuple, a first one, or a change.
    key, low, high = np.empty(room, np.uint32), np.empty(room, np.uint32), np.empty(room, np.uint32)
    since, until = np.empty(room, np.uint32), np.empty(room, np.uint32)
    parts = np.empty(room, np.uint8)
    rows = np.zeros(end - first + 1, np.int64)
    n = 0
    for code in range(len(starts) - 1):
        lo, stop = starts[code], starts[code + 1]
        for i in range(lo, stop):
            k, behind = max(firsts[i], first), min(lasts[i] + 1, end)
            if i + 1 < stop:
                behind = min(behind, firsts[i + 1])
            while k < behind:
                while lasts[lo] < k:
                    lo += 1
                to, part = min(behind, lasts[lo] + 1), DIRECT
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
def _spread(values: NDArray[Any], since: Places, until: Places, rows: Ints) -> NDArray[Any]:
    place = np.cumsum(rows) - rows
    out = np.empty(rows.sum(), values.dtype)
    for stretch in range(len(since)):
        value = values[stretch]
        for window in range(since[stretch], until[stretch]):
            out[place[window]] = value
            place[window] += 1
    return out


@njit(cache=True, nogil=True)
def _spread_three(
    keys: Places, values: Ints, others: Ints, since: Places, until: Places, rows: Ints
) -> tuple[Places, Ints, Ints]:
    """Three at once: to find out where they go takes as long as to write them there."""
    place, total = np.cumsum(rows) - rows, rows.sum()
    out = np.empty(total, np.uint32), np.empty(total, np.int64), np.empty(total, np.int64)
    for stretch in range(len(since)):
        key, value, other = keys[stretch], values[stretch], others[stretch]
        for window in range(since[stretch], until[stretch]):
            row = place[window]
            out[0][row], out[1][row], out[2][row] = key, value, other
            place[window] = row + 1
    return out
