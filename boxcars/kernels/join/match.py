"""Matching pairs of two streams, found by the loops of :mod:`boxcars.kernels.join.probe`."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from math import ceil
from typing import Any

import numpy as np
import polars as pl

from boxcars.kernels.columns.frames import concat_rows
from boxcars.kernels.columns.hashing import hash_columns
from boxcars.kernels.contract import Frontier, State
from boxcars.kernels.join.probe import (
    NO_KEY,
    Codes,
    Indices,
    Keys,
    Matches,
    Orders,
    Side,
    Table,
    find_matches,
    find_slots,
    list_pairs,
    look_up,
    number_keys,
)
from boxcars.kernels.state.segments import advance_segments, as_state, read_segments
from boxcars.model.types import Type
from boxcars.model.window import Window

CANDIDATES = 4_000_000
"""Pairs evaluated at a time, which bounds memory."""
KEYS = "__key_"
KEY = f"{KEYS}1"
"""The column of a window with the keys as words: their values, or the stable hash of
:mod:`boxcars.kernels.columns.hashing`. A stored column of another name is computed again."""

_EXACT = (pl.Int64(), pl.Datetime("us"), pl.Boolean())
"""Types whose values are 64-bit numbers, so that no hash is needed."""
_SIGN = np.uint64(2**63)
_MOST = 2**64 - 1
_ROWS = ("__left", "__right")
_INDEX, _ROW = "index", "place"
_INDEX_RATIO = 64
"""Ratio; a segment is indexed when it is this many times as large as the rows of a step."""


@dataclass(frozen=True)
class Axis:
    """The order attribute of an input; ``type`` is that of the left input for both."""

    ts: str
    type: Type

    def column(self, frame: pl.DataFrame) -> pl.Series:
        """The order values, all of one type."""
        column = frame[self.ts]
        return column if column.dtype == self.type.dtype else column.cast(self.type.dtype)

    def numbers(self, frame: pl.DataFrame) -> Orders:
        """The order values as floats, or as unsigned ints so that distances do not overflow."""
        numbers = self.column(frame).to_numpy(writable=self.type is Type.FLOAT)
        return numbers if self.type is Type.FLOAT else numbers.view(np.uint64) ^ _SIGN

    def number(self, value: Any) -> Any:
        """One order value."""
        return self.numbers(pl.DataFrame({self.ts: [value]}, schema={self.ts: self.type.dtype}))[0]


@dataclass(frozen=True)
class Limit:
    """How old a tuple of the window may be, in order values or in tuples."""

    timed: bool
    reach: Any

    @classmethod
    def of(cls, window: Window, type_: Type) -> Limit:
        """Greatest distance inside a window: less than 60 is at most 59, or the float before 60.

        >>> Limit.of(Window("time", 60), Type.INT), Limit.of(Window("time", 0.5), Type.TIMESTAMP)
        (Limit(timed=True, reach=np.uint64(59)), Limit(timed=True, reach=np.uint64(499999)))
        """
        timed = window.by == "time"
        if type_ is Type.FLOAT:
            number = np.float64(window.size)
            return cls(timed, np.nextafter(number, 0) if timed else number)
        unit = 1_000_000 if timed and type_ is Type.TIMESTAMP else 1
        size = ceil(Decimal(str(window.size)) * unit)
        return cls(timed, np.uint64(min(size - timed, _MOST)))


@dataclass(frozen=True)
class Condition:
    """When two tuples match: equal keys, and terms over ``left.<field>`` and ``right.<field>``."""

    fields: tuple[tuple[str, ...], tuple[str, ...]]
    """The key on the left, and the key on the right."""
    dtypes: tuple[pl.DataType, ...]
    terms: tuple[pl.Expr, ...]
    reads: frozenset[str]
    """The fields that the terms read."""

    @staticmethod
    def is_exact(dtypes: Sequence[pl.DataType]) -> bool:
        """Whether equal words imply equal keys; otherwise the terms must compare the keys again."""
        return len(dtypes) == 0 or (len(dtypes) == 1 and dtypes[0] in _EXACT)

    def with_keys(self, frame: pl.DataFrame, port: int) -> pl.DataFrame:
        """Add the key as a 64-bit word; null if a part of the key is null."""
        if not self.dtypes or KEY in frame.columns:
            return frame
        parts = [
            pl.col(field).cast(dtype)
            for field, dtype in zip(self.fields[port], self.dtypes, strict=True)
        ]
        stale = [name for name in frame.columns if name.startswith(KEYS)]
        if self.is_exact(self.dtypes):
            word = parts[0].to_physical().cast(pl.Int64).reinterpret(signed=False)
            return frame.drop(stale).with_columns(word.alias(KEY))
        values = frame.select(part.alias(str(i)) for i, part in enumerate(parts))
        words = pl.Series(KEY, hash_columns(values.get_columns(), values.height).view(np.uint64))
        if any(column.null_count() for column in values):
            known = values.select(pl.all_horizontal(pl.all().is_not_null())).to_series()
            words = pl.select(pl.when(known).then(words)).to_series().alias(KEY)
        return frame.drop(stale).with_columns(words)


@dataclass(frozen=True)
class Input:
    """One input in a step: its window, the tuples ready to be joined, and those that wait."""

    axis: Axis
    limit: Limit
    old: Sequence[Indexed]
    new: pl.DataFrame
    rest: pl.DataFrame

    @property
    def held(self) -> int:
        """Number of tuples in the window."""
        return sum(segment.rows.height for segment in self.old)

    def keep(self, other: Input, frontier: Frontier) -> list[Indexed]:
        """The window after the step: tuples that can still match one of the other input."""
        segments = [segment.rows for segment in self.old]
        kept = advance_segments(segments, self.new, self._expired(other, frontier))
        known = {id(segment.rows): segment for segment in self.old}
        coming = self.new.height + other.new.height
        return [known.get(id(rows), Indexed(rows)).for_steps_of(coming) for rows in kept]

    def _expired(self, other: Input, frontier: Frontier) -> int:
        """Number of leading tuples that can match no more."""
        total = self.held + self.new.height
        if frontier.final and not other.rest.height:
            return total
        if not self.limit.timed:
            return max(total - int(self.limit.reach), 0)
        if other.rest.height:
            return self._before(other.axis.numbers(other.rest[:1])[0])
        return 0 if frontier.value is None else self._before(other.axis.number(frontier.value))

    def _before(self, coming: Any) -> int:
        """Number of leading tuples too far from the next one that can arrive."""
        gone = 0
        for rows in (*(segment.rows for segment in self.old), self.new):
            here = bisect_left(range(rows.height), 1, key=lambda i: self._in_reach(rows, i, coming))
            gone += here
            if here < rows.height:
                break
        return gone

    def _in_reach(self, rows: pl.DataFrame, row: int, coming: Any) -> bool:
        with np.errstate(invalid="ignore", over="ignore"):
            distance = coming - self.axis.numbers(rows[row : row + 1])[0]
        return not distance > self.limit.reach

    def participants(self, table: Table | None, new: Codes) -> tuple[Side, pl.DataFrame]:
        """The tuples whose key is among the new ones, as arrays for the loops and as a frame."""
        found, codes, marks, before = [], [], [], 0
        for segment in self.old:
            matching, numbers = segment.find(table)
            found.append(
                segment.rows if len(matching) == segment.rows.height else segment.rows[matching]
            )
            codes.append(numbers)
            marks.append(before + matching)
            before += segment.rows.height
        rows = concat_rows([*found, self.new]).rechunk()
        order = mark = self.axis.numbers(rows)
        if not self.limit.timed:
            coming = np.arange(before, before + len(new) + 1)
            mark = np.concatenate([*marks, coming]).astype(order.dtype)
        code = np.concatenate([*codes, new])
        held = len(code) - len(new)
        return Side(code, order, mark, self.limit.reach, self.limit.timed, held), rows


@dataclass(frozen=True)
class Indexed:
    """A segment of a window; ``index``, if built, has its keys in order with their row numbers."""

    rows: pl.DataFrame
    index: pl.DataFrame | None = None

    def for_steps_of(self, coming: int) -> Indexed:
        """Add an index, if scanning all keys costs more in steps of ``coming`` tuples."""
        if self.index is not None or KEY not in self.rows.columns:
            return self
        if not coming or self.rows.height < _INDEX_RATIO * coming:
            return self
        keys = _keys(self.rows)
        rows = np.flatnonzero(keys.known).astype(np.uint32)
        rows = rows[np.argsort(keys.word[rows], kind="stable")]
        return Indexed(self.rows, pl.DataFrame({KEY: keys.word[rows], _ROW: rows}))

    def find(self, table: Table | None) -> tuple[Indices, Codes]:
        """Row numbers of the tuples with a key of the table, in order, and their key numbers.

        Without a table all tuples have one key.
        """
        if table is None:
            return np.arange(self.rows.height), np.zeros(self.rows.height, np.int32)
        if not table.size:
            return np.empty(0, np.int64), np.empty(0, np.int32)
        if self.index is None:
            codes = look_up(_keys(self.rows), table)
            rows = np.flatnonzero(codes != NO_KEY)
            return rows, codes[rows]
        words = table.words[: table.size]
        slots, codes = find_slots(self.index[KEY].to_numpy(), words)
        rows = self.index[_ROW].to_numpy()[slots].astype(np.int64)
        order = np.argsort(rows)
        return rows[order], codes[order]


def read_window(state: State, name: str, condition: Condition, port: int) -> list[Indexed]:
    """Read the segments of a window, with their keys; an index of other words is ignored."""
    found = []
    for number, rows in enumerate(read_segments(state, name)):
        index = state.get(f"{name}.{number}.{_INDEX}")
        usable = index is not None and KEY in index.columns
        found.append(Indexed(condition.with_keys(rows, port), index if usable else None))
    return found


def window_state(window: Sequence[Indexed], name: str) -> State:
    """A window as frames of a state."""
    indexes = {
        f"{name}.{number}.{_INDEX}": segment.index
        for number, segment in enumerate(window)
        if segment.index is not None
    }
    return {**as_state([segment.rows for segment in window], name), **indexes}


def find_pairs(left: Input, right: Input, condition: Condition) -> Iterator[pl.DataFrame]:
    """Yield the matching pairs in the order of the later tuple, in frames of bounded size."""
    codes, table = _codes(left.new, right.new, keyed=bool(condition.dtypes))
    left_side, left_rows = left.participants(table, codes[0])
    right_side, right_rows = right.participants(table, codes[1])
    matches = find_matches(left_side, right_side, table.size if table else 1)
    total = int(matches.ends[-1]) if len(matches.ends) else 0
    for begin in range(0, max(total, 1), CANDIDATES):
        yield _frame(
            matches, begin, min(total, begin + CANDIDATES), (left_rows, right_rows), condition
        )


def _codes(
    left: pl.DataFrame, right: pl.DataFrame, keyed: bool
) -> tuple[tuple[Codes, Codes], Table | None]:
    """Encode the keys of new tuples; tuples with other keys match nothing in this step."""
    if not keyed:
        return (np.zeros(left.height, np.int32), np.zeros(right.height, np.int32)), None
    keys = [_keys(frame) for frame in (left, right)]
    codes, table = number_keys(Keys(*(np.concatenate(parts) for parts in zip(*keys, strict=True))))
    return (codes[: left.height], codes[left.height :]), table


def _keys(frame: pl.DataFrame) -> Keys:
    words = frame[KEY] if frame.height else pl.Series(dtype=pl.UInt64)
    if not words.null_count():
        return Keys(words.to_numpy(writable=True), np.ones(len(words), np.bool_))
    known = words.is_not_null().to_numpy(writable=True)
    return Keys(words.fill_null(0).to_numpy(writable=True), known)


def _frame(
    matches: Matches,
    begin: int,
    end: int,
    frames: tuple[pl.DataFrame, ...],
    condition: Condition,
) -> pl.DataFrame:
    """A range of pairs with all their fields, filtered by the terms."""
    rows = pl.DataFrame(dict(zip(_ROWS, list_pairs(matches, begin, end), strict=True)))
    names = [
        [(field, f"{side}.{field}") for field in frame.columns if field != KEY]
        for side, frame in zip(("left", "right"), frames, strict=True)
    ]
    if condition.terms:
        read = [[name for name in own if name[1] in condition.reads] for own in names]
        rows = _with_columns(rows, frames, read).filter(*condition.terms)
    rest = [[name for name in own if name[1] not in rows.columns] for own in names]
    return _with_columns(rows, frames, rest).drop(_ROWS)


def _with_columns(
    rows: pl.DataFrame, frames: tuple[pl.DataFrame, ...], names: list[list[tuple[str, str]]]
) -> pl.DataFrame:
    """Add fields of the tuples to the pairs."""
    for row, frame, own in zip(_ROWS, frames, names, strict=True):
        wanted = [pl.col(field).gather(rows[row]).alias(name) for field, name in own]
        rows = rows.hstack(frame.select(wanted)) if wanted else rows
    return rows
