"""An append-only log of rows by key, read through pointers.

A key has *tails*, which are contiguous, and a *chain* of rows, each of which points to the previous
one. So no row is searched for, and rows are not sorted by key. Rows that are no longer referenced
stay in the log until it is compacted.

The log consists of a few immutable segments, frames of a state. The first is the result of the last
compaction; the later ones are appended rows and are merged when many are of similar size.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import polars as pl
from numba import njit
from numpy.typing import NDArray

from boxcars.kernels.columns.frames import (
    concat_rows,
    drop_columns,
    physical_numbers,
    take_rows,
    with_columns,
)
from boxcars.kernels.columns.keys import group_order
from boxcars.kernels.columns.slices import ROW, TAIL, Ints
from boxcars.kernels.contract import State
from boxcars.kernels.state.segments import as_state, read_segments

POINTERS = "__next", "__until", "__last"
"""The pointer columns of a key."""
_NAME, _BEFORE, _NONE = "log", "__before", -1
_MERGE_COUNT = 6
"""Segments; this many of similar size are merged, so that both copies and segments are few."""
_COMPACT_RATIO = 2
"""Ratio; the log is compacted when it has grown by this multiple of its last compacted size."""
_COMPACT_ROWS = 1000
"""Rows; below this growth the log is not compacted."""


@dataclass(frozen=True)
class Pointers:
    """Pointers of keys into the log: tails ``[next, until)``, and the last row of each chain."""

    next: Ints
    until: Ints
    last: Ints

    @classmethod
    def empty(cls, number: int) -> Pointers:
        """Pointers of keys without rows."""
        return cls(*(np.full(number, _NONE) for _ in POINTERS))

    @classmethod
    def read(cls, heads: pl.DataFrame) -> Pointers:
        """Read the pointers from frames with one row per key."""
        return cls(*(heads[name].to_numpy() for name in POINTERS))

    def columns(self, keys: Ints) -> list[pl.Series]:
        """Pointer columns of the given keys."""
        parts = (self.next, self.until, self.last)
        return [pl.Series(name, part[keys]) for name, part in zip(POINTERS, parts, strict=True)]

    def spread(self, keys: Ints, number: int) -> Pointers:
        """Scatter these pointers to the given key numbers; the other keys have no rows."""
        found = Pointers.empty(number)
        found.next[keys], found.until[keys], found.last[keys] = self.next, self.until, self.last
        return found

    def at(self, mask: NDArray[np.bool_]) -> Pointers:
        """Pointers of the selected keys."""
        return Pointers(self.next[mask], self.until[mask], self.last[mask])

    def without_chains(self, mask: NDArray[np.bool_]) -> Pointers:
        """Clear the chains of the selected keys."""
        return replace(self, last=np.where(mask, _NONE, self.last))


@dataclass(frozen=True)
class KeyedRows:
    """Rows read from the log, per key in order: what each covers, and the number of its key."""

    rows: pl.DataFrame
    key: Ints
    covers: NDArray[np.int8]

    @classmethod
    def concat(cls, found: Sequence[KeyedRows]) -> KeyedRows:
        """Concatenate."""
        key = np.concatenate([some.key for some in found])
        covers = np.concatenate([some.covers for some in found])
        return cls(concat_rows([some.rows for some in found]), key, covers)


@dataclass(frozen=True)
class Log:
    """The rows of all keys."""

    segments: Sequence[pl.DataFrame] = ()

    @classmethod
    def read(cls, state: State) -> Log:
        """Read the log of a state."""
        return cls(read_segments(state, _NAME))

    @classmethod
    def compacted(cls, found: KeyedRows, number: int) -> tuple[Log, Pointers]:
        """Compact: a new log of these rows, key by key, and the pointers of its keys."""
        order, starts = group_order(found.key + number * (found.covers == ROW), 2 * number)
        rows, key = take_rows(found.rows, order), found.key[order]
        return cls().add(rows, key, int(starts[number]), Pointers.empty(number))

    @property
    def frames(self) -> State:
        """The log as frames of a state."""
        return as_state(self.segments, _NAME)

    @property
    def needs_compaction(self) -> bool:
        """Whether much of the log may be unreferenced."""
        added = sum(segment.height for segment in self.segments[1:])
        return added > _COMPACT_ROWS and added > _COMPACT_RATIO * self.segments[0].height

    def add(
        self, rows: pl.DataFrame, key: Ints, tails: int, pointers: Pointers
    ) -> tuple[Log, Pointers]:
        """Append rows grouped by key: first ``tails`` tail rows, then chain rows.

        New tails replace those of their keys; chains are extended.
        """
        if not rows.height:
            return self, pointers
        next_, until, last = pointers.next.copy(), pointers.until.copy(), pointers.last.copy()
        before = _link(self._height, key, tails, next_, until, last)
        segments = [*self.segments, with_columns(rows, [pl.Series(_BEFORE, before)]).rechunk()]
        while (similar := _similar(segments[1:])) >= _MERGE_COUNT:
            segments[-similar:] = [concat_rows(segments[-similar:]).rechunk()]
        return Log(segments), Pointers(next_, until, last)

    def take(self, at: str, pointers: Pointers, limit: Ints) -> KeyedRows | None:
        """The tails of keys up to the first with ``at`` >= limit, and the whole chains."""
        found: list[KeyedRows] = []
        last, stop = pointers.last.copy(), self._height
        for segment in reversed(self.segments):  # chains point to earlier rows
            begin = stop - segment.height
            values, before = physical_numbers(segment[at]), segment[_BEFORE].to_numpy()
            rows, key, of = _visit(
                values, before, begin, pointers.next, pointers.until, limit, last
            )
            if len(rows):
                found.append(KeyedRows(take_rows(drop_columns(segment, (_BEFORE,)), rows), key, of))
            stop = begin
        return KeyedRows.concat(found[::-1]) if found else None

    @property
    def _height(self) -> int:
        return sum(segment.height for segment in self.segments)


def _similar(segments: Sequence[pl.DataFrame]) -> int:
    """Number of trailing segments that are not much larger than the very last."""
    limit = _MERGE_COUNT * segments[-1].height if segments else 0
    larger = (n for n, segment in enumerate(reversed(segments)) if segment.height > limit)
    return next(larger, len(segments))


@njit(cache=True, nogil=True)
def _visit(
    values: Ints, before: Ints, begin: int, next_: Ints, until: Ints, limit: Ints, last: Ints
) -> tuple[Ints, Ints, NDArray[np.int8]]:
    """The wanted rows of a segment: for each key its tails, then its chain, in order.

    The segment starts at offset ``begin`` of the log, and no chain in ``last`` points past its end.
    ``last`` is moved to where the chains continue in earlier segments.
    """
    number = len(next_)
    tails, rows = np.zeros(number, np.int64), np.zeros(number, np.int64)
    for key in range(number):
        row = next_[key] - begin
        if 0 <= row < len(values) and next_[key] < until[key]:
            end = until[key] - begin
            while row < end - 1 and values[row] < limit[key]:
                row += 1
            tails[key] = row + 1 - (next_[key] - begin)
        row = last[key]
        while row >= begin:
            rows[key] += 1
            row = before[row - begin]
    total = tails.sum() + rows.sum()
    found, owner = np.empty(total, np.int64), np.empty(total, np.int64)
    of = np.empty(total, np.int8)
    n = 0
    for key in range(number):
        for i in range(tails[key]):
            found[n + i], owner[n + i], of[n + i] = next_[key] - begin + i, key, TAIL
        n += tails[key] + rows[key]
        for i in range(1, rows[key] + 1):
            found[n - i], owner[n - i], of[n - i] = last[key] - begin, key, ROW
            last[key] = before[last[key] - begin]
    return found, owner, of


@njit(cache=True, nogil=True)
def _link(height: int, key: Ints, tails: int, next_: Ints, until: Ints, last: Ints) -> Ints:
    """Chain rows appended at offset ``height``: returns the previous row of each."""
    before = np.full(len(key), -1)
    for i in range(tails):
        if i == 0 or key[i] != key[i - 1]:
            next_[key[i]] = height + i
        until[key[i]] = height + i + 1
    for i in range(tails, len(key)):
        before[i] = last[key[i]]
        last[key[i]] = height + i
    return before
