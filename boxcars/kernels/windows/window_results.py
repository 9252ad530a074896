"""Results of windows: what every kind of window returns to the aggregate."""

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
from boxcars.kernels.columns.frames import select_columns, take_rows, take_values, with_columns
from boxcars.kernels.columns.keys import Keys, encode_keys
from boxcars.kernels.columns.slices import COVERS, TAIL, Ints
from boxcars.kernels.columns.system_columns import POSITION, combine_positions
from boxcars.kernels.contract import Frontier, State
from boxcars.kernels.windows.equal_runs import EqualRuns

Functions = tuple[tuple[Function, int], ...]
"""The functions of a box, each with the number of its arguments."""

TUPLES = "tuples"
"""The state frame with the tuples of windows, or with rows that cover them."""
KEY = "__key"
"""The column with the key number of each row, where keys are encoded."""
_PARTIAL = "__partial"
LAST_POSITION = "__last_pos"
"""For a row that covers several tuples, the position of the last; ``POSITION`` is that of the
first."""

OwnedRows = Callable[[pl.DataFrame], pl.Series]
"""Mask of the rows that this instance owns, by their group-by fields."""


def no_indices() -> Ints:
    """An empty index array."""
    return np.empty(0, np.int64)


@dataclass(frozen=True)
class Grouping:
    """The group-by fields and the order attribute of the box.

    Where keys are encoded there are ``number`` of them, in the column ``KEY``.
    """

    by: Sequence[str]
    ts: str
    number: int | None = None

    def keys(self, rows: pl.DataFrame, in_order: bool = True) -> Keys:
        """Encode the keys of rows; if they are encoded already, the caller has the table."""
        if self.number is None:
            return encode_keys(rows, self.by, in_order)
        return Keys(rows[KEY].to_numpy(), pl.DataFrame(), self.number)

    @property
    def encoded_columns(self) -> list[str]:
        """Group-by columns that can be dropped once keys are encoded."""
        return [name for name in self.by if name != self.ts]


@dataclass(frozen=True)
class Timers:
    """Timers: keys whose windows fire or close at a time even if no tuple of theirs arrives."""

    key: NDArray[Any]
    due: NDArray[Any]


@dataclass(frozen=True, kw_only=True)
class Results(ABC):
    """Results of one step in order, and the new state.

    ``keys`` has the group-by fields, indexed by the ``key`` of each result; ``ts`` is the order
    value of each result; ``late`` has the indices of late new tuples. ``cause`` has the index of
    the new tuple that caused each result, -1 where time did; None: time caused all. Results of
    equal order value are emitted by ``phase``; within a phase those that time caused by key, the
    others in the order of their tuples. Without phases, tuples caused all.
    """

    keys: pl.DataFrame
    key: NDArray[Any]
    ts: pl.Series
    frontier: Frontier
    state: State
    late: Ints = field(default_factory=no_indices)
    timers: Timers | None = None
    cause: Ints | None = None
    phase: Ints | None = None

    def compute(
        self, by: Sequence[str], functions: Functions
    ) -> tuple[dict[str, pl.Series], list[pl.Series]]:
        """The group-by fields of each result, and the values of its other fields."""
        return self.key_columns(by, self.key), self.compute_all(functions)

    def key_columns(self, by: Sequence[str], key: NDArray[Any]) -> dict[str, pl.Series]:
        """The group-by fields of keys."""
        return take_rows(select_columns(self.keys, by), key).to_dict() if by else {}

    def compute_all(self, functions: Functions) -> list[pl.Series]:
        """The values of all functions."""
        return [self.compute_one(number, *function) for number, function in enumerate(functions)]

    @abstractmethod
    def compute_one(self, number: int, function: Function, arguments: int) -> pl.Series:
        """The values of one function; ``number`` is that of its field."""

    @abstractmethod
    def position(self) -> pl.Series | None:
        """A position for each result that does not depend on how the stream is split."""


class Kernel(Protocol):
    """A kind of window; a pure function, like all kernels."""

    def start(self, group: Grouping, tuples: pl.DataFrame) -> State:
        """The state before the first tuple; ``tuples`` has the columns of later tuples."""

    def close(
        self, group: Grouping, state: State, new: pl.DataFrame, frontier: Frontier
    ) -> Results:
        """Process tuples, and return the results that are due."""


