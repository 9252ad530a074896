"""Runs: a network on Spark, epoch by epoch, from where its checkpoint stands."""

from __future__ import annotations

import json
import tempfile
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from time import perf_counter
from typing import Any

from pyspark.sql import SparkSession

from boxcars.connect.conform import as_frame
from boxcars.connect.files import count_tuples, list_parts, target_of, write_table
from boxcars.connect.splits import Split
from boxcars.engine.checkpoint import Checkpoint, Manifest, Plan, check_network
from boxcars.engine.epoch import Task
from boxcars.engine.job import run_job
from boxcars.engine.runner import to_arrow
from boxcars.engine.session import make_session
from boxcars.model.entities import Input
from boxcars.model.network import Network
from boxcars.model.plain import network_to_plain
from boxcars.model.problem import Wrong, nearest

EPOCH_ROWS = 100_000


@dataclass(frozen=True)
class Status:
    """How a run stands: its epochs, what was read and what came out in this process."""

    state: str
    epoch: int
    read: Mapping[str, int]
    out: Mapping[str, int]
    seconds: float


class Run:
    """A network under way. It runs in the background; :meth:`wait` for it, or :meth:`stop` it."""

    def __init__(self, task: _Tasks, tell: Callable[[Status], None] | None) -> None:
        self._tasks, self._tell = task, tell
        self._started = perf_counter()
        self._stop = threading.Event()
        self._error: BaseException | None = None
        self._out: dict[str, int] = {}
        self._manifest = task.checkpoint.last()
        self._thread = threading.Thread(target=self._run, name="boxcars-run", daemon=True)
        self._thread.start()

    def wait(self, timeout: float | None = None) -> Status:
        """Wait until all input is processed; what went wrong is raised here."""
        self._thread.join(timeout)
        if self._error is not None:
            raise self._error
        return self.status()

    def stop(self) -> Status:
        """Finish the epoch that is under way, and stop; a run with this checkpoint goes on."""
        self._stop.set()
        return self.wait()

    def status(self) -> Status:
        """How the run stands."""
        manifest = self._manifest
        ended = "finished" if manifest is not None and manifest.final else "stopped"
        state = "running" if self._thread.is_alive() else ended
        if self._error is not None:
            state = "failed"
        epoch, read = (0, {}) if manifest is None else (manifest.epoch, manifest.read)
        return Status(state, epoch, read, dict(self._out), perf_counter() - self._started)

    def stats(self) -> Mapping[str, Any]:
        """What each box did, since the beginning: tuples in, out, late and dead."""
        return {} if self._manifest is None else self._manifest.stats

    def _run(self) -> None:
        try:
            while not self._stop.is_set() and not (self._manifest and self._manifest.final):
                self._manifest, rows = self._tasks.run_epoch(self._manifest)
                for name, number in rows.items():
                    self._out[name] = self._out.get(name, 0) + number
                if self._tell is not None:
                    self._tell(self.status())
        except BaseException as error:
            self._error = error


def run(
    net: Network,
    sources: Mapping[str, Any],
    sinks: Mapping[str, str | Path] | None = None,
    *,
    checkpoint: str | Path | None = None,
    epoch_rows: int = EPOCH_ROWS,
    master: str | None = None,
    spark: SparkSession | None = None,
    tell: Callable[[Status], None] | None = None,
) -> Run:
    """Run a network on Spark, from files to folders of files, exactly once.

    A source is a file, a folder, or data as for :func:`preview`; a sink is a folder, in which each
    epoch writes a part. With a ``checkpoint`` folder the run can be stopped or killed and goes on
    from there: the output is the same, byte for byte. ``tell`` hears of each epoch.
    """
    if epoch_rows < 1:
        raise Wrong(f"expected epochs of at least one row, got {epoch_rows}.")
    net.check().or_raise()
    for name in sources:
        if name not in net.inputs:
            raise Wrong(f"there is no input '{name}'.{nearest(name, net.inputs)}")
    if net.tables:
        raise Wrong("stored tables can't be used in a run yet; bx.preview can.")
    folder = Path(checkpoint or tempfile.mkdtemp(prefix="boxcars-"))
    ledger = Checkpoint(folder)
    text = json.dumps(network_to_plain(net))
    check_network(ledger.last(), fingerprint(text), folder)
    tasks = _Tasks(
        net,
        text,
        ledger,
        {name: _files(name, sources, folder) for name in net.inputs},
        _sinks(net, sinks or {}),
        epoch_rows,
        spark or make_session(master),
    )
    return Run(tasks, tell)


