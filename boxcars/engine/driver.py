"""Epochs on the driver: from the plan of one, over its job on Spark, to its manifest."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path

import polars as pl
from pyspark.sql import SparkSession

from boxcars.connectors.read.sources import Aborted
from boxcars.connectors.write.base import Outlet
from boxcars.engine.epoch.dead_letters import WHO, DeadLetters
from boxcars.engine.epoch.messages import EpochTask, Outcome
from boxcars.engine.epoch.planner import Planner, naming
from boxcars.engine.exec.compile_progress import compiled_so_far
from boxcars.engine.exec.spark_job import run_job
from boxcars.engine.layout.pieces import Layout, Shape, make_layout
from boxcars.engine.measure.arc_samples import Peeks
from boxcars.engine.measure.counters import Totals
from boxcars.engine.measure.dead_letter_reasons import add_reasons
from boxcars.engine.state.checkpoint import Checkpoint, EpochPlan, Manifest, fingerprint
from boxcars.kernels.compile_cache import kernels_expected
from boxcars.kernels.contract import Stateful
from boxcars.model.entities import Table
from boxcars.own_code.bundle import Bundle
from boxcars.tables.setup import contents


@dataclass(frozen=True)
class Stored:
    """The stored tables of a run."""

    tables: Mapping[str, Table]
    addresses: Mapping[str, str]
    folder: Path

    def contents(self) -> Mapping[str, pl.DataFrame]:
        """The records of those that are in the checkpoint."""
        return contents(self.tables, self.addresses, self.folder)


@dataclass
class Epochs:
    """What makes epochs: it plans the next one, runs it on Spark, delivers and commits it."""

    text: str
    text_before: str
    """The network of the last epoch of the checkpoint, where that was another."""
    checkpoint: Checkpoint
    planner: Planner
    outlets: Mapping[str, Outlet]
    dead: DeadLetters
    spark: SparkSession
    shape: Shape
    stored: Stored
    code: Bundle | None = None
    """The user's own code, for the workers."""
    peeks: Peeks = field(default_factory=Peeks)
    _compiled: int = 0
    """How many kernels had been compiled by the end of the last epoch."""

    @property
    def layout(self) -> Layout:
        """How the run is laid out."""
        return make_layout(self.text, self.shape)

    @cached_property
    def mark(self) -> str:
        """What tells the network from another."""
        return fingerprint(self.text)

    def _heads(self, last: Manifest | None) -> dict[str, int | float]:
        known = {} if last is None else last.heads
        return {name: known[name] for name in self.layout.checked.network.inputs if name in known}

    def last(self) -> Manifest | None:
        """From where the run goes on; pieces that are laid out anew begin to count anew."""
        last = self.checkpoint.last()
        if last is None or (last.shape == self.shape and self.text == self.text_before):
            return last
        return replace(last, stats=last.stats.without_pieces())

    def plan(self, last: Manifest | None) -> EpochPlan | None:
        """What the next epoch reads: what it was to read when it broke off, or what is new."""
        plan = self.checkpoint.plan_of(1 if last is None else last.epoch + 1)
        if plan is None:
            plan = self.planner.next(last)
            if plan is not None:
                self.checkpoint.begin(plan)
        return plan

    def run(self, plan: EpochPlan, last: Manifest | None) -> tuple[Manifest, Outcome]:
        """One epoch: from its plan to its manifest."""
        before = () if last is None else last.state
        sinks = {name: str(outlet.folder) for name, outlet in self.outlets.items()}
        shape_before = self.shape if last is None else last.shape
        folder = self.checkpoint.folder
        task = EpochTask(
            self.text,
            str(folder),
            plan,
            before,
            sinks,
            self.shape,
            shape_before,
            self.stored.addresses,
            self.peeks.wanted(),
            None if last is None or last.network == self.mark else self.text_before,
            self.code,
        )
        done = run_job(self.spark, task)
        self._compiled = compiled_so_far(folder)
        self.peeks.note(done.peeked)
        if self.planner.aborting is not None:
            name, self.planner.aborting = self.planner.aborting, None
            raise Aborted(f"input '{name}': its script says ABORT in epoch {plan.epoch}.")
        for name, outlet in self.outlets.items():
            with naming(name, "output"):
                done = self._without_refused(name, outlet, plan.epoch, done)
                outlet.deliver(plan.epoch)
        with naming(WHO, "sink"):
            self.dead.deliver(plan.epoch, done.letters, self.layout.checked.network.inputs)
        manifest = Manifest(
            plan.epoch,
            self.mark,
            plan.places,
            all(plan.final.values()),
            self.shape,
            done.state,
            {**self._heads(last), **done.heads},
            (Totals() if last is None else last.stats).then(
                done.stats, done.rows, done.worth, done.dead
            ),
        )
        self.checkpoint.commit(manifest)
        self.dead.forget(plan.epoch)
        if last is not None:
            self.planner.forget(last)
        return manifest, done

    def _without_refused(self, name: str, outlet: Outlet, epoch: int, done: Outcome) -> Outcome:
        """What an epoch did, with the rows that a sink can't hold among its dead letters."""
        file, why = self.dead.put_refused(epoch, name, outlet.refused(epoch))
        if not file:
            return done
        letters = (*done.letters, file)
        return replace(done, letters=letters, dead=add_reasons([done.dead, why]))

    def compiling(self) -> tuple[int, int] | None:
        """How many kernels the workers have compiled, of about how many, if they are at it."""
        done = compiled_so_far(self.checkpoint.folder)
        return (done, max(done, self._kernels)) if done > self._compiled else None

    @cached_property
    def _kernels(self) -> int:
        boxes = [node.box for node in self.layout.checked.network.boxes.values()]
        return kernels_expected(box.type for box in boxes if isinstance(box, Stateful))

    def finish(self, last: Manifest) -> None:
        """All input is processed: files that were waiting for that are written."""
        for name, outlet in self.outlets.items():
            with naming(name, "output"):
                outlet.finish()
        with naming(WHO, "sink"):
            self.dead.outlet.finish()
        self.planner.forget(last)
