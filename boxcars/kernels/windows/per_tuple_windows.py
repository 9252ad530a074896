"""Windows with advance 0: one per tuple, which is its last.

The window of a tuple with value v holds the tuples of its key so far with values in (v - size, v].
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl
from numba import njit

from boxcars.kernels.columns.folds import Mask, Numbers, Windows
from boxcars.kernels.columns.frames import drop_columns, physical_numbers, take_rows, take_values
from boxcars.kernels.columns.keys import group_order
from boxcars.kernels.columns.slices import DIRECT, HEAD, TAIL, Flags, Indices, Ints, Slices
from boxcars.kernels.contract import Frontier, append_rows, physical_value
from boxcars.kernels.windows.blocks import Blocks, SlideResult
from boxcars.kernels.windows.value_windows import VALUE, greatest, late_indices
from boxcars.kernels.windows.window_results import Grouping, Timers, separate_tails


@dataclass(frozen=True)
class MovingWindows(Blocks):
    """Windows over the last ``size`` physical units of time, or of the value of a field."""

    size: Any
    by_value: bool
    ts: str

    @property
    def block(self) -> int:
        """The window size in physical units."""
        return int(self.size)

    @property
    def overlap(self) -> bool:
        """True: windows start anywhere."""
        return True

    @property
    def axis_column(self) -> str:
        """The column with the values; whole numbers are axis positions themselves."""
        return VALUE if self.by_value else self.ts

    def with_axis(self, rows: pl.DataFrame) -> pl.DataFrame:
        """Rows unchanged: the axis column is a field."""
        return rows

    def reached(self, position: Ints, key: Ints, new: pl.DataFrame) -> Ints:
        """The greatest value of each key."""
        return greatest(position, key, physical_numbers(new[self.axis_column]))

    def last_start(self, reached: Ints) -> Ints:
        """The first value inside the window that ends there."""
        return reached - self.block + 1

    def slide(
        self, group: Grouping, rows: pl.DataFrame, new: pl.DataFrame, frontier: Frontier
    ) -> SlideResult:
        """Emit a result for each new tuple; a value that decreases within its key is late."""
        held = rows.height
        tuples = append_rows(rows, new)
        index = np.arange(tuples.height)
        late = late_indices(tuples, group) if self.by_value else index[:0]
        if len(late):
            index = np.delete(index, late)
            tuples = tuples[index]
        keys = group.keys(tuples, in_order=False)
        order, starts = group_order(keys.codes, keys.number)
        ordered = take_rows(drop_columns(tuples, group.encoded_columns), order)
        values = physical_numbers(ordered[self.axis_column])
        fresh, size = index[order] >= held, values.dtype.type(self.size)
        blocks = np.floor_divide(values, size).astype(np.int64)
        key, lo, hi, parts, numbers, keep = _move(values, blocks, starts, fresh, size)
        slices = Slices(key, lo, hi, parts).take(np.argsort(order[hi - 1], kind="stable"))
        times = ordered[group.ts]
        timers = None
        if not self.by_value:
            due = values[starts[1:] - 1] + size
            busy = np.flatnonzero(fresh[starts[1:] - 1])
            timers = Timers(busy, due[busy])
            if frontier.value is not None:
                now = physical_value(frontier.value, times.dtype)
                keep &= np.repeat(due > now, np.diff(starts))
        return SlideResult(
            tuples=ordered,
            starts=starts,
            needed=np.flatnonzero(keep),
            windows=Windows(slices, separate_tails(numbers, ordered)),
            keys=keys.table,
            key=slices.key,
            ts=take_values(times, slices.hi - 1),
            frontier=frontier,
            state={},
            late=late - held,
            timers=timers,
            cause=index[order[slices.hi - 1]] - held,
        )


@njit(cache=True, nogil=True)
def _move(
    values: Numbers, blocks: Ints, starts: Ints, new: Mask, size: Any
) -> tuple[Indices, Indices, Indices, Flags, Ints, Mask]:
    """The window of each new tuple, the block number of each tuple, and a mask of needed ones.

    Blocks are one window long, so a window is the tail of one block and the head of the next. Where
    float rounding breaks that, the window is folded tuple by tuple.
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
