"""Runs: a network on Spark, epoch by epoch, from where its checkpoint stands."""

from __future__ import annotations

import threading
from collections.abc import Callable, Generator, Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import Any

import polars as pl
import pyarrow as pa
from pyspark.sql import SparkSession

from boxcars.connectors.conform import as_frame
from boxcars.connectors.systems.mailbox import Mailbox, Message
from boxcars.connectors.write.subscription import Tap
from boxcars.engine.driver import Epochs, Stored
from boxcars.engine.endpoints import (
    check_ends,
    check_folders,
    check_names,
    open_dead,
    open_sinks,
    open_sources,
)
from boxcars.engine.epoch.dead_letters import WHO
from boxcars.engine.epoch.planner import Planner
from boxcars.engine.exec.compile_progress import forget_compiling
from boxcars.engine.exec.session import choose_python, make_session
from boxcars.engine.flow.stepper import arcs_read
from boxcars.engine.layout.network_text import write_text
from boxcars.engine.layout.pieces import BUCKETS, Shape, make_layout
from boxcars.engine.measure.counters import Totals
from boxcars.engine.measure.dead_letter_reasons import Dead
from boxcars.engine.preview import to_arrow
from boxcars.engine.state.checkpoint import Checkpoint, EpochPlan
from boxcars.engine.state.network_upgrade import network_before
from boxcars.engine.stats.bucket_sizes import ByBucket, held_by_bucket
from boxcars.engine.stats.run_stats import History, RunStats
from boxcars.model.arc import Arc
from boxcars.model.network import Network
from boxcars.model.problem import BoxcarsError, Wrong, nearest
from boxcars.own_code.bundle import keep_bundle
from boxcars.own_code.used import used_in
from boxcars.plan import Strategy
from boxcars.tables.setup import prepare_tables

INTERRUPTED = 130
"""The exit code of a process whose run was aborted by Ctrl-C, as shells have it."""
EPOCH_ROWS = 100_000
_SHORTEST, _LONGEST = 0.05, 0.2
"""Seconds to sleep when there is nothing new: at first, and in the end."""
_LOOK = 0.5
"""Seconds after which a wait looks whether a signal has come."""


@dataclass(frozen=True)
class Status:
    """How a run stands: its epochs, what was read and what came out since its checkpoint began.

    ``state`` is running, waiting (for something new), finished, stopped or failed. All counts are
    since the checkpoint began; ``before`` has what they were when this process went on from there,
    and ``seconds`` are those of this process.
    """

    state: str
    epoch: int
    read: Mapping[str, int]
    out: Mapping[str, int]
    seconds: float
    pages: str | None = None
    """Where Spark's own pages are, if it shows them."""
    lost: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    """Of inputs and boxes that lost tuples: how many were ``late``, and ``dead`` letters. What
    leaves by an arc that somebody reads is not lost."""
    compiling: tuple[int, int] | None = None
    """While kernels are compiled, in a new installation: how many so far, of about how many."""
    dead: Dead = field(default_factory=dict)
    """Why there are dead letters: by input or box and reason, how many and an example."""
    letters: str = ""
    """Where they are: a folder or file, or the address of their sink."""
    before: Status | None = None
    """The status from which this process went on, if it did not begin."""


