"""Tuples of two streams that match: frames around the loops of :mod:`boxcars.kernels.join`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from math import ceil
from typing import Any

import numpy as np
import polars as pl

from boxcars.kernels.join import (
    NO_KEY,
    Codes,
    Keys,
    Matches,
    Orders,
    Side,
    find_matches,
    list_pairs,
    look_up,
    number_keys,
)
from boxcars.kernels.kernel import Frontier, appended
from boxcars.model.types import Type
from boxcars.model.window import Window

CANDIDATES = 4_000_000
"""How many pairs are looked at together, so that their memory stays bounded."""
KEYS = "__key_"
KEY = f"{KEYS}{pl.Series(['boxcars']).hash()[0]:x}"
"""The column of a window with the keys as words. It has another name where Polars hashes otherwise,
so that a stored window is not taken for what it is not."""

_EXACT = (pl.Int64(), pl.Datetime("us"), pl.Boolean())
"""Types whose values are numbers of 64 bits, so that no hash is needed."""
_SIGN = np.uint64(2**63)
_MOST = 2**64 - 1
_ROWS = ("__left", "__right")


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
        """The order values as floats, or as unsigned ints so that no distance is too great."""
        numbers = self.column(frame).to_numpy(writable=self.type is Type.FLOAT)
        return numbers if self.type is Type.FLOAT else numbers.view(np.uint64) ^ _SIGN

    def number(self, value: Any) -> Any:
        """One order value."""
        return self.numbers(pl.DataFrame({self.ts: [value]}, schema={self.ts: self.type.dtype}))[0]


@dataclass(frozen=True)
class Limit:
    """How far behind a tuple may be and still be in the window, in order values or in tuples."""

    timed: bool
    reach: Any

    @classmethod
    def of(cls, window: Window, type_: Type) -> Limit:
        """The size of a window; less than 60 is at most 59, or the float before 60.

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
        """Whether equal words are equal keys; otherwise the terms must compare them again."""
        return len(dtypes) == 0 or (len(dtypes) == 1 and dtypes[0] in _EXACT)

    def with_keys(self, frame: pl.DataFrame, port: int) -> pl.DataFrame:
        """The tuples with their key as a word of 64 bits; null if a part of it is."""
        if not self.dtypes or KEY in frame.columns:
            return frame
        parts = [
            pl.col(field).cast(dtype)
            for field, dtype in zip(self.fields[port], self.dtypes, strict=True)
        ]
        if self.is_exact(self.dtypes):
            word = parts[0].to_physical().cast(pl.Int64).reinterpret(signed=False)
        else:
            named = [part.alias(str(i)) for i, part in enumerate(parts)]
            word = parts[0].hash() if len(parts) == 1 else pl.struct(named).hash()
            known = pl.all_horizontal(part.is_not_null() for part in parts)
            word = pl.when(known).then(word)
        stale = [name for name in frame.columns if name.startswith(KEYS)]
        return frame.drop(stale).with_columns(word.alias(KEY))


@dataclass(frozen=True)
class Input:
    """One input in a step: its window, the tuples whose time has come, and those that wait."""

    axis: Axis
    limit: Limit
    old: pl.DataFrame
    new: pl.DataFrame
    rest: pl.DataFrame

    def keep(self, other: Input, frontier: Frontier) -> pl.DataFrame:
        """The window after the step: what can still meet a tuple of the other input."""
        window = appended(self.old, self.new)
        if frontier.final and not other.rest.height:
            return window.clear()
        if not self.limit.timed:
            return window[max(window.height - int(self.limit.reach), 0) :]
        if other.rest.height:
            return window[self._gone(window, other.axis.numbers(other.rest[:1])[0]) :]
        if frontier.value is not None:
            return window[self._gone(window, other.axis.number(frontier.value)) :]
        return window

    def _gone(self, window: pl.DataFrame, coming: Any) -> int:
        """How many tuples are too far from the next one that can come."""
        with np.errstate(invalid="ignore", over="ignore"):
            gone = coming - self.axis.numbers(window) > self.limit.reach
        return int(np.count_nonzero(gone))

    def take_part(self, old: Codes, new: Codes) -> tuple[Side, pl.DataFrame]:
        """The tuples whose key is among the new ones, for the loops and as a frame."""
        busy = old != NO_KEY
        held = self.old if busy.all() else self.old.filter(pl.Series(busy))
        rows = appended(held, self.new).rechunk()
        order = mark = self.axis.numbers(rows)
        if not self.limit.timed:
            places = np.arange(len(old), len(old) + len(new) + 1)
            mark = np.concatenate([np.flatnonzero(busy), places]).astype(order.dtype)
        code = np.concatenate([old[busy], new])
        return Side(code, order, mark, self.limit.reach, self.limit.timed, held.height), rows


def find_pairs(left: Input, right: Input, condition: Condition) -> Iterator[pl.DataFrame]:
    """The pairs that match in the order of the later tuple, as many frames as memory asks for."""
    codes, number = _codes(left, right, keyed=bool(condition.dtypes))
    left_side, left_rows = left.take_part(codes[0], codes[1])
    right_side, right_rows = right.take_part(codes[2], codes[3])
    matches = find_matches(left_side, right_side, number)
    total = int(matches.ends[-1]) if len(matches.ends) else 0
    for begin in range(0, max(total, 1), CANDIDATES):
        yield _frame(
            matches, begin, min(total, begin + CANDIDATES), (left_rows, right_rows), condition
        )


def _codes(left: Input, right: Input, keyed: bool) -> tuple[list[Codes], int]:
    """Numbers for the keys of left (old, new) and right (old, new).

    Only the keys of new tuples have one: the others meet nobody in this step.
    """
    frames = (left.old, left.new, right.old, right.new)
    if not keyed:
        return [np.zeros(frame.height, np.int32) for frame in frames], 1
    keys = [_keys(frame) for frame in frames]
    new = Keys(*(np.concatenate(parts) for parts in zip(keys[1], keys[3], strict=True)))
    codes, table = number_keys(new)
    cut = left.new.height
    return [look_up(keys[0], table), codes[:cut], look_up(keys[2], table), codes[cut:]], table.size


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
    """Some pairs with all their fields, of those that satisfy the terms."""
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
    """The pairs with more fields of their tuples."""
    for row, frame, own in zip(_ROWS, frames, names, strict=True):
        wanted = [pl.col(field).gather(rows[row]).alias(name) for field, name in own]
        rows = rows.hstack(frame.select(wanted)) if wanted else rows
    return rows