@runtime_checkable
class Shareable(Kernel, Protocol):
    """A kind of window that can run on several instances."""

    def share(self, group: Grouping, states: Sequence[State], owned: OwnedRows) -> State:
        """Merge the states of several instances, keeping only the groups this instance owns."""


@dataclass(frozen=True, kw_only=True)
class Closed(Results):
    """Closed windows: slices of tuples sorted by key, or of partial results.

    With ``equal_runs`` a slice and its ``key`` represent all windows of a run.
    """

    tuples: pl.DataFrame
    windows: Windows
    equal_runs: EqualRuns | None = None

    @property
    def lifted(self) -> bool:
        """Whether rows hold partial results in place of tuples."""
        return any(name.startswith(_PARTIAL) for name in self.tuples.columns)

    def compute(
        self, by: Sequence[str], functions: Functions
    ) -> tuple[dict[str, pl.Series], list[pl.Series]]:
        """The fields of each window."""
        if self.equal_runs is None:
            return super().compute(by, functions)
        key, columns = self.equal_runs.spread_all(self.key, self.compute_all(functions))
        return self.key_columns(by, key), columns

    def compute_one(self, number: int, function: Function, arguments: int) -> pl.Series:
        """Compute a function over each slice."""
        if self.lifted:
            assert function.partial is not None
            assert function.partial.fold is not None
            columns = [self.tuples[name] for name in partials_of(number, self.tuples.columns)]
            return function.partial.finish(function.partial.fold(columns, self.windows))
        given = [self.tuples[argument(number, i)] for i in range(arguments)]
        return function.compute(self.windows, given)

    def position(self) -> pl.Series | None:
        """Derived from the positions of the first and last tuple and the order value."""
        if POSITION not in self.tuples.columns:
            return None
        slices, name = self.windows.slices, LAST_POSITION if self.lifted else POSITION
        first = take_values(self.tuples[POSITION], slices.lo)
        last = take_values(self.tuples[name], slices.hi - 1)
        if self.equal_runs is not None:
            first, last = self.equal_runs.spread_column(first), self.equal_runs.spread_column(last)
        return result_position(first, last, self.ts)


def separate_tails(block: Ints, rows: pl.DataFrame) -> Ints:
    """The blocks of rows, where each row that covers a tail is a block by itself."""
    tails = covers(rows, TAIL)
    return np.where(tails, -1 - np.arange(rows.height), block) if tails.any() else block


def mark_coverage(rows: pl.DataFrame, what: int) -> pl.DataFrame:
    """Mark what rows cover: tails, heads, or themselves."""
    return with_columns(rows, [pl.Series(COVERS, np.full(rows.height, what, np.int8))])


def covers(rows: pl.DataFrame, what: int) -> NDArray[np.bool_]:
    """Mask of the rows that cover tails, or heads."""
    if COVERS not in rows.columns:
        return np.zeros(rows.height, np.bool_)
    return np.asarray(rows[COVERS].to_numpy() == what)


def result_position(first: pl.Series, last: pl.Series, ts: pl.Series) -> pl.Series:
    """A position for each result, from those of its first and last tuple and its order value."""
    time = ts.to_physical().cast(pl.Int64, strict=False).fill_null(0)
    return pl.Series(combine_positions(first.to_numpy(), last.to_numpy(), time.to_numpy()))


def argument(function: int, number: int) -> str:
    """Name of the column with an argument of the function of a field."""
    return f"__{function}.{number}"


def lift(tuples: pl.DataFrame, functions: Functions) -> dict[str, pl.Series]:
    """Partial results of single tuples, for the functions that have any."""
    found: dict[str, pl.Series] = {}
    for number, (function, arguments) in enumerate(functions):
        if function.partial is not None:
            given = [tuples[argument(number, i)] for i in range(arguments)]
            lifted = function.partial.lift(given, tuples.height)
            found |= {f"{_PARTIAL}{number}.{i}": column for i, column in enumerate(lifted)}
    return found


def partials_of(function: int, columns: Iterable[str]) -> list[str]:
    """Names of the columns with the partial results of the function of a field."""
    return [name for name in columns if name.startswith(f"{_PARTIAL}{function}.")]


def finish_rows(rows: pl.DataFrame, functions: Functions) -> list[pl.Series]:
    """Evaluate functions for each row of partial results."""
    found = []
    for number, (function, _) in enumerate(functions):
        assert function.partial is not None
        columns = [rows[name] for name in partials_of(number, rows.columns)]
        found.append(function.partial.finish(columns))
    return found