class Run:
    """A network under way. It runs in the background; :meth:`wait` for it, or :meth:`stop` it."""

    def __init__(
        self,
        epochs: Epochs,
        closing: ExitStack[bool | None],
        tell: Callable[[Status], None] | None,
    ) -> None:
        self._epochs, self._closing, self._tell = epochs, closing, tell
        self._started = perf_counter()
        self._stop, self._ended = threading.Event(), threading.Event()
        self._waiting = False
        self._error: BaseException | None = None
        self._tables: Mapping[str, pl.DataFrame] | None = None
        self._manifest = epochs.last()
        self._pages = epochs.spark.sparkContext.uiWebUrl
        totals = Totals() if self._manifest is None else self._manifest.stats
        self._history = History(totals, self._started)
        self._read = arcs_read(epochs.layout.checked.network)
        self._before: Status | None = None
        self._before = None if self._manifest is None else self.status()
        self._thread = threading.Thread(target=self._run, name="boxcars-run", daemon=True)
        self._thread.start()

    def wait(self, timeout: float | None = None) -> Status:
        """Wait until all input is processed; what went wrong is raised here.

        A Ctrl-C may reach another thread than the one that waits, which then does not wake up by
        itself: so it looks now and then.
        """
        ended = self._ended.wait(_LOOK if timeout is None else timeout)
        while timeout is None and not ended:
            ended = self._ended.wait(_LOOK)
        if ended and self._error is not None:
            raise self._error
        return self.status()

    def stop(self) -> Status:
        """Finish the epoch that is under way, and stop; a run with this checkpoint goes on.

        Whoever hears of an epoch by ``tell`` may call it too; then it does not wait.
        """
        self._stop.set()
        for outlet in (*self._epochs.outlets.values(), self._epochs.dead.outlet):
            outlet.give_up()
        return self.wait(0 if threading.current_thread() is self._thread else None)

    @property
    def endless(self) -> bool:
        """Whether it reads something that does not end, and so only ends if it is stopped."""
        return bool(self._epochs.planner.endless)

    def status(self) -> Status:
        """How the run stands."""
        manifest = self._manifest
        ended = "finished" if manifest is not None and manifest.final else "stopped"
        state = ended
        if not self._ended.is_set():
            state = "waiting" if self._waiting else "running"
        elif self._error is not None:
            state = "failed"
        epoch, places = (0, {}) if manifest is None else (manifest.epoch, manifest.places)
        read = {name: place.position for name, place in places.items()}
        totals = Totals() if manifest is None else manifest.stats
        return Status(
            state,
            epoch,
            read,
            dict(totals.outputs),
            seconds=perf_counter() - self._started,
            pages=self._pages,
            lost=totals.lost(self._read),
            compiling=self._epochs.compiling() if state == "running" else None,
            dead=totals.dead,
            letters=self._epochs.dead.where,
            before=self._before,
        )

    def stats(self, held: bool = False) -> RunStats:
        """What each box, piece and bucket did, how fast it goes, and how long results take.

        ``held`` also counts what each bucket holds, which takes a look at all states.
        """
        holds = self._held() if held else None
        waiting = self._waiting and not self._ended.is_set()
        return self._history.stats(self._epochs.layout, perf_counter() if waiting else None, holds)

    def _held(self) -> Mapping[str, ByBucket]:
        """What the buckets hold; the run may go on, and remove the files that are looked at."""
        while (manifest := self._manifest) is not None:
            if not self._epochs.checkpoint.folder.exists():
                raise Wrong(
                    "this run has ended, and what its buckets held is gone with it: run it with a "
                    "checkpoint, or ask before it ends."
                )
            try:
                return held_by_bucket(self._epochs.checkpoint, self._epochs.layout, manifest.state)
            except BoxcarsError:
                if manifest is self._manifest:
                    raise
        return {}

    def peek(self, arc: str, seconds: float = 5.0) -> pa.Table:
        """The last tuples on an arc, such as ``"cheap"`` or ``"cheap.else"``: at most 20.

        Epochs tell of it only once somebody has asked, so it waits for the next, but not longer
        than so many seconds; then there are no rows.
        """
        wanted, schemas = Arc.of(arc), self._epochs.layout.checked.schemas
        if wanted not in schemas:
            raise Wrong(f"there is no arc '{arc}'.{nearest(arc, map(str, schemas))}")
        found = self._epochs.peeks.look(wanted, 0.0 if self._ended.is_set() else seconds)
        return to_arrow(schemas[wanted].empty() if found is None else found)

    @property
    def feeds(self) -> Mapping[str, Mailbox]:
        """The inputs that take what is enqueued."""
        return self._epochs.planner.mailboxes

    @property
    def taps(self) -> Mapping[str, Tap]:
        """The outputs that can be dequeued."""
        outlets = self._epochs.outlets
        return {name: outlet for name, outlet in outlets.items() if isinstance(outlet, Tap)}

    def enqueue(self, name: str, data: Any) -> None:
        """Put tuples into an input whose source is ``enqueue://``; waits until there is room."""
        check_names("enqueue:// input", [name], self.feeds)
        table = as_frame(data).to_arrow(compat_level=pl.CompatLevel.oldest())
        self.feeds[name].put(Message(table))

    def dequeue(
        self, name: str, after: int = 0, seconds: float | None = None
    ) -> Iterator[tuple[int, pa.Table]]:
        """Take the tuples of an output whose sink is ``dequeue://``: epochs with their numbers.

        It begins after the epoch ``after``, and ends with the run or after ``seconds``. If the run
        has failed, that is raised here, too.
        """
        check_names("dequeue:// output", [name], self.taps)
        return self._taken(name, after, seconds)

    def _taken(
        self, name: str, after: int, seconds: float | None
    ) -> Generator[tuple[int, pa.Table], None, str]:
        """Epochs of an output; why there are no more is what a StopIteration says."""
        yield from self.taps[name].rows(after, seconds)
        if not self.taps[name].closed:
            return f"output '{name}' had no rows for {seconds} seconds."
        self._ended.wait()
        if self._error is not None:
            raise self._error
        return f"output '{name}' has no more rows: the run is {self.status().state}."

    def tables(self) -> Mapping[str, pa.Table]:
        """What the tables in the checkpoint hold: now, or when the run ended."""
        held = self._tables if self._tables is not None else self._epochs.stored.contents()
        return {name: to_arrow(frame) for name, frame in held.items()}

    def _run(self) -> None:
        try:
            with self._closing:
                self._run_epochs()
                self._tables = self._epochs.stored.contents()
                if self._manifest is not None and self._manifest.final:
                    self._epochs.finish(self._manifest)
        except BaseException as error:
            self._error = error
        finally:
            self._ended.set()

    def _run_epochs(self) -> None:
        """One epoch behind the other; when there is nothing new, a little sleep."""
        pause = _SHORTEST
        while not self._stop.is_set() and not (self._manifest and self._manifest.final):
            begun = perf_counter()
            plan = self._epochs.plan(self._manifest)
            self._waiting = plan is None
            if plan is not None:
                self._run_epoch(plan, begun)
                pause = _SHORTEST
            if self._epochs.planner.over:
                return
            if plan is None:
                self._stop.wait(pause)
                pause = min(pause * 1.5, _LONGEST)

    def _run_epoch(self, plan: EpochPlan, begun: float) -> None:
        self._manifest, done = self._epochs.run(plan, self._manifest)
        self._history.note(begun, perf_counter(), self._manifest.stats, done.rows, done.loads)
        if self._tell is not None:
            self._tell(self.status())


