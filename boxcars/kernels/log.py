"""Rows of keys in a log: they are added at its end, and found again by where they lie.

A key has *tails*, which lie next to each other, and a *chain* of rows, each of which says where the
one before it lies. So nothing is searched for, and rows are not sorted by key. Those that nobody
asks for any more stay in the log until it has grown too long, and is laid out anew.

The log lies in a few segments, frames of a state that are never changed. The first is how it was
last laid out. Those behind it are what was added, and are merged when many are of like size.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl
from numba import njit
from numpy.typing import NDArray

from boxcars.kernels.frames import gathered, numbers_of, replaced, whole, without
from boxcars.kernels.kernel import State
from boxcars.kernels.segments import as_state, read_segments
from boxcars.kernels.slices import ROW, TAIL, Ints

_NAME, _BEFORE = "log", "__before"
NOWHERE = -1
ALL = np.iinfo(np.int64).max
"""The limit of keys whose tails are all wanted."""
_MANY = 6
"""So many segments of like size are merged: a row is seldom copied, and there are few segments."""
_ROOM = 2
"""The log is too long when so many times as much was added as it had when it was laid out."""
_FEW = 1000
"""So many rows more make no log too long."""


@dataclass(frozen=True)
class Wanted:
    """What is wanted of keys: tails, and the chain whose last row is ``last``.

    Of the tails ``[next, until)`` those up to the first whose place has the limit.
    """

    next: Ints
    until: Ints
    limit: Ints
    last: Ints


@dataclass(frozen=True)
class Found:
    """Rows, those of a key in order: what each stands for, and which of the keys it belongs to."""

    rows: pl.DataFrame
    key: Ints
    of: NDArray[np.int8]

    @classmethod
    def together(cls, found: Sequence[Found]) -> Found:
        """Several of them."""
        key = np.concatenate([some.key for some in found])
        of = np.concatenate([some.of for some in found])
        return cls(whole([some.rows for some in found]), key, of)


@dataclass(frozen=True)
class Log:
    """All rows of all keys."""

    segments: Sequence[pl.DataFrame] = ()

    @classmethod
    def read(cls, state: State) -> Log:
        """The log of a state."""
        return cls(read_segments(state, _NAME))

    @classmethod
    def laid_out(cls, rows: pl.DataFrame, before: Ints) -> Log:
        """A log of these rows alone."""
        return cls([_chained(rows, before)])

    @property
    def frames(self) -> State:
        """The log as frames of a state."""
        return as_state(self.segments, _NAME)

    @property
    def height(self) -> int:
        """Where the next row will lie."""
        return sum(segment.height for segment in self.segments)

    @property
    def too_long(self) -> bool:
        """Whether much may be in it that nobody asks for any more."""
        added = sum(segment.height for segment in self.segments[1:])
        return added > _FEW and added > _ROOM * self.segments[0].height

    def add(self, rows: pl.DataFrame, before: Ints) -> Log:
        """With more rows, and where those before them in their chains lie."""
        if not rows.height:
            return self
        segments = [*self.segments, _chained(rows, before)]
        while (alike := _alike(segments[1:])) >= _MANY:
            segments[-alike:] = [whole(segments[-alike:]).rechunk()]
        return Log(segments)

    def take(self, at: str, wanted: Wanted) -> Found | None:
        """What is wanted; the column ``at`` has the places that limits go by."""
        found: list[Found] = []
        last, stop = wanted.last.copy(), self.height
        for segment in reversed(self.segments):
            begin = stop - segment.height
            places, before = numbers_of(segment[at]), segment[_BEFORE].to_numpy()
            tails = wanted.next, wanted.until, wanted.limit
            rows, key, of = _visit(places, before, begin, *tails, last)
            if len(rows):
                found.append(Found(gathered(without(segment, (_BEFORE,)), rows), key, of))
            stop = begin
        return Found.together(found[::-1]) if found else None


def _chained(rows: pl.DataFrame, before: Ints) -> pl.DataFrame:
    return replaced(rows, [pl.Series(_BEFORE, before)]).rechunk()


def _alike(segments: Sequence[pl.DataFrame]) -> int:
    """How many of the last segments are not much larger than the last one of all."""
    limit = _MANY * segments[-1].height if segments else 0
    larger = (n for n, segment in enumerate(reversed(segments)) if segment.height > limit)
    return next(larger, len(segments))


@njit(cache=True, nogil=True)
def _visit(
    places: Ints, before: Ints, begin: int, next_: Ints, until: Ints, limit: Ints, last: Ints
) -> tuple[Ints, Ints, NDArray[np.int8]]:
    """The rows of a segment that are wanted: for each key its tails, then its chain, in order.

    The segment begins at ``begin``, and all chains end in it or before; ``last`` goes on to where
    they end before it.
    """
    number = len(next_)
    tails, rows = np.zeros(number, np.int64), np.zeros(number, np.int64)
    for key in range(number):
        place = next_[key] - begin
        if 0 <= place < len(places) and next_[key] < until[key]:
            end = until[key] - begin
            while place < end - 1 and places[place] < limit[key]:
                place += 1
            tails[key] = place + 1 - (next_[key] - begin)
        place = last[key]
        while place >= begin:
            rows[key] += 1
            place = before[place - begin]
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
