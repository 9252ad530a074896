"""Runs: a network on Spark, epoch by epoch, resumed from its checkpoint."""

from __future__ import annotations

import threading
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import ExitStack
from time import perf_counter
from typing import Any

import polars as pl
import pyarrow as pa

from boxcars.connectors.conform import as_frame
from boxcars.connectors.systems.mailbox import Mailbox, Message
from boxcars.connectors.write.subscription import RetainedOutput
from boxcars.control.decisions import Decision, Requests
from boxcars.engine.driver import Driver
from boxcars.engine.endpoints import (
    check_names,
)
from boxcars.engine.flow.stepper import arcs_read
from boxcars.engine.layout.pieces import make_layout
from boxcars.engine.layout.placement import place
from boxcars.engine.measure.counters import Totals
from boxcars.engine.preview import to_arrow
from boxcars.engine.state.epoch_records import EpochPlan
from boxcars.engine.stats.bucket_sizes import SizeByBucket, bucket_sizes
from boxcars.engine.stats.run_stats import History, RunStats
from boxcars.engine.status import Status, status_of
from boxcars.events.event import Event
from boxcars.events.event_log import EventLog
from boxcars.model.arc import Arc
from boxcars.model.problem import BoxcarsError, Wrong, nearest

_FIRST_PAUSE, _LONGEST_PAUSE = 0.05, 0.2
"""Seconds between polls for new input: the first pause, and the longest."""
_SIGNAL_CHECK = 0.5
"""Seconds between two checks for a signal while waiting."""


