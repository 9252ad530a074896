"""Tuple windows: one closes when it holds enough tuples of its key, or at its timeout."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl
from numba import njit

from boxcars.kernels.columns.folds import Mask, Numbers, Windows
from boxcars.kernels.columns.frames import drop_columns, physical_numbers, take_rows, with_columns
from boxcars.kernels.columns.keys import group_order
from boxcars.kernels.columns.slices import (
    HEAD,
    Flags,
    Indices,
    Ints,
    Slices,
    block_ids,
    full_slices,
)
from boxcars.kernels.contract import Frontier, append_rows, physical_value
from boxcars.kernels.windows.blocks import Blocks, SlideResult
from boxcars.kernels.windows.window_results import Grouping, Timers, covers, separate_tails

OPEN, TIMED_OUT, FLUSHED = 0, 1, 2
"""Status of a session of a key: open, ended by its timeout, ended with the input."""

_PRIORITY = np.array([1, 0, 2])
"""At equal times timeouts come first, then full windows, then flushed ones.

Full windows are ordered by the tuple that filled them, the others by key.
"""

_INDEX = "__index"


@dataclass(frozen=True)
class TupleWindows(Blocks):
    """Windows of ``size`` tuples every ``advance`` tuples; ``timeout`` in physical units.

    With ``drop`` a window whose timeout has passed is obsolete and has no result.
    """

    size: int
    advance: int
    timeout: Any
    flush: bool
    drop: bool = False

    @property
    def block(self) -> int:
        """The window size in tuples."""
        return self.size

    @property
    def overlap(self) -> bool:
        """Whether windows are not aligned to blocks."""
        return self.advance % self.size != 0

    @property
    def axis_column(self) -> str:
        """The column with the tuple numbers."""
        return _INDEX

    def with_axis(self, rows: pl.DataFrame) -> pl.DataFrame:
        """Rows without a number yet (-1)."""
        return with_columns(rows, [pl.Series(_INDEX, np.full(rows.height, -1))])

    def reached(self, position: Ints, key: Ints, new: pl.DataFrame) -> Ints:
        """The number of the last tuple of each key."""
        return position + np.bincount(key, minlength=len(position))

    def last_start(self, reached: Ints) -> Ints:
        """Start of the last windows that end there."""
        return np.asarray((reached + 1 - self.size) // self.advance * self.advance)

    @property
    def by_key(self) -> bool:
        """True if there is a timeout: windows that it closes are ordered by key."""
        return self.timeout is not None

    def ended(self, last: Numbers, key: Ints, new: pl.Series, frontier: Frontier) -> Mask:
        """Mask of the keys whose timeout passes: their open window is not aligned to a block."""
        if self.timeout is None:
            return super().ended(last, key, new, frontier)
        passed = _physical_frontier(frontier, new.dtype, last.dtype)
        timeout = last.dtype.type(self.timeout)
        return _timed_out(last, key, physical_numbers(new), timeout, self.drop, *passed)

    def slide(
        self, group: Grouping, rows: pl.DataFrame, new: pl.DataFrame, frontier: Frontier
    ) -> SlideResult:
        """Close full windows, and those whose timeout has passed.

        The tuples of a key form *sessions*: a timeout ends one, and the next tuple starts another.
        Tuples are numbered within a session, so that windows start at the same tuples however the
        stream is split.
        """
        tuples = append_rows(rows, new)
        by_key = self.by_key or (frontier.final and self.flush)
        keys = group.keys(tuples, in_order=by_key)
        order, starts = group_order(keys.codes, keys.number)
        ordered = take_rows(drop_columns(tuples, group.encoded_columns), order)
        dtype = ordered.schema[group.ts]
        times = physical_numbers(ordered[group.ts])
        index = ordered[_INDEX].to_numpy().copy()
        timeout = times.dtype.type(-1 if self.timeout is None else self.timeout)
        passed = _physical_frontier(frontier, dtype, times.dtype)
        sessions, owner, seen, status = _sessions(times, starts, index, timeout, self.drop, *passed)
        if frontier.final and self.flush:
            status[status == OPEN] = FLUSHED
        ended = np.where(status == TIMED_OUT, OPEN, status) if self.drop else status
        key, lo, hi, parts, by, needed = full_slices(
            index, sessions, seen, ended, self.size, self.advance
        )
        slices = Slices(key, lo, hi, parts)
        last = slices.hi - 1
        close_times = times[last] + np.where(by == TIMED_OUT, timeout, times.dtype.type(0))
        close_times[by == FLUSHED] = passed[1]
        if by.any():
            tie = np.where(by == OPEN, order[last], owner[slices.key])
            rank = np.lexsort((tie, _PRIORITY[by], close_times))
        else:
            rank = _argsort_distinct(order[last], len(order))
        slices = slices.take(rank)
        blocks = separate_tails(index // self.size, ordered)
        return SlideResult(
            tuples=with_columns(ordered, [pl.Series(_INDEX, index)]),
            starts=starts,
            needed=_still_needed(
                index, sessions, status, needed, self._progress_rows(ordered, sessions)
            ),
            windows=Windows(slices, block_ids(blocks, sessions), by[rank] == TIMED_OUT),
            keys=keys.table,
            key=owner[slices.key].astype(np.uint32),
            ts=pl.Series(close_times[rank]).cast(dtype),
            frontier=frontier,
            state={},
            timers=self._timers(times, sessions, owner, status, order, rows.height),
            cause=np.where(by == OPEN, order[last].astype(np.int64) - rows.height, -1)[rank],
            phase=_PRIORITY[by][rank] if by_key else None,
        )

    def _progress_rows(self, rows: pl.DataFrame, sessions: Ints) -> Mask:
        """Rows that record the progress of numbering: heads, and the last row before a gap."""
        marks = covers(rows, HEAD)
        if self.advance > self.size:
            marks[sessions[1:] - 1] = True
        return marks

    def _timers(
        self, times: Numbers, sessions: Ints, owner: Ints, status: Flags, order: Indices, held: int
    ) -> Timers | None:
        """Timers of the sessions that have a new last tuple."""
        if self.timeout is None:
            return None
        last = sessions[1:] - 1
        waits = np.flatnonzero((status == OPEN) & (order[last] >= held))
        due = times[last[waits]] + times.dtype.type(self.timeout)
        return Timers(owner[waits], _moment_after(due) if self.drop else due)


@njit(cache=True, nogil=True)
def _argsort_distinct(indices: Indices, room: int) -> Ints:
    """Argsort distinct indices in one pass."""
    row_at = np.full(room, -1, np.int64)
    for row in range(len(indices)):
        row_at[indices[row]] = row
    order = np.empty(len(indices), np.int64)
    n = 0
    for index in range(room):
        if row_at[index] >= 0:
            order[n] = row_at[index]
            n += 1
    return order


def _moment_after(times: Numbers) -> Numbers:
    return np.asarray(np.nextafter(times, np.inf) if times.dtype == np.float64 else times + 1)


def _physical_frontier(frontier: Frontier, dtype: pl.DataType, physical: Any) -> tuple[bool, Any]:
    """Whether the frontier is known, and its value in physical units."""
    if frontier.value is None:
        return False, physical.type(0)
    return True, physical.type(physical_value(frontier.value, dtype))


@njit(cache=True, nogil=True)
def _expired(due: Any, now: Any, drop: bool) -> bool:
    """Whether a timeout has passed; with ``drop`` a tuple at that very time is still in time."""
    return bool(due < now or (due == now and not drop))


@njit(cache=True, nogil=True)
def _timed_out(
    last: Numbers, key: Ints, times: Numbers, timeout: Any, drop: bool, known: bool, passed: Any
) -> Mask:
    """Mask of the keys whose timeout passes before a new tuple of theirs, or after the last."""
    last, found = last.copy(), np.zeros(len(last), np.bool_)
    for i in range(len(key)):
        found[key[i]] |= _expired(last[key[i]] + timeout, times[i], drop)
        last[key[i]] = times[i]
    for k in range(len(last)):
        found[k] |= known and _expired(last[k] + timeout, passed, drop)
    return found


@njit(cache=True, nogil=True)
def _sessions(
    times: Numbers, starts: Ints, index: Ints, timeout: Any, drop: bool, known: bool, passed: Any
) -> tuple[Ints, Ints, Ints, Flags]:
    """Split the tuples of each key into sessions, and number the new tuples (index -1).

    No timeout passed between tuples that are already numbered, though rows may be missing there.
    Also returns the greatest number in each session that is not new.
    """
    room = len(times) + len(starts)
    begins, owner = np.empty(room + 1, np.int64), np.empty(room, np.int64)
    seen, status = np.full(room, -1, np.int64), np.zeros(room, np.uint8)
    n = 0
    for code in range(len(starts) - 1):
        for i in range(starts[code], starts[code + 1]):
            new = i == starts[code]
            fresh = index[i] < 0 and timeout >= 0
            late = fresh and not new and _expired(times[i - 1] + timeout, times[i], drop)
            if late:
                status[n - 1] = TIMED_OUT
            if new or late:
                begins[n], owner[n] = i, code
                n += 1
            if index[i] >= 0:
                seen[n - 1] = index[i]
            else:
                index[i] = 0 if new or late else index[i - 1] + 1
        end = starts[code + 1] - 1
        waits = end >= starts[code] and timeout >= 0 and known
        if waits and _expired(times[end] + timeout, passed, drop):
            status[n - 1] = TIMED_OUT
    begins[n] = len(times)
    return begins[: n + 1], owner[:n], seen[:n], status[:n]


@njit(cache=True, nogil=True)
def _still_needed(index: Ints, sessions: Ints, status: Flags, needed: Ints, marks: Mask) -> Ints:
    """Indices of the tuples of open windows, and of the ``marks`` of open sessions."""
    keep = np.empty(len(index), np.int64)
    n = 0
    for session in range(len(sessions) - 1):
        if status[session] != OPEN:
            continue
        stop = sessions[session + 1]
        for i in range(sessions[session], stop):
            if index[i] >= needed[session] or marks[i]:
                keep[n] = i
                n += 1
    return keep[:n]
