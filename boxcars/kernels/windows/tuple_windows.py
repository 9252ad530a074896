"""Tuple windows: one closes when it is full of tuples of its key, or when its timeout comes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl
from numba import njit

from boxcars.kernels.columns.folds import Numbers, Truths, Windows
from boxcars.kernels.columns.frames import gathered, numbers_of, replaced, without
from boxcars.kernels.columns.keys import group_order
from boxcars.kernels.columns.slices import HEAD, Flags, Ints, Places, Slices, block_ids, full_slices
from boxcars.kernels.contract import Frontier, appended, physical_value
from boxcars.kernels.windows.blocks import Blocks, Slid
from boxcars.kernels.windows.window_results import Grouping, Reminder, own_blocks, standing

OPEN, TIMED_OUT, FLUSHED = 0, 1, 2
"""How a session of a key stands: going on, ended by its timeout, ended with the input."""

_PRIORITY = np.array([1, 0, 2])
"""At equal times a timeout comes first, then windows that are full, then what is flushed.

Windows that are full come in the order of the tuples that filled them, the others by key.
"""

_INDEX = "__index"


@dataclass(frozen=True)
class TupleWindows(Blocks):
    """Windows of ``size`` tuples, of which ``advance`` go; ``timeout`` in physical units.

    With ``drop`` a window whose timeout has passed is obsolete and has no result.
    """

    size: int
    advance: int
    timeout: Any
    flush: bool
    drop: bool = False

    @property
    def block(self) -> int:
        """As many tuples as a window has."""
        return self.size

    @property
    def overlap(self) -> bool:
        """Unless each window is a block."""
        return self.advance % self.size != 0

    @property
    def at(self) -> str:
        """The column with the numbers of tuples."""
        return _INDEX

    def placed(self, rows: pl.DataFrame) -> pl.DataFrame:
        """Rows that have no number yet."""
        return replaced(rows, [pl.Series(_INDEX, np.full(rows.height, -1))])

    def reached(self, place: Ints, key: Ints, new: pl.DataFrame) -> Ints:
        """The number of the last tuple."""
        return place + np.bincount(key, minlength=len(place))

    def last_start(self, reached: Ints) -> Ints:
        """Where the last windows start that end there."""
        return np.asarray((reached + 1 - self.size) // self.advance * self.advance)

    @property
    def by_key(self) -> bool:
        """Those that a timeout closes."""
        return self.timeout is not None

    def ended(self, last: Numbers, key: Ints, new: pl.Series, frontier: Frontier) -> Truths:
        """Keys whose timeout comes, since what is open then is no block."""
        if self.timeout is None:
            return super().ended(last, key, new, frontier)
        passed = _passed(frontier, new.dtype, last.dtype)
        timeout = last.dtype.type(self.timeout)
        return _timed_out(last, key, numbers_of(new), timeout, self.drop, *passed)

    def slide(
        self, group: Grouping, rows: pl.DataFrame, new: pl.DataFrame, frontier: Frontier
    ) -> Slid:
        """Close the windows of each key that are full, and those whose timeout has come.

        The tuples of a key form *sessions*: a timeout ends one, and the next tuple starts another.
        Within a session tuples are numbered, so that windows start at the same tuples however the
        stream is cut.
        """
        tuples = appended(rows, new)
        by_key = self.by_key or (frontier.final and self.flush)
        keys = group.keys(tuples, in_order=by_key)
        order, starts = group_order(keys.codes, keys.number)
        ordered = gathered(without(tuples, group.beside), order)
        dtype = ordered.schema[group.ts]
        times = numbers_of(ordered[group.ts])
        index = ordered[_INDEX].to_numpy().copy()
        timeout = times.dtype.type(-1 if self.timeout is None else self.timeout)
        passed = _passed(frontier, dtype, times.dtype)
        sessions, owner, seen, how = _sessions(times, starts, index, timeout, self.drop, *passed)
        if frontier.final and self.flush:
            how[how == OPEN] = FLUSHED
        ended = np.where(how == TIMED_OUT, OPEN, how) if self.drop else how
        key, lo, hi, parts, by, needed = full_slices(
            index, sessions, seen, ended, self.size, self.advance
        )
        slices = Slices(key, lo, hi, parts)
        last = slices.hi - 1
        close_times = times[last] + np.where(by == TIMED_OUT, timeout, times.dtype.type(0))
        close_times[by == FLUSHED] = passed[1]
        if by.any():
            place = np.where(by == OPEN, order[last], owner[slices.key])
            rank = np.lexsort((place, _PRIORITY[by], close_times))
        else:
            rank = _by_place(order[last], len(order))
        slices = slices.take(rank)
        blocks = own_blocks(index // self.size, ordered)
        return Slid(
            tuples=replaced(ordered, [pl.Series(_INDEX, index)]),
            starts=starts,
            needed=_still_needed(index, sessions, how, needed, self._marks(ordered, sessions)),
            windows=Windows(slices, block_ids(blocks, sessions), by[rank] == TIMED_OUT),
            keys=keys.table,
            key=owner[slices.key].astype(np.uint32),
            ts=pl.Series(close_times[rank]).cast(dtype),
            frontier=frontier,
            state={},
            reminder=self._reminder(times, sessions, owner, how, order, rows.height),
            cause=np.where(by == OPEN, order[last].astype(np.int64) - rows.height, -1)[rank],
            turn=_PRIORITY[by][rank] if by_key else None,
        )

    def _marks(self, rows: pl.DataFrame, sessions: Ints) -> Truths:
        """Rows that tell how far the numbers have come: heads, and the last where windows gap."""
        marks = standing(rows, HEAD)
        if self.advance > self.size:
            marks[sessions[1:] - 1] = True
        return marks

    def _reminder(
        self, times: Numbers, sessions: Ints, owner: Ints, how: Flags, order: Places, held: int
    ) -> Reminder | None:
        """When the timeouts of the sessions come that have a new last tuple."""
        if self.timeout is None:
            return None
        last = sessions[1:] - 1
        waits = np.flatnonzero((how == OPEN) & (order[last] >= held))
        due = times[last[waits]] + times.dtype.type(self.timeout)
        return Reminder(owner[waits], _moment_after(due) if self.drop else due)


@njit(cache=True, nogil=True)
def _by_place(places: Places, room: int) -> Ints:
    """The order of places that all differ: what a sort would give, in one pass."""
    row_at = np.full(room, -1, np.int64)
    for row in range(len(places)):
        row_at[places[row]] = row
    order = np.empty(len(places), np.int64)
    n = 0
    for place in range(room):
        if row_at[place] >= 0:
            order[n] = row_at[place]
            n += 1
    return order


def _moment_after(times: Numbers) -> Numbers:
    return np.asarray(np.nextafter(times, np.inf) if times.dtype == np.float64 else times + 1)


def _passed(frontier: Frontier, dtype: pl.DataType, physical: Any) -> tuple[bool, Any]:
    """Whether there is a frontier, and its value in physical units."""
    if frontier.value is None:
        return False, physical.type(0)
    return True, physical.type(physical_value(frontier.value, dtype))


@njit(cache=True, nogil=True)
def _over(due: Any, now: Any, drop: bool) -> bool:
    """Whether a timeout has come: a window that would be dropped may wait for that very moment."""
    return bool(due < now or (due == now and not drop))


@njit(cache=True, nogil=True)
def _timed_out(
    last: Numbers, key: Ints, times: Numbers, timeout: Any, drop: bool, known: bool, passed: Any
) -> Truths:
    """The keys whose timeout comes before one of their new tuples, or behind all of them."""
    last, found = last.copy(), np.zeros(len(last), np.bool_)
    for i in range(len(key)):
        found[key[i]] |= _over(last[key[i]] + timeout, times[i], drop)
        last[key[i]] = times[i]
    for k in range(len(last)):
        found[k] |= known and _over(last[k] + timeout, passed, drop)
    return found


@njit(cache=True, nogil=True)
def _sessions(
    times: Numbers, starts: Ints, index: Ints, timeout: Any, drop: bool, known: bool, passed: Any
) -> tuple[Ints, Ints, Ints, Flags]:
    """Cut the tuples of each key where a timeout came, and number the new ones (index -1).

    None came between those that are not new, though rows may be missing there. Also gives the
    greatest number in each session that is not new.
    """
    room = len(times) + len(starts)
    begins, owner = np.empty(room + 1, np.int64), np.empty(room, np.int64)
    seen, how = np.full(room, -1, np.int64), np.zeros(room, np.uint8)
    n = 0
    for code in range(len(starts) - 1):
        for i in range(starts[code], starts[code + 1]):
            new = i == starts[code]
            fresh = index[i] < 0 and timeout >= 0
            late = fresh and not new and _over(times[i - 1] + timeout, times[i], drop)
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
        waits = end >= starts[code] and timeout >= 0 and known
        if waits and _over(times[end] + timeout, passed, drop):
            how[n - 1] = TIMED_OUT
    begins[n] = len(times)
    return begins[: n + 1], owner[:n], seen[:n], how[:n]


@njit(cache=True, nogil=True)
def _still_needed(index: Ints, sessions: Ints, how: Flags, needed: Ints, marks: Truths) -> Ints:
    """The tuples of open windows, and the ``marks`` of sessions that go on."""
    keep = np.empty(len(index), np.int64)
    n = 0
    for session in range(len(sessions) - 1):
        if how[session] != OPEN:
            continue
        stop = sessions[session + 1]
        for i in range(sessions[session], stop):
            if index[i] >= needed[session] or marks[i]:
                keep[n] = i
                n += 1
    return keep[:n]
