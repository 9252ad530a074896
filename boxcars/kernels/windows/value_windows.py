"""Value windows: over the value of a field that never decreases within a key.

A window closes when a tuple of its key has a value at or after its end. A tuple whose value is less
than an earlier one of its key is late.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil
from typing import Any

import numpy as np
import polars as pl
from numba import njit

from boxcars.kernels.columns.folds import Mask, Numbers, Windows
from boxcars.kernels.columns.frames import drop_columns, physical_numbers, take_rows, with_columns
from boxcars.kernels.columns.keys import group_order
from boxcars.kernels.columns.slices import Flags, Indices, Ints, Slices, block_ids, parts_of
from boxcars.kernels.contract import Frontier, append_rows, physical_value
from boxcars.kernels.windows.axis import Axis
from boxcars.kernels.windows.blocks import Blocks, SlideResult
from boxcars.kernels.windows.window_results import Grouping, Timers, separate_tails

VALUE = "__value"
"""The column with the value of the window's field."""
_PANE = "__pane"


@dataclass(frozen=True)
class ValueWindows(Blocks):
    """Windows along the axis of a field; with ``flush`` open ones close at the end of the input.

    With ``obsolete``, a time in physical units, the field is the order attribute, and a window has
    a result only if the tuple that closes it is less than that after its end (thesis, 5.5.1).
    """

    axis: Axis
    flush: bool
    obsolete: Any = None

    @property
    def block(self) -> int:
        """The window size in panes."""
        return self.axis.size

    @property
    def overlap(self) -> bool:
        """Whether windows are not aligned to blocks."""
        return self.axis.advance % self.axis.size != 0

    @property
    def axis_column(self) -> str:
        """The column with the panes of values."""
        return _PANE

    def with_axis(self, rows: pl.DataFrame) -> pl.DataFrame:
        """Rows with the pane of their value."""
        return with_columns(rows, [pl.Series(_PANE, self.axis.pane_of(rows[VALUE]))])

    def reached(self, position: Ints, key: Ints, new: pl.DataFrame) -> Ints:
        """The pane of the greatest value of each key."""
        return greatest(position, key, new[_PANE].to_numpy())

    def last_start(self, reached: Ints) -> Ints:
        """Start of the last windows that end there."""
        return np.asarray((reached - self.axis.size) // self.axis.advance * self.axis.advance)

    def slide(
        self, group: Grouping, rows: pl.DataFrame, new: pl.DataFrame, frontier: Frontier
    ) -> SlideResult:
        """Close the windows whose end a later value has reached."""
        axis, held = self.axis, rows.height
        tuples = append_rows(rows, new)
        index = np.arange(tuples.height)
        late = late_indices(tuples, group)
        if len(late):
            index = np.delete(index, late)
            tuples = tuples[index]
        keys = group.keys(tuples, in_order=frontier.final and self.flush)
        order, starts = group_order(keys.codes, keys.number)
        ordered = take_rows(drop_columns(tuples, group.encoded_columns), order)
        pane = ordered[_PANE].to_numpy()
        final = frontier.final and self.flush
        seen = index[order] < held
        found = _closed_slices(pane, starts, seen, axis.size, axis.advance, final)
        key, lo, hi, parts, closing, number, keep = found
        dtype = ordered.schema[group.ts]
        times = physical_numbers(ordered[group.ts])
        now = times.dtype.type(0)
        if frontier.value is not None:
            now = physical_value(frontier.value, dtype)
        last = closing < 0
        close_times = np.where(last, now, times[closing]) if len(times) else times
        closer = np.where(last, len(order), order[closing] if len(order) else closing)
        rank = np.lexsort((np.arange(len(key)), closer, close_times))
        timers = None
        if self.obsolete is not None:
            ends = axis.values(number * axis.advance + axis.size).to_physical().to_numpy()
            rank = rank[close_times[rank] < ends[rank] + self.obsolete]
            due = self._obsolete_at(times[starts[1:] - 1])
            if frontier.value is not None:
                keep &= np.repeat(due > now, np.diff(starts))
            fresh = np.flatnonzero(~seen[starts[1:] - 1])
            timers = Timers(fresh, due[fresh])
        slices = Slices(key, lo, hi, parts).take(rank)
        return SlideResult(
            tuples=ordered,
            starts=starts,
            needed=np.flatnonzero(keep),
            windows=Windows(slices, block_ids(separate_tails(pane // axis.size, ordered), starts)),
            keys=keys.table,
            key=slices.key,
            ts=pl.Series(close_times[rank]).cast(dtype),
            frontier=frontier,
            state={},
            late=late - held,
            timers=timers,
            cause=np.where(last, -1, np.append(index, 0)[closer] - held)[rank],
            phase=last[rank].astype(np.int64) if self.flush else None,
        )

    def _obsolete_at(self, times: Numbers) -> Numbers:
        """When all windows of keys with last tuples at these times are obsolete."""
        size = float(self.axis.size * self.axis.pane)
        span = size + self.obsolete if times.dtype == np.float64 else ceil(size) + self.obsolete
        return np.asarray(times + times.dtype.type(span))


def greatest(position: Ints, key: Ints, positions: Ints) -> Ints:
    """The greatest axis position of each key, old or new."""
    found = position.copy()
    np.maximum.at(found, key, positions)
    return found


def late_indices(tuples: pl.DataFrame, group: Grouping) -> Ints:
    """Indices of the tuples whose value is less than an earlier one of their key."""
    keys = group.keys(tuples, in_order=False)
    order, starts = group_order(keys.codes, keys.number)
    late = _late(physical_numbers(tuples[VALUE])[order], starts)
    return np.sort(order[late]).astype(np.int64)


@njit(cache=True, nogil=True)
def _late(values: Numbers, starts: Ints) -> Mask:
    """Mask of the tuples whose value is less than an earlier one of their key."""
    late = np.zeros(len(values), np.bool_)
    for code in range(len(starts) - 1):
        if starts[code] == starts[code + 1]:
            continue
        greatest = values[starts[code]]
        for i in range(starts[code], starts[code + 1]):
            late[i] = values[i] < greatest
            greatest = max(greatest, values[i])
    return late


@njit(cache=True, nogil=True)
def _first_open(pane: Ints, seen: Mask, size: int, advance: int) -> int:
    """The first window left open by the tuples that were seen before."""
    k = 0
    for i in range(len(pane)):
        if seen[i]:
            k = max(k, (pane[i] - size) // advance + 1)
    return k


@njit(cache=True, nogil=True)
def _closed_slices(
    pane: Ints, starts: Ints, seen: Mask, size: int, advance: int, flush: bool
) -> tuple[Indices, Indices, Indices, Flags, Ints, Ints, Mask]:
    """Slices of the windows that a new tuple of their key closes, ordered by key and window.

    ``seen`` tuples closed all that they could before. Also returns the tuple that closed each
    window (-1: the end of the input), the number of the window, and a mask of the tuples still
    needed: those of open windows, and the last of each key, which records how far its values have
    advanced; none after a flush, since one input may end long before the run.
    """
    rows = [(0, 0, 0, 0, 0, 0)]
    rows.clear()
    keep = np.zeros(len(pane), np.bool_)
    for code in range(len(starts) - 1):
        stop = starts[code + 1]
        lo = hi = starts[code]
        k = _first_open(pane[lo:stop], seen[lo:stop], size, advance)
        while lo < stop:
            k = max(k, (pane[lo] - size) // advance + 1)
            begin = k * advance
            while lo < stop and pane[lo] < begin:
                lo += 1
            hi = max(hi, lo)
            while hi < stop and pane[hi] < begin + size:
                hi += 1
            if hi == stop and not flush:
                break
            if lo < hi:
                part = parts_of(pane[lo], pane[hi - 1], begin, size)
                rows.append((code, lo, hi, part, hi if hi < stop else -1, k))
                k += 1
        for i in range(starts[code], stop):
            keep[i] = not flush and (pane[i] >= k * advance or i == stop - 1)
    n = len(rows)
    key, low, high = np.empty(n, np.uint32), np.empty(n, np.uint32), np.empty(n, np.uint32)
    parts, closing, number = np.empty(n, np.uint8), np.empty(n, np.int64), np.empty(n, np.int64)
    for row in range(n):
        key[row], low[row], high[row], parts[row], closing[row], number[row] = rows[row]
    return key, low, high, parts, closing, number, keep
