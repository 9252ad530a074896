"""Messages between the driver and the pieces of an epoch, and between pieces."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import polars as pl

from boxcars.connectors.read.splits import Split
from boxcars.engine.layout.pieces import Shape
from boxcars.engine.measure.arc_samples import Peeked
from boxcars.engine.measure.bucket_load import Load
from boxcars.engine.measure.counters import Counts
from boxcars.engine.measure.dead_letter_reasons import DeadReasons
from boxcars.engine.state.epoch_records import EpochPlan
from boxcars.engine.state.state_files import StateRef
from boxcars.engine.state.storage import Storage
from boxcars.kernels.contract import Frontier
from boxcars.model.arc import Arc
from boxcars.own_code.bundle import Bundle


@dataclass(frozen=True)
class EpochTask:
    """An epoch as the driver sends it to workers: network, layout, checkpoint and plan."""

    network: str
    storage: Storage
    folder: str
    """The folder of the checkpoint on this machine, for dead letters, tables and progress."""
    term: int
    """The term of the driver, which is in the names of the files that tasks write."""
    plan: EpochPlan
    state: tuple[StateRef, ...]
    """The states of the last epoch."""
    sinks: Mapping[str, str]
    shape: Shape
    durable: bool = True
    """Whether parts of outputs are synced before the epoch is committed."""
    previous_shape: Shape | None = None
    """The shape by which the states of the last epoch are partitioned."""
    tables: Mapping[str, str] = field(default_factory=dict)
    """Addresses of the stored tables that are not in the checkpoint."""
    peeks: frozenset[Arc] = frozenset()
    """The arcs to sample."""
    previous_network: str | None = None
    """The network of the last epoch, if it was a different one."""
    code: Bundle | None = None
    """The user's code that the network uses."""

    @property
    def rows(self) -> int:
        """Number of rows that the epoch reads."""
        return sum(s.stop - s.start for splits in self.plan.splits.values() for s in splits)


@dataclass(frozen=True)
class PieceTask:
    """What one piece needs of an epoch: the splits that it reads, and references to its states.

    Everything else is the same for all pieces, and is sent to them without these parts.
    """

    target: int
    """The number of the piece."""
    splits: Mapping[str, tuple[Split, ...]]
    state: tuple[StateRef, ...]

    def added_to(self, shared: EpochTask) -> EpochTask:
        """The epoch as this piece sees it."""
        return replace(shared, state=self.state, plan=replace(shared.plan, splits=self.splits))


def shared_part(task: EpochTask) -> EpochTask:
    """An epoch without what belongs to single pieces."""
    return replace(task, state=(), plan=replace(task.plan, splits={}))


@dataclass(frozen=True)
class Arrival:
    """A train that reaches a piece by one of its edges, with the frontier of its sender."""

    edge: int
    sender: int
    train: pl.DataFrame
    frontier: Frontier


@dataclass(frozen=True)
class Done:
    """The report of a piece: its new state files, its counters, and its output rows."""

    piece: int
    state: tuple[StateRef, ...] = ()
    stats: Mapping[str, Any] = field(default_factory=dict)
    rows: Mapping[str, int] = field(default_factory=dict)
    heads: Mapping[str, int | float] = field(default_factory=dict)
    """The greatest order value of each input that was read, as a number."""
    worth: Mapping[str, float] = field(default_factory=dict)
    """Sum of the utilities of the output tuples."""
    loads: Mapping[str, Load] = field(default_factory=dict)
    """The load of each of its buckets."""
    peeked: Peeked = field(default_factory=dict)
    """Samples of the arcs in ``peeks``."""
    dead: Mapping[str, Any] = field(default_factory=dict)
    """Reasons of its dead letters, as plain data."""
    letters: str = ""
    """The file with its dead letters, if there are any."""


@dataclass(frozen=True)
class Outcome:
    """The reports of all pieces, merged; ``stats`` has the counters of each piece of a box."""

    state: tuple[StateRef, ...]
    stats: Mapping[str, tuple[Counts, ...]]
    rows: Mapping[str, int]
    heads: Mapping[str, int | float]
    worth: Mapping[str, float]
    loads: Mapping[str, Load]
    peeked: Peeked
    dead: DeadReasons
    letters: tuple[str, ...]
