"""The execution contract of boxes: lazy, eager, tabled or stateful.

A kernel is a pure function of its state, its trains and its frontiers (watermarks). A *lazy* box
adds steps to a Polars pipeline, so that a chain of lazy boxes runs as a single query; an *eager*
box processes the materialized train. A *stateful* box carries a state from step to step. The
in-process runner and the engine on Spark call the same methods.
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

MAX_CHUNKS = 16
"""Chunks; a frame with more is rechunked, since every later step scans all of its chunks."""

State = Mapping[str, pl.DataFrame]
"""State of a box: named frames, stored as Arrow data."""

OwnedTuples = Callable[[int, pl.DataFrame], pl.Series]
"""Mask of the rows that this instance owns, given an input port and rows with their key."""


@dataclass(frozen=True)
class Frontier:
    """A watermark: no tuple with a smaller order value will arrive on the arc.

    ``value`` None: not known yet. ``final``: no tuple at all will arrive.
    """

    value: Order | None = None
    final: bool = False


def earliest(frontiers: tuple[Frontier, ...]) -> Frontier:
    """The combined frontier of several arcs: the minimum over those that are still open.

    >>> earliest((Frontier(5), Frontier(3), Frontier(9, final=True)))
    Frontier(value=3, final=False)
    """
    open_ = [f.value for f in frontiers if not f.final]
    if not open_:
        values: list[Any] = [f.value for f in frontiers if f.value is not None]
        return Frontier(max(values, default=None), final=True)
    known: list[Any] = [value for value in open_ if value is not None]
    return Frontier(min(known) if len(known) == len(open_) else None)


def append_rows(old: pl.DataFrame, new: pl.DataFrame) -> pl.DataFrame:
    """Append new rows to old ones; hidden columns appear with the first tuples."""
    if not (old.height and new.height):
        return old if old.height else new
    if new.columns != old.columns:
        new = new.select(old.columns)
    joined = pl.concat([old, new])
    return joined.rechunk() if joined.n_chunks() > MAX_CHUNKS else joined


def physical_value(value: Order, dtype: pl.DataType) -> Any:
    """The stored number of an order value: microseconds for a timestamp."""
    return pl.Series([value], dtype=dtype).to_physical()[0]


def split_point(train: pl.DataFrame, ts: str, frontier: Frontier) -> int:
    """Number of leading tuples of an ordered train with ts < frontier (all, if it is final)."""
    if frontier.final:
        return train.height
    if frontier.value is None:
        return 0
    return int(train[ts].search_sorted(frontier.value, "left"))


class Lazy(Box):
    """A stateless box that extends a Polars pipeline."""

    keeps_rows: ClassVar[bool] = False
    """Whether the box emits exactly one tuple per input tuple, so that its output need not be
    counted."""

    @abstractmethod
    def pipeline(self, train: pl.LazyFrame, schema: Schema) -> Mapping[str, pl.LazyFrame]:
        """Extend the pipeline of a train by this box; returns one pipeline per output."""

    def move_frontier(self, frontier: Frontier, schema: Schema) -> Frontier:
        """The frontier downstream of the box, given the one upstream."""
        return frontier

    def computes_order(self, schema: Schema) -> bool:
        """Whether the box computes new order values, which may fall outside the valid range."""
        return False

    def in_range(self, times: pl.Series, schema: Schema) -> pl.Series:
        """Mask of the order values whose new value is in range, if it :meth:`computes_order`."""
        raise NotImplementedError(self.type)


class Eager(Box):
    """A stateless box that processes a materialized train."""

    @abstractmethod
    def run(self, train: pl.DataFrame, schema: Schema) -> Mapping[str, pl.DataFrame]:
        """Process a train; returns one train per output."""


class Tabled(Box):
    """A stateless box over the stored tables of a network; its input is in order."""

    @abstractmethod
    def run(self, train: pl.DataFrame, schema: Schema, store: Store) -> Mapping[str, pl.DataFrame]:
        """Apply the tuples of a train to the store; returns one train per output."""


@dataclass(frozen=True)
class StateChange:
    """The difference between two states: frames that were kept, and frames that were added.

    ``kept`` has the name that each frame had before, by the name that it has now.
    """

    kept: Mapping[str, str]
    added: Mapping[str, pl.DataFrame]

    @classmethod
    def between(cls, before: State, after: State) -> StateChange:
        """Find the frames of ``before`` in ``after``.

        A kernel never changes a frame in place, so a frame that is the same object is the same
        frame, whatever its name is now: kernels rename segments, and share them unchanged.
        """
        names = {id(frame): name for name, frame in before.items()}  # alive, so ids are unique
        kept = {name: names[id(frame)] for name, frame in after.items() if id(frame) in names}
        return cls(kept, {name: frame for name, frame in after.items() if name not in kept})


@dataclass(frozen=True)
class Step:
    """Result of one step of a stateful box: output trains, frontier and new state."""

    trains: Mapping[str, pl.DataFrame]
    frontier: Frontier
    state: State


class Stateful(Box):
    """A box with a state that the runner stores for it."""

    stateful: ClassVar[bool] = True
    ranks: ClassVar[bool] = False
    """Whether output has ranks where input has (:mod:`boxcars.kernels.columns.ranks`). Such a box
    runs on several instances, and it can :meth:`share` its state."""
    waiting: ClassVar[tuple[str, ...]] = ("waiting",)
    """Name prefixes of the state frames that hold tuples waiting for the frontier."""

    @property
    def timed(self) -> bool:
        """Whether passing time alone can change its state or let it emit."""
        return True

    def spreads(self) -> bool:
        """Whether the box can run on several instances; ``ranks`` unless a box adds conditions."""
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
        """Process one train per input, as far as the frontiers allow."""

    def share(
        self, states: Sequence[State], owned: OwnedTuples, schemas: tuple[Schema, ...]
    ) -> State:
        """Merge the states of several instances, keeping only the rows this instance owns."""
        raise NotImplementedError(self.type)

    def shown(self, state: State, schemas: tuple[Schema, ...]) -> State:
        """A readable form of the state, for boxes whose state layout serves the engine."""
        return state