def run(
    net: Network,
    sources: Mapping[str, Any],
    sinks: Mapping[str, Any] | None = None,
    *,
    dead: Any = None,
    tables: Mapping[str, Any] | None = None,
    checkpoint: str | Path | None = None,
    epoch_rows: int = EPOCH_ROWS,
    instances: int | None = None,
    instances_of: Mapping[str, int] | None = None,
    buckets: int = BUCKETS,
    strategy: Strategy = "operator-set-cloud",
    grouped: bool = False,
    modify: bool = False,
    pages: bool = False,
    master: str | None = None,
    code: bool = True,
    spark: SparkSession | None = None,
    tell: Callable[[Status], None] | None = None,
) -> Run:
    """Run a network on Spark, exactly once.

    A source is a path or :func:`files`, :func:`rate`, :func:`script`, a DataFrame of Spark, static
    or streaming, or data as for :func:`preview`. A sink is a folder, in which each epoch writes a
    part, a file, ``"-"``, :func:`callback`, or a function of a DataFrame of Spark and the epoch.
    Records that became no tuples go to ``dead``, a sink like those of outputs, or else to a folder
    of the checkpoint.

    With a ``checkpoint`` folder the run can be stopped or killed and goes on from there: the output
    is the same, byte for byte. ``tables`` are given as for :func:`preview`; one without an address
    is kept in the checkpoint.

    Each subquery runs in ``instances`` places, as many as Spark has cores if not given, and some in
    other numbers with ``instances_of``; its keys are shared out in ``buckets``. All of that may
    change from one run to the next, and the output does not depend on it. ``strategy`` says which
    boxes run together; if they are ``grouped``, those of a group do in any case.

    With ``modify`` the run may go on with a network that was changed since: what is the same as
    before keeps its state. The network in the checkpoint may run code to be compared, unless
    ``code`` says that it may not. With ``pages`` a session of its own shows Spark's pages about
    jobs and executors; the status says where. ``tell`` hears of each epoch.
    """
    if epoch_rows < 1:
        raise Wrong(f"expected epochs of at least one row, got {epoch_rows}.")
    if instances is not None and instances < 1:
        raise Wrong(f"expected at least one instance, got {instances}.")
    checked = net.check().or_raise()
    check_names("input", sources, net.inputs)
    check_names("output", sinks or {}, net.outputs)
    session = cache(lambda: spark or make_session(master, pages=pages))
    if spark is not None:
        choose_python(spark.sparkContext)
    closing: ExitStack[bool | None] = ExitStack()
    with closing:
        folder = Path(checkpoint or closing.enter_context(_temporary())).resolve()
        ledger = Checkpoint(folder)
        closing.enter_context(ledger.locked())
        forget_compiling(folder)
        closing.callback(forget_compiling, folder)
        used = used_in(net)
        text = write_text(net, used)
        last = ledger.last()
        before = network_before(ledger, last, text, modify, code)
        addresses = prepare_tables(net, tables or {}, folder, last.epoch if last else 0)
        readers = {} if last is not None and last.final else open_sources(net, sources, folder)
        planner = Planner(readers, epoch_rows, net.inputs)
        closing.callback(planner.close)
        outlets = open_sinks(checked, sinks or {}, folder, session)
        letters = open_dead(dead, folder, session, outlets, kept=checkpoint is not None)
        for outlet in (*outlets.values(), letters.outlet):
            closing.callback(outlet.close)
        check_ends(planner, {**outlets, WHO: letters.outlet})
        if last is None and ledger.plan_of(1) is None:
            check_folders({**outlets, WHO: letters.outlet})
        number = instances or session().sparkContext.defaultParallelism
        apart = tuple(sorted((instances_of or {}).items()))
        shape = Shape(number, buckets, strategy, grouped, apart)
        make_layout(text, shape)  # what is wrong with it is said here
        stored = Stored(net.tables, addresses, folder)
        bundle = keep_bundle(used.values(), folder / "code") if used else None
        epochs = Epochs(
            text, before, ledger, planner, outlets, letters, session(), shape, stored, bundle
        )
        return Run(epochs, closing.pop_all(), tell)


def _temporary() -> TemporaryDirectory[str]:
    return TemporaryDirectory(prefix="boxcars-", ignore_cleanup_errors=True)
