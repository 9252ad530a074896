"""Rows of keys in a log: they are added at its end, and found again by where they lie.

A key has *tails*, which lie next to each other, and a *chain* of rows, each of which says where the
one before it lies. So nothing is searched for, and rows are not sorted by key. Those that nobody
asks for any more stay in the log until it has grown too long, and is laid out anew.

The log lies in a few segments, frames of a state that are never changed. The first is how it was
last laid out. Those behind it are what was added, and are merged when many are of like size.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import polars as pl
from numba import njit
from numpy.typing import NDArray

from boxcars.kernels.columns.frames import gathered, numbers_of, replaced, whole, without
from boxcars.kernels.columns.keys import group_order
from boxcars.kernels.columns.slices import ROW, TAIL, Ints
from boxcars.kernels.contract import State
from boxcars.kernels.state.segments import as_state, read_segments

WHERE = "__next", "__until", "__last"
"""The columns that say where the rows of a key lie."""
_NAME, _BEFORE, _NOWHERE = "log", "__before", -1
_MANY = 6
"""So many segments of like size are merged: a row is seldom copied, and there are few segments."""
_ROOM = 2
"""The log is too long when so many times as much was added as it had when it was laid out."""
_FEW = 1000
"""So many rows more make no log too long."""


@dataclass(frozen=True)
class Where:
    """Where the rows of keys lie: their tails ``[next, until)``, and the last rows of chains."""

    next: Ints
    until: Ints
    last: Ints

    @classmethod
    def nowhere(cls, number: int) -> Where:
        """Keys that have no rows."""
        return cls(*(np.full(number, _NOWHERE) for _ in WHERE))

    @classmethod
    def read(cls, heads: pl.DataFrame) -> Where:
        """Those of keys with a row each."""
        return cls(*(heads[name].to_numpy() for name in WHERE))

    def columns(self, keys: Ints) -> list[pl.Series]:
        """Those of some keys, for their rows."""
        parts = (self.next, self.until, self.last)
        return [pl.Series(name, part[keys]) for name, part in zip(WHERE, parts, strict=True)]

    def spread(self, keys: Ints, number: int) -> Where:
        """As those of keys with these numbers; the others have no rows."""
        found = Where.nowhere(number)
        found.next[keys], found.until[keys], found.last[keys] = self.next, self.until, self.last
        return found

    def at(self, mask: NDArray[np.bool_]) -> Where:
        """Those of some keys."""
        return Where(self.next[mask], self.until[mask], self.last[mask])

    def tails_of(self, mask: NDArray[np.bool_]) -> Where:
        """Without the chains of some keys."""
        return replace(self, last=np.where(mask, _NOWHERE, self.last))


@dataclass(frozen=True)
class Found:
    """Rows, those of a key in order: what each stands for, and the number of its key."""

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
    def laid_out(cls, found: Found, number: int) -> tuple[Log, Where]:
        """A log of rows alone, key by key, and where those of so many keys lie."""
        order, starts = group_order(found.key + number * (found.of == ROW), 2 * number)
        rows, key = gathered(found.rows, order), found.key[order]
        return cls().add(rows, key, int(starts[number]), Where.nowhere(number))

    @property
    def frames(self) -> State:
        """The log as frames of a state."""
        return as_state(self.segments, _NAME)

    @property
    def too_long(self) -> bool:
        """Whether much may be in it that nobody asks for any more."""
        added = sum(segment.height for segment in self.segments[1:])
        return added > _FEW and added > _ROOM * self.segments[0].height

    def add(self, rows: pl.DataFrame, key: Ints, tails: int, where: Where) -> tuple[Log, Where]:
        """With more rows, those of a key together: so many tails, then rows for chains.

        Tails take the place of those that keys had; chains go on.
        """
        if not rows.height:
            return self, where
        next_, until, last = where.next.copy(), where.until.copy(), where.last.copy()
        before = _link(self._height, key, tails, next_, until, last)
        segments = [*self.segments, replaced(rows, [pl.Series(_BEFORE, before)]).rechunk()]
        while (alike := _alike(segments[1:])) >= _MANY:
            segments[-alike:] = [whole(segments[-alike:]).rechunk()]
        return Log(segments), Where(next_, until, last)

    def take(self, at: str, where: Where, limit: Ints) -> Found | None:
        """The tails of keys up to the first that has the limit in column ``at``; and the chains."""
        found: list[Found] = []
        last, stop = where.last.copy(), self._height
        for segment in reversed(self.segments):
            begin = stop - segment.height
            places, before = numbers_of(segment[at]), segment[_BEFORE].to_numpy()
            rows, key, of = _visit(places, before, begin, where.next, where.until, limit, last)
            if len(rows):
                found.append(Found(gathered(without(segment, (_BEFORE,)), rows), key, of))
            stop = begin
        return Found.together(found[::-1]) if found else None

    @property
    def _height(self) -> int:
        return sum(segment.height for segment in self.segments)


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


@njit(cache=True, nogil=True)
def _link(height: int, key: Ints, tails: int, next_: Ints, until: Ints, last: Ints) -> Ints:
    """Where the rows lie before those that are added behind ``height`` others."""
    before = np.full(len(key), -1)
    for i in range(tails):
        if i == 0 or key[i] != key[i - 1]:
            next_[key[i]] = height + i
        until[key[i]] = height + i + 1
    for i in range(tails, len(key)):
        before[i] = last[key[i]]
        last[key[i]] = height + i
    return before
