"""Value windows: over the value of a field that never goes down within a key.

A window closes when a tuple of its key has a value at or behind its end. A tuple whose value is
less than one before it, in its key, is late.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil
from typing import Any

import numpy as np
import polars as pl
from numba import njit

from boxcars.kernels.columns.folds import Numbers, Truths, Windows
from boxcars.kernels.columns.frames import gathered, numbers_of, replaced, without
from boxcars.kernels.columns.keys import group_order
from boxcars.kernels.columns.slices import Flags, Ints, Places, Slices, block_ids, parts_of
from boxcars.kernels.contract import Frontier, appended, physical_value
from boxcars.kernels.windows.axis import Axis
from boxcars.kernels.windows.blocks import Blocks, Slid
from boxcars.kernels.windows.window_results import Grouping, Reminder, own_blocks

VALUE = "__value"
"""The column with the value of the window's field."""
_PANE = "__pane"


@dataclass(frozen=True)
class ValueWindows(Blocks):
    """Windows along the axis of a field; what is open at the end closes with ``flush``.

    With ``obsolete``, a time in physical units, the field is the order attribute, and a window has
    a result only if the tuple that closes it comes less than that after its end (thesis, 5.5.1).
    """

    axis: Axis
    flush: bool
    obsolete: Any = None

    @property
    def block(self) -> int:
        """As many panes as a window has."""
        return self.axis.size

    @property
    def overlap(self) -> bool:
        """Unless each window is a block."""
        return self.axis.advance % self.axis.size != 0

    @property
    def at(self) -> str:
        """The column with the panes of values."""
        return _PANE

    def placed(self, rows: pl.DataFrame) -> pl.DataFrame:
        """With the panes of their values."""
        return replaced(rows, [pl.Series(_PANE, self.axis.pane_of(rows[VALUE]))])

    def reached(self, place: Ints, key: Ints, new: pl.DataFrame) -> Ints:
        """The pane of the greatest value."""
        return greatest(place, key, new[_PANE].to_numpy())

    def last_start(self, reached: Ints) -> Ints:
        """Where the last windows start that end there."""
        return np.asarray((reached - self.axis.size) // self.axis.advance * self.axis.advance)

    def slide(
        self, group: Grouping, rows: pl.DataFrame, new: pl.DataFrame, frontier: Frontier
    ) -> Slid:
        """Close the windows whose end a later value has reached."""
        axis, held = self.axis, rows.height
        tuples = appended(rows, new)
        places = np.arange(tuples.height)
        late = late_places(tuples, group)
        if len(late):
            places = np.delete(places, late)
            tuples = tuples[places]
        keys = group.keys(tuples, in_order=frontier.final and self.flush)
        order, starts = group_order(keys.codes, keys.number)
        ordered = gathered(without(tuples, group.beside), order)
        pane = ordered[_PANE].to_numpy()
        final = frontier.final and self.flush
        seen = places[order] < held
        found = _passed(pane, starts, seen, axis.size, axis.advance, final)
        key, lo, hi, parts, closing, number, keep = found
        dtype = ordered.schema[group.ts]
        times = numbers_of(ordered[group.ts])
        now = times.dtype.type(0)
        if frontier.value is not None:
            now = physical_value(frontier.value, dtype)
        last = closing < 0
        close_times = np.where(last, now, times[closing]) if len(times) else times
        place = np.where(last, len(order), order[closing] if len(order) else closing)
        rank = np.lexsort((np.arange(len(key)), place, close_times))
        reminder = None
        if self.obsolete is not None:
            ends = axis.values(number * axis.advance + axis.size).to_physical().to_numpy()
            rank = rank[close_times[rank] < ends[rank] + self.obsolete]
            due = self._forgotten_at(times[starts[1:] - 1])
            if frontier.value is not None:
                keep &= np.repeat(due > now, np.diff(starts))
            fresh = np.flatnonzero(~seen[starts[1:] - 1])
            reminder = Reminder(fresh, due[fresh])
        slices = Slices(key, lo, hi, parts).take(rank)
        return Slid(
            tuples=ordered,
            starts=starts,
            needed=np.flatnonzero(keep),
            windows=Windows(slices, block_ids(own_blocks(pane // axis.size, ordered), starts)),
            keys=keys.table,
            key=slices.key,
            ts=pl.Series(close_times[rank]).cast(dtype),
            frontier=frontier,
            state={},
            late=late - held,
            reminder=reminder,
            cause=np.where(last, -1, np.append(places, 0)[place] - held)[rank],
            turn=last[rank].astype(np.int64) if self.flush else None,
        )

    def _forgotten_at(self, times: Numbers) -> Numbers:
        """When all windows of keys with their last tuples at these times are obsolete."""
        size = float(self.axis.size * self.axis.pane)
        span = size + self.obsolete if times.dtype == np.float64 else ceil(size) + self.obsolete
        return np.asarray(times + times.dtype.type(span))


def greatest(place: Ints, key: Ints, places: Ints) -> Ints:
    """How far each key gets from its place by tuples at other places."""
    found = place.copy()
    np.maximum.at(found, key, places)
    return found


def late_places(tuples: pl.DataFrame, group: Grouping) -> Ints:
    """The places of tuples whose value is less than one before it in their key."""
    keys = group.keys(tuples, in_order=False)
    order, starts = group_order(keys.codes, keys.number)
    late = _late(numbers_of(tuples[VALUE])[order], starts)
    return np.sort(order[late]).astype(np.int64)


@njit(cache=True, nogil=True)
def _late(values: Numbers, starts: Ints) -> Truths:
    """The tuples whose value is less than one before it in their key."""
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
def _first_open(pane: Ints, seen: Truths, size: int, advance: int) -> int:
    """The first window that the tuples that were seen before have left open."""
    k = 0
    for i in range(len(pane)):
        if seen[i]:
            k = max(k, (pane[i] - size) // advance + 1)
    return k


@njit(cache=True, nogil=True)
def _passed(
    pane: Ints, starts: Ints, seen: Truths, size: int, advance: int, flush: bool
) -> tuple[Places, Places, Places, Flags, Ints, Ints, Truths]:
    """The windows that a new tuple of their key has passed, in the order of keys and windows.

    ``seen`` tuples have closed all that they could before. Also gives the tuple that closed each
    window (-1: the end of the input), the number of the window, and which tuples are still needed:
    those of open windows, and the last of each key, which tells how far its values have come; none
    behind a flush, since an input may end long before the run.
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
