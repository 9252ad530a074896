"""Windows that closed: what every kind of window gives to the aggregate."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol, runtime_checkable

import numpy as np
import polars as pl
from numpy.typing import NDArray

from boxcars.kernels.aggregates.builtin import Function
from boxcars.kernels.columns.folds import Windows
from boxcars.kernels.columns.frames import gathered, picked, replaced, values_at
from boxcars.kernels.columns.keys import Keys, encode_keys
from boxcars.kernels.columns.slices import OF, TAIL, Ints
from boxcars.kernels.columns.system_columns import POSITION, mixed
from boxcars.kernels.contract import Frontier, State
from boxcars.kernels.windows.equal_runs import Stretches

Functions = tuple[tuple[Function, int], ...]
"""The functions of a box, each with the number of its arguments."""

TUPLES = "tuples"
"""The frame of a state with the tuples of a window, or with rows that stand for them."""
KEY = "__key"
"""The column with the number of each row's key, where keys have been numbered."""
_PARTIAL = "__partial"
LAST_POSITION = "__last_pos"
"""Where a row stands for several tuples: the position of the last; ``POSITION`` is of the first."""

Own = Callable[[pl.DataFrame], pl.Series]
"""Which rows, by their group-by fields, are one's own."""


def no_places() -> Ints:
    """No tuples."""
    return np.empty(0, np.int64)


@dataclass(frozen=True)
class Grouping:
    """What a window needs to know of its box: the group-by fields and the order attribute.

    Where keys have been numbered, there are ``number`` of them, and they are the column ``KEY``.
    """

    by: Sequence[str]
    ts: str
    number: int | None = None

    def keys(self, rows: pl.DataFrame, in_order: bool = True) -> Keys:
        """The keys of rows; if they have been numbered, the table is with whoever did it."""
        if self.number is None:
            return encode_keys(rows, self.by, in_order)
        return Keys(rows[KEY].to_numpy(), pl.DataFrame(), self.number)

    @property
    def beside(self) -> list[str]:
        """The group-by fields that are nothing else: no use behind the numbering of keys."""
        return [name for name in self.by if name != self.ts]


@dataclass(frozen=True)
class Reminder:
    """Keys whose windows have something to do at a time, though none of their tuples may come."""

    key: NDArray[Any]
    due: NDArray[Any]


@dataclass(frozen=True, kw_only=True)
class Results(ABC):
    """What leaves the aggregate in one step, in order, and what stays.

    ``keys`` has the group-by fields of each result's key at ``key``, ``ts`` the order value of each
    result, and ``late`` the places of the new tuples that came too late. ``cause`` has the place of
    the new tuple that caused each result, -1 where time did; it is None where time caused all. At
    equal order values results leave by ``turn``; within one, those that time caused leave by key,
    the others as the tuples came. Without it, tuples caused all.
    """

    keys: pl.DataFrame
    key: NDArray[Any]
    ts: pl.Series
    frontier: Frontier
    state: State
    late: Ints = field(default_factory=no_places)
    reminder: Reminder | None = None
    cause: Ints | None = None
    turn: Ints | None = None

    def compute(
        self, by: Sequence[str], functions: Functions
    ) -> tuple[dict[str, pl.Series], list[pl.Series]]:
        """The group-by fields of each result, and the functions of its other fields."""
        return self.key_columns(by, self.key), self.compute_all(functions)

    def key_columns(self, by: Sequence[str], key: NDArray[Any]) -> dict[str, pl.Series]:
        """The group-by fields of keys."""
        return gathered(picked(self.keys, by), key).to_dict() if by else {}

    def compute_all(self, functions: Functions) -> list[pl.Series]:
        """The functions of all fields."""
        return [self.compute_one(number, *function) for number, function in enumerate(functions)]

    @abstractmethod
    def compute_one(self, number: int, function: Function, arguments: int) -> pl.Series:
        """The function of a field; ``number`` is that of the field."""

    @abstractmethod
    def position(self) -> pl.Series | None:
        """A position for each result that is the same however the stream is cut."""


class Kernel(Protocol):
    """A kind of window: pure, like all kernels."""

    def start(self, group: Grouping, tuples: pl.DataFrame) -> State:
        """The state before the first tuple; ``tuples`` has the columns of all that will come."""

    def close(
        self, group: Grouping, state: State, new: pl.DataFrame, frontier: Frontier
    ) -> Results:
        """Take in tuples, and give what is to be said now."""


