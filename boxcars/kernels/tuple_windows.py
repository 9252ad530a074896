"""Tuple windows: one closes when it is full of tuples of its key, or when its timeout comes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl
from numba import njit

from boxcars.kernels.aggregates import Windows
from boxcars.kernels.closed import Closed, Grouping
from boxcars.kernels.folds import Numbers
from boxcars.kernels.kernel import Frontier, State, appended
from boxcars.kernels.keys import encode_keys, group_order
from boxcars.kernels.slices import Flags, Ints, Slices, block_ids, full_slices

OPEN, TIMED_OUT, FLUSHED = 0, 1, 2
"""How a session of a key stands: going on, ended by its timeout, ended with the input."""

_PRIORITY = np.array([1, 0, 2])
"""At equal times a timeout comes first, then windows that are full, then what is flushed."""

_TUPLES, _INDEX = "tuples", "__index"


@dataclass(frozen=True)
class TupleWindow:
    """Windows of ``size`` tuples, of which ``advance`` go; ``timeout`` in physical units."""

    size: int
    advance: int
    timeout: Any
    flush: bool


def start(tuples: pl.DataFrame) -> State:
    """Nothing is kept."""
    return {_TUPLES: tuples.with_columns(pl.lit(0, dtype=pl.Int64).alias(_INDEX))}


def close(
    window: TupleWindow, group: Grouping, state: State, new: pl.DataFrame, frontier: Frontier
) -> Closed:
    """Close the windows of each key that are full, and those whose timeout has come.

    The tuples of a key form *sessions*: a timeout ends one, and the next tuple starts another.
    Within a session tuples are numbered, so that windows start at the same tuples however the
    stream is cut.
    """
    fresh = new.with_columns(pl.lit(-1, dtype=pl.Int64).alias(_INDEX))
    tuples = appended(state[_TUPLES], fresh)
    keys = encode_keys(tuples, group.by)
    order, starts = group_order(keys.codes, keys.number)
    ordered = tuples[order]
    dtype = ordered.schema[group.ts]
    times = ordered[group.ts].to_physical().to_numpy()
    index = ordered[_INDEX].to_numpy().copy()
    timeout = times.dtype.type(-1 if window.timeout is None else window.timeout)
    passed = _passed(frontier, dtype, times.dtype)
    sessions, owner, seen, how = _sessions(times, starts, index, timeout, *passed)
    if frontier.final and window.flush:
        how[how == OPEN] = FLUSHED
    key, lo, hi, parts, by, needed = full_slices(
        index, sessions, seen, how, window.size, window.advance
    )
    slices = Slices(key, lo, hi, parts)
    last = slices.hi - 1
    close_times = times[last] + np.where(by == TIMED_OUT, timeout, times.dtype.type(0))
    close_times[by == FLUSHED] = passed[1]
    rank = np.lexsort((order[last], _PRIORITY[by], close_times))
    slices = slices.take(rank)
    keep = order[_still_needed(index, sessions, how, needed, window.advance > window.size)]
    numbers = np.empty_like(index)
    numbers[order] = index
    return Closed(
        tuples=ordered,
        windows=Windows(slices, block_ids(index, sessions, window.size), by[rank] == TIMED_OUT),
        keys=keys.table,
        key=owner[slices.key].astype(np.uint32),
        ts=pl.Series(close_times[rank]).cast(dtype),
        frontier=frontier,
        state={_TUPLES: tuples.with_columns(pl.Series(_INDEX, numbers))[np.sort(keep)]},
    )


def _passed(frontier: Frontier, dtype: pl.DataType, physical: Any) -> tuple[bool, Any]:
    """Whether there is a frontier, and its value in physical units."""
    if frontier.value is None:
        return False, physical.type(0)
    value = pl.Series([frontier.value], dtype=dtype).to_physical().to_numpy()[0]
    return True, value


@njit(cache=True)
def _sessions(
    times: Numbers, starts: Ints, index: Ints, timeout: Any, known: bool, passed: Any
) -> tuple[Ints, Ints, Ints, Flags]:
    """Cut the tuples of each key where a timeout came, and number the new ones (index -1).

    Also gives the greatest number in each session that is not new.
    """
    room = len(times) + len(starts)
    begins, owner = np.empty(room + 1, np.int64), np.empty(room, np.int64)
    seen, how = np.full(room, -1, np.int64), np.zeros(room, np.uint8)
    n = 0
    for code in range(len(starts) - 1):
        for i in range(starts[code], starts[code + 1]):
            new = i == starts[code]
            late = not new and timeout >= 0 and times[i] >= times[i - 1] + timeout
            if late:
                how[n - 1] = TIMED_OUT
            if new or late:
                begins[n], owner[n] = i, code
                n += 1
            if index[i] >= 0:
                seen[n - 1] = index[i]
            else:
                index[i] = 0 if new or late else index[i - 1] + 1
        end = starts[code + 1] - 1
        if end >= starts[code] and timeout >= 0 and known and times[end] + timeout <= passed:
            how[n - 1] = TIMED_OUT
    begins[n] = len(times)
    return begins[: n + 1], owner[:n], seen[:n], how[:n]


@njit(cache=True)
def _still_needed(index: Ints, sessions: Ints, how: Flags, needed: Ints, marker: bool) -> Ints:
    """The tuples of open windows; with a ``marker``, the last tuple where there are none.

    Where windows leave gaps, the last tuple tells how far the numbers have come.
    """
    keep = np.empty(len(index), np.int64)
    n = 0
    for session in range(len(sessions) - 1):
        if how[session] != OPEN:
            continue
        stop = sessions[session + 1]
        for i in range(sessions[session], stop):
            if index[i] >= needed[session] or (marker and i == stop - 1):
                keep[n] = i
                n += 1
    return keep[:n]
