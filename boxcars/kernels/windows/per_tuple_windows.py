"""Windows with advance 0: each tuple has a window of its own, of which it is the last.

The window of a tuple with value v holds the tuples of its key so far with values in (v - size, v].
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl
from numba import njit

from boxcars.kernels.columns.folds import Numbers, Truths, Windows
from boxcars.kernels.columns.frames import gathered, numbers_of, values_at, without
from boxcars.kernels.columns.keys import group_order
from boxcars.kernels.columns.slices import DIRECT, HEAD, TAIL, Flags, Ints, Places, Slices
from boxcars.kernels.contract import Frontier, appended, physical_value
from boxcars.kernels.windows.blocks import Blocks, Slid
from boxcars.kernels.windows.value_windows import VALUE, greatest, late_places
from boxcars.kernels.windows.window_results import Grouping, Reminder, own_blocks


@dataclass(frozen=True)
class MovingWindows(Blocks):
    """Windows over the last ``size`` physical units of time, or of the value of a field."""

    size: Any
    by_value: bool
    ts: str

    @property
    def block(self) -> int:
        """As many units as a window has."""
        return int(self.size)

    @property
    def overlap(self) -> bool:
        """A window starts anywhere."""
        return True

    @property
    def at(self) -> str:
        """The column with the values, which are places themselves if they are whole numbers."""
        return VALUE if self.by_value else self.ts

    def placed(self, rows: pl.DataFrame) -> pl.DataFrame:
        """As they are."""
        return rows

    def reached(self, place: Ints, key: Ints, new: pl.DataFrame) -> Ints:
        """The greatest value."""
        return greatest(place, key, numbers_of(new[self.at]))

    def last_start(self, reached: Ints) -> Ints:
        """The first value that is not too old for the window that ends there."""
        return reached - self.block + 1

    def slide(
        self, group: Grouping, rows: pl.DataFrame, new: pl.DataFrame, frontier: Frontier
    ) -> Slid:
        """A result for each new tuple; a value that goes down in its key is late."""
        held = rows.height
        tuples = appended(rows, new)
        places = np.arange(tuples.height)
        late = late_places(tuples, group) if self.by_value else places[:0]
        if len(late):
            places = np.delete(places, late)
            tuples = tuples[places]
        keys = group.keys(tuples, in_order=False)
        order, starts = group_order(keys.codes, keys.number)
        ordered = gathered(without(tuples, group.beside), order)
        values = numbers_of(ordered[self.at])
        fresh, size = places[order] >= held, values.dtype.type(self.size)
        blocks = np.floor_divide(values, size).astype(np.int64)
        key, lo, hi, parts, numbers, keep = _move(values, blocks, starts, fresh, size)
        slices = Slices(key, lo, hi, parts).take(np.argsort(order[hi - 1], kind="stable"))
        times = ordered[group.ts]
        reminder = None
        if not self.by_value:
            due = values[starts[1:] - 1] + size
            busy = np.flatnonzero(fresh[starts[1:] - 1])
            reminder = Reminder(busy, due[busy])
            if frontier.value is not None:
                now = physical_value(frontier.value, times.dtype)
                keep &= np.repeat(due > now, np.diff(starts))
        return Slid(
            tuples=ordered,
            starts=starts,
            needed=np.flatnonzero(keep),
            windows=Windows(slices, own_blocks(numbers, ordered)),
            keys=keys.table,
            key=slices.key,
            ts=values_at(times, slices.hi - 1),
            frontier=frontier,
            state={},
            late=late - held,
            reminder=reminder,
            cause=places[order[slices.hi - 1]] - held,
        )


@njit(cache=True, nogil=True)
def _move(
    values: Numbers, blocks: Ints, starts: Ints, new: Truths, size: Any
) -> tuple[Places, Places, Places, Flags, Ints, Truths]:
    """The window of each new tuple, a number for the block of each tuple, and which are needed.

    Blocks are one window long, so a window is the tail of one block and the head of the next. Where
    floats are rounded so that it is not, it is folded tuple by tuple.
    """
    room = len(values)
    key, low = np.empty(room, np.uint32), np.empty(room, np.uint32)
    high, parts = np.empty(room, np.uint32), np.empty(room, np.uint8)
    numbers, keep = np.empty(room, np.int64), np.zeros(room, np.bool_)
    n = number = 0
    for code in range(len(starts) - 1):
        lo = begin = before = starts[code]
        for i in range(starts[code], starts[code + 1]):
            if i > starts[code] and blocks[i] != blocks[i - 1]:
                number += 1
                before, begin = begin, i
            numbers[i] = number
            while lo < i and values[lo] <= values[i] - size:
                lo += 1
            if new[i]:
                key[n], low[n], high[n] = code, lo, i + 1
                if lo == begin:
                    parts[n] = HEAD
                elif before <= lo < begin:
                    parts[n] = TAIL | HEAD
                else:
                    parts[n] = DIRECT
                n += 1
        keep[lo : starts[code + 1]] = True
        number += 1
    return key[:n], low[:n], high[:n], parts[:n], numbers, keep
