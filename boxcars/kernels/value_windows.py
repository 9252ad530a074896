"""Value windows: over the value of a field that never goes down within a key.

A window closes when a tuple of its key has a value at or behind its end. A tuple whose value is
less than one before it, in its key, is late.
"""

from __future__ import annotations

import numpy as np
import polars as pl
from numba import njit

from boxcars.kernels.aggregates import Windows
from boxcars.kernels.axis import Axis
from boxcars.kernels.closed import Closed, Grouping
from boxcars.kernels.folds import Numbers, Truths
from boxcars.kernels.kernel import Frontier, State, appended
from boxcars.kernels.keys import encode_keys, group_order
from boxcars.kernels.slices import Flags, Ints, Places, Slices, block_ids, parts_of

VALUE = "__value"
"""The column with the value of the window's field."""
_TUPLES, _OLD = "tuples", "__old"


def start(tuples: pl.DataFrame) -> State:
    """Nothing is kept."""
    return {_TUPLES: tuples}


def close(
    axis: Axis, group: Grouping, state: State, new: pl.DataFrame, frontier: Frontier, flush: bool
) -> tuple[Closed, Ints]:
    """Close the windows whose end a later value has reached; also the places of late tuples."""
    old, fresh = (
        frame.with_columns(pl.lit(value).alias(_OLD))
        for frame, value in ((state[_TUPLES], True), (new, False))
    )
    tuples = appended(old, fresh)
    keys = encode_keys(tuples, group.by)
    order, starts = group_order(keys.codes, keys.number)
    late = _late(tuples[VALUE].to_physical().to_numpy()[order], starts)
    late_places = np.sort(order[late]).astype(np.int64) - old.height
    if late.any():
        tuples = tuples.filter(~pl.Series(_marks(order, late)))
        keys = encode_keys(tuples, group.by)
        order, starts = group_order(keys.codes, keys.number)
    ordered = tuples[order]
    pane = axis.pane_of(ordered[VALUE])
    seen = ordered[_OLD].to_numpy()
    final = frontier.final and flush
    key, lo, hi, parts, closing, keep = _passed(pane, starts, seen, axis.size, axis.advance, final)
    times = ordered[group.ts].to_physical().to_numpy()
    close_times = times[closing] if len(times) else times
    last = closing < 0
    if last.any():
        end = pl.Series([frontier.value], dtype=ordered.schema[group.ts]).to_physical()
        close_times = np.where(last, end.to_numpy()[0], close_times)
    place = np.where(last, len(order), order[closing] if len(order) else closing)
    rank = np.lexsort((np.arange(len(key)), place, close_times))
    slices = Slices(key, lo, hi, parts).take(rank)
    closed = Closed(
        tuples=ordered,
        windows=Windows(slices, block_ids(pane, starts, axis.size)),
        keys=keys.table,
        key=slices.key,
        ts=pl.Series(close_times[rank]).cast(ordered.schema[group.ts]),
        frontier=frontier,
        state={_TUPLES: tuples[np.sort(order[keep])].drop(_OLD)},
    )
    return closed, late_places


def _marks(order: Places, late: Truths) -> Truths:
    marks = np.zeros(len(order), np.bool_)
    marks[order[late]] = True
    return marks


@njit(cache=True)
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


@njit(cache=True)
def _first_open(pane: Ints, seen: Truths, size: int, advance: int) -> int:
    """The first window that the tuples that were seen before have left open."""
    k = 0
    for i in range(len(pane)):
        if seen[i]:
            k = max(k, (pane[i] - size) // advance + 1)
    return k


@njit(cache=True)
def _passed(
    pane: Ints, starts: Ints, seen: Truths, size: int, advance: int, flush: bool
) -> tuple[Places, Places, Places, Flags, Ints, Truths]:
    """The windows that a new tuple of their key has passed, in the order of keys and windows.

    ``seen`` tuples have closed all that they could before. Also gives the tuple that closed each
    window (-1: the end of the input), and which tuples are still needed: those of open windows,
    and the last of each key, which tells how far its values have come.
    """
    rows = [(0, 0, 0, 0, 0)]
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
                part = parts_of(pane[lo] // size, pane[hi - 1] // size, begin // size)
                rows.append((code, lo, hi, part, hi if hi < stop else -1))
                k += 1
        for i in range(starts[code], stop):
            keep[i] = pane[i] >= k * advance or i == stop - 1
    n = len(rows)
    key, low, high = np.empty(n, np.uint32), np.empty(n, np.uint32), np.empty(n, np.uint32)
    parts, closing = np.empty(n, np.uint8), np.empty(n, np.int64)
    for row in range(n):
        key[row], low[row], high[row], parts[row], closing[row] = rows[row]
    return key, low, high, parts, closing, keep