@dataclass
class _Tasks:
    """What makes epochs: it plans the next one, runs it on Spark, and commits it."""

    net: Network
    text: str
    checkpoint: Checkpoint
    files: Mapping[str, Sequence[Path]]
    sinks: Mapping[str, str]
    rows: int
    spark: SparkSession
    heights: dict[Path, int] = field(default_factory=dict)

    def run_epoch(self, last: Manifest | None) -> tuple[Manifest, Mapping[str, int]]:
        """One epoch: from its plan to its manifest."""
        epoch = 1 if last is None else last.epoch + 1
        plan = self.checkpoint.plan_of(epoch)
        if plan is None:
            plan = self._plan(epoch, {} if last is None else last.read)
            self.checkpoint.begin(plan)
        before = () if last is None else last.state
        task = Task(self.text, str(self.checkpoint.folder.resolve()), plan, before, self.sinks)
        done = run_job(self.spark, task)
        manifest = Manifest(
            epoch,
            fingerprint(self.text),
            {
                name: max((s.position + s.stop - s.start for s in splits), default=read)
                for name, splits in plan.splits.items()
                for read in (0 if last is None else last.read[name],)
            },
            all(plan.final.values()),
            done.state,
            _added({} if last is None else last.stats, done.stats),
        )
        self.checkpoint.commit(manifest)
        return manifest, done.rows

    def _plan(self, epoch: int, read: Mapping[str, int]) -> Plan:
        """The next rows of each input."""
        splits, final = {}, {}
        for name, paths in self.files.items():
            found, final[name] = self._next(name, paths, read.get(name, 0))
            splits[name] = tuple(found)
        return Plan(epoch, splits, final)

    def _next(self, name: str, paths: Sequence[Path], begin: int) -> tuple[list[Split], bool]:
        """The rows from ``begin`` on; a file without any is read once, for its dead letters."""
        entity = self.net.inputs[name]
        heights = [self._count(path, entity) for path in paths]
        total, end = sum(heights), begin + self.rows
        found: list[Split] = []
        first = 0
        for path, height in zip(paths, heights, strict=True):
            start, stop = max(begin - first, 0), min(end - first, height)
            empty = height == 0 and (begin <= first < end or first == end == total)
            if start < stop or empty:
                found.append(Split(str(path), start, max(stop, 0), first + start))
            first += height
        return found, end >= total

    def _count(self, path: Path, entity: Input) -> int:
        if path not in self.heights:
            self.heights[path] = count_tuples(path, entity)
        return self.heights[path]


def _added(old: Mapping[str, Any], new: Mapping[str, Any]) -> Mapping[str, Any]:
    return {
        name: {key: number + old.get(name, {}).get(key, 0) for key, number in counts.items()}
        for name, counts in new.items()
    }


def _files(name: str, sources: Mapping[str, Any], folder: Path) -> list[Path]:
    """The files of an input; data that is at hand becomes one, so that a run can go on with it."""
    if name not in sources:
        raise Wrong(f"input '{name}' has no source: give it data.")
    source = sources[name]
    try:
        if isinstance(source, str | Path):
            return [path.resolve() for path in list_parts(source)]
        path = folder.resolve() / "inputs" / f"{sha256(name.encode()).hexdigest()[:16]}.arrow"
        if not path.exists():
            path.parent.mkdir(parents=True, exist_ok=True)
            write_table(to_arrow(as_frame(source)), path)
        return [path]
    except Wrong as wrong:
        raise Wrong(f"input '{name}': {wrong}") from None


def _sinks(net: Network, sinks: Mapping[str, str | Path]) -> Mapping[str, str]:
    for name, sink in sinks.items():
        if name not in net.outputs:
            raise Wrong(f"there is no output '{name}'.{nearest(name, net.outputs)}")
        if Path(sink).suffix:
            raise Wrong(
                f"output '{name}': a run writes a part for each epoch, so it needs a folder, "
                f"got {sink}."
            )
        target_of(f"{sink}/")
    return {name: str(Path(sink).resolve()) for name, sink in sinks.items()}


def fingerprint(network: str) -> str:
    """What tells one network from another."""
    return sha256(network.encode()).hexdigest()
