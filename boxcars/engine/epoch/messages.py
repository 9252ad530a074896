"""What moves between the driver and the pieces of an epoch, and between the pieces."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import polars as pl

from boxcars.engine.layout.pieces import Shape
from boxcars.engine.measure.arc_samples import Peeked
from boxcars.engine.measure.bucket_load import Load
from boxcars.engine.measure.counters import Counts
from boxcars.engine.measure.dead_letter_reasons import Dead
from boxcars.engine.state.checkpoint import EpochPlan, Files
from boxcars.kernels.contract import Frontier
from boxcars.model.arc import Arc
from boxcars.own_code.bundle import Bundle


@dataclass(frozen=True)
class EpochTask:
    """What is told of an epoch: the network, its layout, its checkpoint, and what it reads."""

    network: str
    folder: str
    plan: EpochPlan
    before: Files
    sinks: Mapping[str, str]
    shape: Shape
    shape_before: Shape | None = None
    """How the states of the last epoch are laid out."""
    tables: Mapping[str, str] = field(default_factory=dict)
    """The addresses of the stored tables that are not in the checkpoint."""
    peeks: frozenset[Arc] = frozenset()
    """The arcs that somebody looks at."""
    network_before: str | None = None
    """The network of the last epoch, if that was another."""
    code: Bundle | None = None
    """The user's own code that the network uses."""

    @property
    def rows(self) -> int:
        """How many rows the epoch reads."""
        return sum(s.stop - s.start for splits in self.plan.splits.values() for s in splits)


@dataclass(frozen=True)
class Arrival:
    """A train that comes to a piece by one of its edges, and the promise that comes with it."""

    edge: int
    sender: int
    train: pl.DataFrame
    frontier: Frontier


@dataclass(frozen=True)
class Done:
    """What a piece did: the files of its new states, what it counted, and what came out."""

    piece: int
    state: Files = ()
    stats: Mapping[str, Any] = field(default_factory=dict)
    rows: Mapping[str, int] = field(default_factory=dict)
    heads: Mapping[str, int | float] = field(default_factory=dict)
    """The greatest order value of each input that was read, as a number."""
    worth: Mapping[str, float] = field(default_factory=dict)
    """The sum of the utilities of what came out."""
    loads: Mapping[str, Load] = field(default_factory=dict)
    """What it did for each of its buckets."""
    peeked: Peeked = field(default_factory=dict)
    """What was seen on arcs that somebody looks at."""
    dead: Mapping[str, Any] = field(default_factory=dict)
    """Why records became no tuples, as plain data."""
    letters: str = ""
    """The file with these records, if there are any."""


@dataclass(frozen=True)
class Outcome:
    """What all pieces did together, and each of them for each of its boxes."""

    state: Files
    stats: Mapping[str, tuple[Counts, ...]]
    rows: Mapping[str, int]
    heads: Mapping[str, int | float]
    worth: Mapping[str, float]
    loads: Mapping[str, Load]
    peeked: Peeked
    dead: Dead
    letters: tuple[str, ...]
