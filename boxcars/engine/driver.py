"""The driver: takes each epoch from its plan, through its Spark job, to its manifest."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path

import polars as pl

from boxcars.connectors.read.sources import Aborted
from boxcars.connectors.write.base import SinkWriter
from boxcars.control.decisions import Controller, Decision
from boxcars.engine.epoch.dead_letters import SINK_NAME, DeadLetters
from boxcars.engine.epoch.messages import EpochTask, Outcome
from boxcars.engine.epoch.planner import Planner, error_context
from boxcars.engine.exec.compile_progress import compiled_so_far
from boxcars.engine.exec.executor import Executor
from boxcars.engine.flow.stepper import arcs_read
from boxcars.engine.layout.pieces import Layout, Shape, make_layout
from boxcars.engine.layout.placement import place
from boxcars.engine.measure.arc_samples import Peeks
from boxcars.engine.measure.controller_view import view_of
from boxcars.engine.measure.counters import Counts, Totals
from boxcars.engine.measure.dead_letter_reasons import add_reasons
from boxcars.engine.run_events import RunEvents
from boxcars.engine.state.checkpoint import Checkpoint, fingerprint
from boxcars.engine.state.epoch_records import EpochPlan, Manifest
from boxcars.kernels.compile_cache import kernels_expected
from boxcars.kernels.contract import Stateful
from boxcars.model.arc import Arc
from boxcars.model.entities import Table
from boxcars.own_code.bundle import Bundle
from boxcars.tables.setup import contents


@dataclass(frozen=True)
class StoredTables:
    """The stored tables of a run."""

    tables: Mapping[str, Table]
    addresses: Mapping[str, str]
    folder: Path

    def contents(self) -> Mapping[str, pl.DataFrame]:
        """The rows of the tables that are in the checkpoint."""
        return contents(self.tables, self.addresses, self.folder)


@dataclass
class Driver:
    """Decides on, plans, runs, commits and delivers epochs: the only owner of a run's state.

    It takes storage (in the checkpoint), executor and clock (in the planner) as arguments, so that
    the same driver runs on Spark and in a simulation.
    """

    text: str
    previous_text: str
    """The network of the last committed epoch; differs from ``text`` after a change."""
    checkpoint: Checkpoint
    planner: Planner
    writers: Mapping[str, SinkWriter]
    dead: DeadLetters
    executor: Executor
    shape: Shape
    stored: StoredTables
    folder: Path
    """The folder of the checkpoint on this machine."""
    code: Bundle | None = None
    """The user's code, shipped to the workers."""
    durable: bool = True
    controllers: Sequence[Controller] = ()
    events: RunEvents = field(default_factory=RunEvents)
    peeks: Peeks = field(default_factory=Peeks)
    _counts: Mapping[str, tuple[Counts, ...]] = field(default_factory=dict)
    """Counts of the last epoch, by box and instance."""
    _compiled: int = 0
    """Number of kernels compiled by the end of the last epoch."""

    @property
    def layout(self) -> Layout:
        """The layout of the next epoch."""
        return make_layout(self.text, self.shape)

    @cached_property
    def network_fingerprint(self) -> str:
        """The fingerprint of the network."""
        return fingerprint(self.text)

    @cached_property
    def _arcs_read(self) -> frozenset[Arc]:
        return frozenset(arcs_read(self.layout.checked.network))

    def plan(self, last: Manifest | None) -> EpochPlan | None:
        """The plan of the next epoch: that of an uncommitted epoch, or else a new one."""
        plan = self.checkpoint.pending()
        if plan is not None:
            self.events.retried(plan)
            return plan
        plan = self.planner.next(last)
        if plan is not None:
            before = self.instances
            decisions = self._decide(plan.epoch)
            plan = replace(plan, shape=self.shape, decisions=decisions)
            self.checkpoint.begin(plan)
            self.events.planned(plan, before)
        return plan

    @property
    def instances(self) -> dict[str, int]:
        """The number of instances of each subquery."""
        return {s.name: s.instances for s in self.layout.plan.subqueries}

    def _decide(self, epoch: int) -> tuple[Decision, ...]:
        """Ask the controllers, and change the layout as they say."""
        if not self.controllers:
            return ()
        view, found = view_of(epoch, self.layout.plan, self._counts), []
        for controller in self.controllers:
            with error_context(type(controller).__name__, "controller"):
                for decision in controller.observe(view):
                    self.shape = place(self.text, self.shape, decision)
                    found.append(decision)
        return tuple(found)

    def run(self, plan: EpochPlan, last: Manifest | None) -> tuple[Manifest, Outcome]:
        """Run one epoch, from its plan to the delivery of its output."""
        done = self.executor.run(self._task(plan, last))
        self._compiled = compiled_so_far(self.folder)
        self._counts = done.stats
        self.peeks.note(done.peeked)
        if self.planner.aborting is not None:
            name, self.planner.aborting = self.planner.aborting, None
            raise Aborted(f"input '{name}': its script requested ABORT in epoch {plan.epoch}.")
        for name, writer in self.writers.items():
            with error_context(name, "output"):
                done = self._stage_refused(name, writer, plan.epoch, done)
        manifest = self._manifest(plan, last, done)
        self.checkpoint.commit(manifest)
        lost = Totals().then(done.stats, done.rows, done.worth, done.dead).lost(self._arcs_read)
        self.events.committed(manifest, lost, done.dead)
        self.deliver(manifest)
        if last is not None:
            self.planner.forget(last)
        return manifest, done

    def _task(self, plan: EpochPlan, last: Manifest | None) -> EpochTask:
        """The epoch as executors get it."""
        changed = last is not None and last.network != self.network_fingerprint
        shape = plan.shape or self.shape
        return EpochTask(
            network=self.text,
            storage=self.checkpoint.storage,
            folder=str(self.folder),
            term=self.checkpoint.term,
            plan=plan,
            state=() if last is None else last.state,
            sinks={name: str(writer.folder) for name, writer in self.writers.items()},
            shape=shape,
            durable=self.durable,
            previous_shape=shape if last is None else last.shape,
            tables=self.stored.addresses,
            peeks=self.peeks.wanted(),
            previous_network=self.previous_text if changed else None,
            code=self.code,
        )

    def _manifest(self, plan: EpochPlan, last: Manifest | None, done: Outcome) -> Manifest:
        """The record of an epoch; counters of pieces start over if the layout changed."""
        shape = plan.shape or self.shape
        totals = Totals() if last is None else last.stats
        if last is not None and last.layout != (self.network_fingerprint, shape):
            totals = totals.without_pieces()
        known = {} if last is None else last.heads
        inputs = self.layout.checked.network.inputs
        return Manifest(
            plan.epoch,
            self.network_fingerprint,
            plan.places,
            all(plan.final.values()),
            shape,
            done.state,
            {**{name: known[name] for name in inputs if name in known}, **done.heads},
            totals.then(done.stats, done.rows, done.worth, done.dead),
            done.letters,
        )

    def deliver(self, manifest: Manifest) -> None:
        """Deliver a committed epoch; called again after a restart, when it may have been done."""
        for name, writer in self.writers.items():
            with error_context(name, "output"):
                writer.deliver(manifest.epoch)
        with error_context(SINK_NAME, "sink"):
            inputs = self.layout.checked.network.inputs
            self.dead.deliver(manifest.epoch, manifest.letters, inputs)
        self.dead.forget(manifest.epoch)

    def _stage_refused(self, name: str, writer: SinkWriter, epoch: int, done: Outcome) -> Outcome:
        """Move the rows that a sink can't store to the dead letters of the epoch."""
        file, why = self.dead.put_refused(epoch, name, writer.refused(epoch))
        if not file:
            return done
        letters = (*done.letters, file)
        return replace(done, letters=letters, dead=add_reasons([done.dead, why]))

    def compiling(self) -> tuple[int, int] | None:
        """Compiled kernels and their expected number, while workers compile; else None."""
        done = compiled_so_far(self.folder)
        return (done, max(done, self._kernels)) if done > self._compiled else None

    @cached_property
    def _kernels(self) -> int:
        boxes = [node.box for node in self.layout.checked.network.boxes.values()]
        return kernels_expected(box.type for box in boxes if isinstance(box, Stateful))

    def finish(self, last: Manifest) -> None:
        """Complete the sinks after the last epoch: single files are written now."""
        for name, writer in self.writers.items():
            with error_context(name, "output"):
                writer.finish()
        with error_context(SINK_NAME, "sink"):
            self.dead.writer.finish()
        self.planner.forget(last)
