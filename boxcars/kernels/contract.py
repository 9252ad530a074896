"""The ways a box can run. A kernel is a pure function of its state, its trains and frontiers.

Two kinds have no state: a *lazy* box adds steps to one Polars pipeline, so that a chain of them
runs as a single query; an *eager* box sees the train itself. A *stateful* box carries a state
from step to step. The runner in this process and the engine on Spark call the same methods.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, ClassVar

import polars as pl

from boxcars.model.box import Box
from boxcars.model.schema import Schema
from boxcars.sql.store import Store

Order = int | float | datetime
"""A value of an order attribute."""

PIECES = 16
"""A frame of more pieces is made one again: the next steps go over all of them."""

State = Mapping[str, pl.DataFrame]
"""What a stateful box remembers: named frames, so that it can be kept as Arrow data."""

Mine = Callable[[int, pl.DataFrame], pl.Series]
"""Which tuples that came by a port, or other rows with their key, are one's own."""


@dataclass(frozen=True)
class Frontier:
    """The promise that no tuple with a smaller order value will still come on an arc.

    ``value`` None promises nothing yet. ``final`` promises that no tuple at all will come.
    """

    value: Order | None = None
    final: bool = False


def earliest(frontiers: tuple[Frontier, ...]) -> Frontier:
    """What several arcs together promise: the least of their promises.

    >>> earliest((Frontier(5), Frontier(3), Frontier(9, final=True)))
    Frontier(value=3, final=False)
    """
    open_ = [f.value for f in frontiers if not f.final]
    if not open_:
        values: list[Any] = [f.value for f in frontiers if f.value is not None]
        return Frontier(max(values, default=None), final=True)
    known: list[Any] = [value for value in open_ if value is not None]
    return Frontier(min(known) if len(known) == len(open_) else None)


def appended(old: pl.DataFrame, new: pl.DataFrame) -> pl.DataFrame:
    """What is kept and what is new as one frame; hidden columns come with the first tuples."""
    if not (old.height and new.height):
        return old if old.height else new
    if new.columns != old.columns:
        new = new.select(old.columns)
    whole = pl.concat([old, new])
    return whole.rechunk() if whole.n_chunks() > PIECES else whole


def physical_value(value: Order, dtype: pl.DataType) -> Any:
    """An order value as the number that it is stored as: microseconds for a timestamp."""
    return pl.Series([value], dtype=dtype).to_physical()[0]


def split_point(train: pl.DataFrame, ts: str, frontier: Frontier) -> int:
    """How many tuples of a train in order are behind the frontier, so that their time has come."""
    if frontier.final:
        return train.height
    if frontier.value is None:
        return 0
    return int(train[ts].search_sorted(frontier.value, "left"))


class Lazy(Box):
    """A stateless box that is part of a Polars pipeline."""

    keeps_rows: ClassVar[bool] = False
    """Whether exactly one tuple leaves for each that enters, so that nobody needs to count."""

    @abstractmethod
    def pipeline(self, train: pl.LazyFrame, schema: Schema) -> Mapping[str, pl.LazyFrame]:
        """Add this box to the pipeline of a train: what leaves each output."""

    def move_frontier(self, frontier: Frontier, schema: Schema) -> Frontier:
        """The promise behind the box, from the promise before it."""
        return frontier

    def dates(self, schema: Schema) -> bool:
        """Whether it computes order values, all in order, so that some may be beyond the range."""
        return False

    def placed(self, times: pl.Series, schema: Schema) -> pl.Series:
        """Of a box that :meth:`dates`: which order values become such that are in the range."""
        raise NotImplementedError(self.type)


class Eager(Box):
    """A stateless box that looks at the train itself."""

    @abstractmethod
    def run(self, train: pl.DataFrame, schema: Schema) -> Mapping[str, pl.DataFrame]:
        """What leaves each output for a train that enters."""


class Tabled(Box):
    """A stateless box over the stored tables of a network; its input is in order."""

    @abstractmethod
    def run(self, train: pl.DataFrame, schema: Schema, store: Store) -> Mapping[str, pl.DataFrame]:
        """What leaves each output for a train that enters, once the store has seen its tuples."""


@dataclass(frozen=True)
class Step:
    """What a stateful box did: what leaves it, what it promises, and its new state."""

    trains: Mapping[str, pl.DataFrame]
    frontier: Frontier
    state: State


class Stateful(Box):
    """A box with a state that the runner keeps for it."""

    stateful: ClassVar[bool] = True
    ranks: ClassVar[bool] = False
    """Whether what leaves has ranks where what enters has (:mod:`boxcars.kernels.columns.ranks`),
    so that it can run in many places; then it can also :meth:`share` its state."""
    waiting: ClassVar[tuple[str, ...]] = ("waiting",)
    """How the frames of its state begin in which tuples wait for the frontier."""

    def spreads(self) -> bool:
        """Whether it can run in many places: as its ``ranks`` say, unless there is more to it."""
        return self.ranks

    @abstractmethod
    def start(self, schemas: tuple[Schema, ...]) -> State:
        """The state before the first tuple."""

    @abstractmethod
    def step(
        self,
        state: State,
        trains: tuple[pl.DataFrame, ...],
        frontiers: tuple[Frontier, ...],
        schemas: tuple[Schema, ...],
    ) -> Step:
        """Take in a train from each input, as far as the frontiers allow."""

    def share(self, states: Sequence[State], mine: Mine, schemas: tuple[Schema, ...]) -> State:
        """What is one's own of the states of several places, as one state."""
        raise NotImplementedError(self.type)

    def shown(self, state: State, schemas: tuple[Schema, ...]) -> State:
        """A state as people would see it: as it is, unless it is laid out for the engine."""
        return state