class Run:
    """A running network. It runs in the background; :meth:`wait` for it, or :meth:`stop` it."""

    def __init__(
        self,
        driver: Driver,
        closing: ExitStack[bool | None],
        tell: Callable[[Status], None] | None,
        requests: Requests,
        pages: str | None = None,
    ) -> None:
        self._driver, self._closing, self._tell = driver, closing, tell
        self._requests, self._pages = requests, pages
        self._started = perf_counter()
        self._stop, self._ended = threading.Event(), threading.Event()
        self._waiting = False
        self._error: BaseException | None = None
        self._tables: Mapping[str, pl.DataFrame] | None = None
        self._manifest = driver.checkpoint.last()
        totals = Totals() if self._manifest is None else self._manifest.stats
        self._history = History(totals, self._started)
        self._read = arcs_read(driver.layout.checked.network)
        self._before: Status | None = None
        self._before = None if self._manifest is None else self.status()
        self._thread = threading.Thread(target=self._run, name="boxcars-run", daemon=True)
        self._thread.start()

    def wait(self, timeout: float | None = None) -> Status:
        """Wait until all input is processed; an error of the run is raised here.

        Ctrl-C may be delivered to another thread, which does not wake the waiting one. So the wait
        returns to Python every half second.
        """
        ended = self._ended.wait(_SIGNAL_CHECK if timeout is None else timeout)
        while timeout is None and not ended:
            ended = self._ended.wait(_SIGNAL_CHECK)
        if ended and self._error is not None:
            raise self._error
        return self.status()

    def stop(self) -> Status:
        """Finish the current epoch and stop; a run with the same checkpoint resumes from there.

        A ``tell`` callback may call it too; then it does not wait.
        """
        self._stop.set()
        for writer in (*self._driver.writers.values(), self._driver.dead.writer):
            writer.give_up()
        return self.wait(0 if threading.current_thread() is self._thread else None)

    @property
    def endless(self) -> bool:
        """Whether it has an unbounded input, and so runs until it is stopped."""
        return bool(self._driver.planner.endless)

    def status(self) -> Status:
        """The current status of the run."""
        manifest = self._manifest
        ended = "finished" if manifest is not None and manifest.final else "stopped"
        state = ended
        if not self._ended.is_set():
            state = "waiting" if self._waiting else "running"
        elif self._error is not None:
            state = "failed"
        return status_of(
            state,
            manifest,
            self._read,
            perf_counter() - self._started,
            pages=self._pages,
            compiling=self._driver.compiling() if state == "running" else None,
            letters=self._driver.dead.where,
            before=self._before,
        )

    def stats(self, held: bool = False) -> RunStats:
        """Statistics of each box, piece and bucket: counts, rates and latency.

        ``held`` adds the queue and the state size of each bucket, which reads all state files.
        """
        sizes = self._bucket_sizes() if held else None
        waiting = self._waiting and not self._ended.is_set()
        return self._history.stats(self._driver.layout, perf_counter() if waiting else None, sizes)

    def _bucket_sizes(self) -> Mapping[str, SizeByBucket]:
        """Sizes of all buckets. Retried if an epoch commits meanwhile and removes the files."""
        while (manifest := self._manifest) is not None:
            if not self._driver.folder.exists():
                raise Wrong(
                    "the run has ended and its temporary checkpoint was removed, so bucket sizes "
                    "are not available: give the run a checkpoint, or ask before it ends."
                )
            try:
                storage = self._driver.checkpoint.storage
                layout = make_layout(self._driver.text, manifest.shape)
                return bucket_sizes(storage, layout, manifest.state)
            except BoxcarsError:
                if manifest is self._manifest:
                    raise
        return {}

    def peek(self, arc: str, seconds: float = 5.0) -> pa.Table:
        """The last tuples on an arc, such as ``"cheap"`` or ``"cheap.else"``: at most 20.

        Arcs are sampled on demand, so it waits for the next epoch; after ``seconds`` without one
        the table is empty.
        """
        wanted, schemas = Arc.of(arc), self._driver.layout.checked.schemas
        if wanted not in schemas:
            raise Wrong(f"there is no arc '{arc}'.{nearest(arc, map(str, schemas))}")
        found = self._driver.peeks.look(wanted, 0.0 if self._ended.is_set() else seconds)
        return to_arrow(schemas[wanted].empty() if found is None else found)

    @property
    def feeds(self) -> Mapping[str, Mailbox]:
        """The inputs whose source is ``enqueue://``, by name."""
        return self._driver.planner.mailboxes

    @property
    def taps(self) -> Mapping[str, RetainedOutput]:
        """The outputs whose sink is ``dequeue://``, by name."""
        writers = self._driver.writers
        return {
            name: writer for name, writer in writers.items() if isinstance(writer, RetainedOutput)
        }

    def enqueue(self, name: str, data: Any) -> None:
        """Put tuples into an input whose source is ``enqueue://``; block while it is full."""
        check_names("enqueue:// input", [name], self.feeds)
        table = as_frame(data).to_arrow(compat_level=pl.CompatLevel.oldest())
        self.feeds[name].put(Message(table))

    def dequeue(
        self, name: str, after: int = 0, seconds: float | None = None
    ) -> Iterator[tuple[int, pa.Table]]:
        """Iterate over the epochs of an output whose sink is ``dequeue://``: (number, tuples).

        It starts after the epoch ``after``, and ends with the run or after ``seconds`` without
        rows. If the run has failed, its error is raised here, too.
        """
        check_names("dequeue:// output", [name], self.taps)
        return self._dequeue(name, after, seconds)

    def _dequeue(
        self, name: str, after: int, seconds: float | None
    ) -> Generator[tuple[int, pa.Table], None, str]:
        """Epochs of an output; the value of the StopIteration says why there are no more."""
        yield from self.taps[name].rows(after, seconds)
        if not self.taps[name].closed:
            return f"output '{name}' had no rows for {seconds} seconds."
        self._ended.wait()
        if self._error is not None:
            raise self._error
        return f"output '{name}' has no more rows: the run is {self.status().state}."

    def resize(self, subquery: str, instances: int) -> None:
        """Run a subquery on another number of instances from the next epoch on.

        The output is the same, byte for byte. ``boxcars plan`` shows the names of subqueries.
        """
        if instances < 1:
            raise Wrong(f"expected at least one instance, got {instances}.")
        decision = Decision(subquery, instances, why="run.resize")
        place(self._driver.text, self._driver.shape, decision)  # an impossible one is refused here
        self._requests.put(decision)

    @property
    def instances(self) -> Mapping[str, int]:
        """The number of instances of each subquery."""
        return self._driver.instances

    def events(self, after: int = 0, limit: int | None = None) -> Sequence[Event]:
        """What happened in the run after that event, and in those that it resumed, in order."""
        return self.event_log.read(after, limit).events

    @property
    def event_log(self) -> EventLog:
        """The file of the events."""
        return EventLog(self._driver.folder)

    def tables(self) -> Mapping[str, pa.Table]:
        """Contents of the tables in the checkpoint: now, or when the run ended."""
        frames = self._tables if self._tables is not None else self._driver.stored.contents()
        return {name: to_arrow(frame) for name, frame in frames.items()}

    def _run(self) -> None:
        try:
            with self._closing:
                self._run_epochs()
                self._tables = self._driver.stored.contents()
                if self._manifest is not None and self._manifest.final:
                    self._driver.finish(self._manifest)
        except BaseException as error:
            self._error = error
        finally:
            self._ended.set()

    def _run_epochs(self) -> None:
        """Run epoch after epoch; while there is no new input, sleep."""
        if self._manifest is not None:
            self._driver.deliver(self._manifest)  # the last process may have died before that
        pause = _FIRST_PAUSE
        while not self._stop.is_set() and not (self._manifest and self._manifest.final):
            begun = perf_counter()
            plan = self._driver.plan(self._manifest)
            self._waiting = plan is None
            if plan is not None:
                self._run_epoch(plan, begun)
                pause = _FIRST_PAUSE
            if self._driver.planner.over:
                return
            if plan is None:
                self._driver.events.tell_losses()
                self._stop.wait(pause)
                pause = min(pause * 1.5, _LONGEST_PAUSE)

    def _run_epoch(self, plan: EpochPlan, begun: float) -> None:
        before = self._manifest
        after, done = self._driver.run(plan, before)
        self._manifest = after
        relaid = before is not None and before.layout != after.layout
        self._history.note(begun, perf_counter(), after.stats, done.rows, done.loads, relaid)
        self._driver.events.took(perf_counter() - begun)
        if self._tell is not None:
            self._tell(self.status())