@runtime_checkable
class Spread(Kernel, Protocol):
    """A kind of window whose groups may live in many places."""

    def share(self, group: Grouping, states: Sequence[State], mine: Own) -> State:
        """The state of the groups that are one's own, from those of several places."""


@dataclass(frozen=True, kw_only=True)
class Closed(Results):
    """Windows that closed: slices of tuples that are sorted by key, or of partial results.

    With ``stretches`` a slice, and its ``key``, stand for all windows of a stretch.
    """

    tuples: pl.DataFrame
    windows: Windows
    stretches: Stretches | None = None

    @property
    def lifted(self) -> bool:
        """Whether there are partial results instead of tuples."""
        return any(name.startswith(_PARTIAL) for name in self.tuples.columns)

    def compute(
        self, by: Sequence[str], functions: Functions
    ) -> tuple[dict[str, pl.Series], list[pl.Series]]:
        """For each window."""
        if self.stretches is None:
            return super().compute(by, functions)
        key, columns = self.stretches.spread_all(self.key, self.compute_all(functions))
        return self.key_columns(by, key), columns

    def compute_one(self, number: int, function: Function, arguments: int) -> pl.Series:
        """A function over each slice."""
        if self.lifted:
            assert function.partial is not None
            assert function.partial.fold is not None
            columns = [self.tuples[name] for name in partials_of(number, self.tuples.columns)]
            return function.partial.finish(function.partial.fold(columns, self.windows))
        given = [self.tuples[argument(number, i)] for i in range(arguments)]
        return function.compute(self.windows, given)

    def position(self) -> pl.Series | None:
        """From the positions of the first and the last tuple and the order value."""
        if POSITION not in self.tuples.columns:
            return None
        slices, name = self.windows.slices, LAST_POSITION if self.lifted else POSITION
        first = values_at(self.tuples[POSITION], slices.lo)
        last = values_at(self.tuples[name], slices.hi - 1)
        if self.stretches is not None:
            first, last = self.stretches.spread_column(first), self.stretches.spread_column(last)
        return result_position(first, last, self.ts)


def own_blocks(block: Ints, rows: pl.DataFrame) -> Ints:
    """The blocks of rows, where each that stands for a tail is a block by itself."""
    tails = standing(rows, TAIL)
    return np.where(tails, -1 - np.arange(rows.height), block) if tails.any() else block


def stand(rows: pl.DataFrame, what: int) -> pl.DataFrame:
    """Rows that stand for tails, for heads, or for themselves."""
    return replaced(rows, [pl.Series(OF, np.full(rows.height, what, np.int8))])


def standing(rows: pl.DataFrame, what: int) -> NDArray[np.bool_]:
    """Which rows stand for tails, or for heads."""
    if OF not in rows.columns:
        return np.zeros(rows.height, np.bool_)
    return np.asarray(rows[OF].to_numpy() == what)


def result_position(first: pl.Series, last: pl.Series, ts: pl.Series) -> pl.Series:
    """A position for results, from those of their first and last tuples and their order value."""
    time = ts.to_physical().cast(pl.Int64, strict=False).fill_null(0)
    return pl.Series(mixed(first.to_numpy(), last.to_numpy(), time.to_numpy()))


def argument(function: int, number: int) -> str:
    """The column with an argument of the function of a field."""
    return f"__{function}.{number}"


def lift(tuples: pl.DataFrame, functions: Functions) -> dict[str, pl.Series]:
    """The partial results of single tuples, for the functions that have any."""
    found: dict[str, pl.Series] = {}
    for number, (function, arguments) in enumerate(functions):
        if function.partial is not None:
            given = [tuples[argument(number, i)] for i in range(arguments)]
            lifted = function.partial.lift(given, tuples.height)
            found |= {f"{_PARTIAL}{number}.{i}": column for i, column in enumerate(lifted)}
    return found


def partials_of(function: int, columns: Iterable[str]) -> list[str]:
    """Those of the columns that have the partial results of the function of a field."""
    return [name for name in columns if name.startswith(f"{_PARTIAL}{function}.")]


def finished(rows: pl.DataFrame, functions: Functions) -> list[pl.Series]:
    """What functions come to for each row with partial results."""
    found = []
    for number, (function, _) in enumerate(functions):
        assert function.partial is not None
        columns = [rows[name] for name in partials_of(number, rows.columns)]
        found.append(function.partial.finish(columns))
    return found
