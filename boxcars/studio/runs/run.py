"""One run: its process, its status, and its stored record."""

from __future__ import annotations

import secrets
import shlex
import shutil
import threading
from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path
from time import monotonic, sleep, time
from typing import Any

from pydantic import ValidationError

from boxcars.connectors.files import replacing, writing
from boxcars.engine.exec.compile_progress import compiling_message
from boxcars.engine.exit_code import INTERRUPTED
from boxcars.events.event_log import EventLog, Page
from boxcars.lang.files import dumps
from boxcars.model.deserialize import read_network
from boxcars.model.network import Network
from boxcars.model.problem import BoxcarsError, nearest
from boxcars.service.client import Client
from boxcars.service.security import TOKEN
from boxcars.studio.edit.checking import use_arcs
from boxcars.studio.edit.json_rows import read_data
from boxcars.studio.edit.workspace import Workspace
from boxcars.studio.runs.history import History, measured
from boxcars.studio.runs.launch import Order
from boxcars.studio.runs.processes import Process, Usage
from boxcars.studio.runs.pulse import Pulse
from boxcars.studio.runs.records import Record
from boxcars.studio.runs.results import FinalCounts, Tail, final_counts, heads_of, with_last_rates
from boxcars.studio.runs.table_files import table_files
from boxcars.studio.wire import run_messages as wire
from boxcars.studio.wire.errors import Missing, Unable
from boxcars.studio.wire.messages import Row

_TICK = 0.5
"""Seconds between two status polls."""
_POLL = 0.05
"""Seconds between two checks whether a starting run accepts connections."""
_CLOSING = 10.0
"""Seconds for a run to stop when the studio ends."""
_PEEK = 2.0
"""Seconds to wait for tuples on an arc."""
_LINES = 2000
"""The number of log lines returned."""
_EVENTS = 1000
"""The number of events returned."""
_ENDED = "the run has ended."
_STATS = "stats.json"
"""The file with the final statistics; it does not exist while a run is live."""


class ManagedRun:
    """A current or past run of the studio. ``version`` grows with every change."""

    def __init__(
        self, record: Record, folder: Path, workspace: Workspace, on_end: Callable[[str], None]
    ) -> None:
        self.record, self.folder = record, folder
        self.network: Network = read_network(record.order.network).network
        self.history, self.version = History(folder / "history.jsonl"), 0
        self._workspace, self._on_end = workspace, on_end
        self.token = secrets.token_urlsafe(16)
        self.deleted = False
        """Whether it was deleted, or the studio ends."""
        self.sent: dict[str, int | float] = {}
        """The greatest order value that injectors have sent to each input."""
        self._spark_ui: str | None = None
        self._process: Process | None = None
        self._watcher: threading.Thread | None = None
        self._stopping = self._changing = False
        self._stats: wire.Stats | None = None
        self._tails: dict[str, Tail] = {}
        self._lock = threading.RLock()

    @property
    def checkpoint(self) -> Path:
        """The checkpoint folder, from which the run resumes."""
        return self.folder / "checkpoint"

    def begin(self, modify: bool = False, port: int = 0) -> None:
        """Start the process and its watcher thread."""
        record, order = self.record, self.record.order
        here = self.folder.relative_to(self._workspace.folder)
        with writing(self.folder), replacing(self.folder / "network.yaml") as part:
            part.write_text(dumps(self.network), encoding="utf-8")
            (self.folder / _STATS).unlink(missing_ok=True)
        arguments = ["run", f"{here}/network.yaml"]
        arguments += order.options(table_files(order.tables, self.network, self.folder, here))
        arguments += [f"--checkpoint={here}/checkpoint", f"--port={port}", "--spark-pages"]
        arguments += ["--modify"] if modify else []
        record.command = shlex.join(["boxcars", *arguments])
        record.state, record.sentence, record.ended = "starting", "Spark is starting ...", None
        record.save(self.folder)
        environment = {TOKEN: self.token, "PYTHONUNBUFFERED": "1"}
        if order.code:
            environment["PYTHONPATH"] = str(self._workspace.folder.resolve())
        with self._lock:
            self._stopping = False
            process = Process(
                arguments, self._workspace.folder, self.folder / "log.txt", environment
            )
            self._process = process
            self._watcher = threading.Thread(
                target=self._watch, args=(process,), name="boxcars-watch", daemon=True
            )
            self._watcher.start()
        self.version += 1

    def _watch(self, process: Process) -> None:
        """Poll the run until it has ended."""
        pulse = Pulse()
        while process.wait(_TICK) is None:
            if process.address is not None:
                with suppress(BoxcarsError, OSError):
                    self._poll(process, Client(process.address, self.token), pulse)
        self._end(process)

    def _poll(self, process: Process, client: Client, pulse: Pulse) -> None:
        """Fetch and record the status and statistics of the run."""
        status, stats = client.status(), client.stats().to_plain()
        if status["state"] in ("running", "waiting"):
            read = sum(status["read"].values())
            self.record.state = pulse.state(status["state"], read, monotonic())
        self._spark_ui = status.get("pages")
        usage = process.usage()
        self._note(status["epoch"], status["read"], stats, usage)
        compiling = status.get("compiling")
        said = f"{compiling_message(*compiling)}." if compiling else _progress(self.record)
        self.record.sentence = said
        self.history.note(time(), measured(stats, *usage))

    def _note(self, epoch: int, read: dict[str, int], stats: dict[str, Any], usage: Usage) -> None:
        self.record.epoch, self.record.read = epoch, read
        self.record.out = {n: output["tuples"] for n, output in stats["outputs"].items()}
        self.record.late = sum(box["late"] for box in stats["boxes"].values())
        self._stats = wire.Stats(time=time(), **stats, cpu=usage[0], memory=usage[1])
        self.version += 1

    def _end(self, process: Process) -> None:
        """Record how the process ended, and its final counts."""
        record, left = self.record, self._recall()
        code = process.code or 0
        done = left.finished if left is not None else not self._stopping
        record.state = "stopped" if self._stopping or code in (0, INTERRUPTED) else "failed"
        if done and code == 0:
            record.state = "finished"
        record.sentence = _final_sentence(record, process, code)
        record.ended = time()
        if self._changing:
            record.state, record.sentence = "starting", "restarting with the change ..."
            record.ended = None
        self._keep()
        process.close()
        self.version += 1
        if not self._changing:
            self._on_end(record.id)

    def _recall(self) -> FinalCounts | None:
        """Load the final counts from the checkpoint."""
        seconds = (self.record.ended or time()) - self.record.started
        left = final_counts(self.checkpoint, seconds, self.record.order.code)
        if left is not None:
            last = None if self._stats is None else self._stats.model_dump()
            stats = with_last_rates(last, left.stats)
            self._note(left.epoch, left.read, stats, (None, None))
            if not self.history.times:
                self.history.note(time(), measured(stats, None, None))
        return left

    def recover(self) -> None:
        """Load the final counts of a run whose studio was killed before the run ended."""
        if not (self.folder / _STATS).exists():
            self._recall()

    def _keep(self) -> None:
        """Store the record and the statistics; a full disk is ignored."""
        with suppress(BoxcarsError, OSError):
            self.record.save(self.folder)
            if self._stats is not None:
                text = self._stats.model_dump_json()
                (self.folder / _STATS).write_text(text, encoding="utf-8")

    def stop(self, patience: float, changing: bool = False) -> None:
        """Stop after the current epoch; if that takes too long, kill the process."""
        process, watcher = self._process, self._watcher
        if process is None or watcher is None or not watcher.is_alive():
            return
        self._stopping, self._changing = True, changing
        process.stop()
        if process.wait(patience) is None:
            process.kill()
        watcher.join()
        self._changing = False

    def again(self, order: Order, patience: float, fresh: bool = False) -> str:
        """Restart with a changed order; returns why that failed, or an empty string."""
        address = self._process.address if self._process else None
        port = int(address.rpartition(":")[2]) if address else 0
        self.record.order = order
        self.network = read_network(order.network).network
        if fresh:
            shutil.rmtree(self.checkpoint, ignore_errors=True)
            self._tails.clear()
            self.sent.clear()
        self._changing = True
        self.begin(modify=not fresh, port=port)
        until = monotonic() + patience
        process = self._process
        assert process is not None
        while process.address is None and process.code is None and monotonic() < until:
            sleep(_POLL)
        if process.address is not None:
            self._changing = False
            return ""
        process.kill()
        assert self._watcher is not None
        self._watcher.join()
        self._changing = False
        self.record.state, self.record.ended = "failed", time()
        self.record.sentence = _why(process.lines, process.code or 0, process.address)
        self._keep()
        return self.record.sentence

    def client(self) -> Client:
        """Return a client of the run's port."""
        process = self._process
        if not self.record.live or process is None:
            raise Unable(_ENDED)
        if process.address is None:
            raise Unable("the run is not ready yet: Spark is starting.")
        return Client(process.address, self.token)

    @property
    def suspended(self) -> bool:
        """Whether it accepts no tuples at the moment: it is stopped, stopping or starting."""
        known = self.record.state in ("running", "waiting")
        return not known or self._stopping or self._changing

    def heads(self) -> dict[str, int | float]:
        """Return the greatest order value of each input, read or sent."""
        found = heads_of(self.checkpoint)
        for name, value in self.sent.items():
            found[name] = max(value, found.get(name, value))
        return found

    def late(self, inputs: Iterable[str]) -> int:
        """Return the total number of late tuples of some inputs."""
        boxes = self.stats().boxes
        return sum(boxes[name]["late"] for name in inputs if name in boxes)

    def to_message(self) -> wire.Run:
        """Return the run as a message."""
        live = self.record.live and self._process is not None
        address = self._process.address if live and self._process else None
        return self.record.to_message(address, self._spark_ui if live else None)

    def stats(self) -> wire.Stats:
        """Return the latest statistics."""
        if self._stats is None:
            with suppress(OSError, ValidationError):
                text = (self.folder / _STATS).read_text(encoding="utf-8")
                self._stats = wire.Stats.model_validate_json(text)
        nothing = wire.Stats(time=time(), boxes={}, outputs={}, cpu=None, memory=None)
        return self._stats or nothing

    @property
    def event_log(self) -> EventLog:
        """The events in its checkpoint."""
        return EventLog(self.checkpoint)

    def events(self, after: int = 0) -> list[wire.Event]:
        """Return the last events after a number; the run may have ended."""
        return event_messages(self.event_log.read(after))

    def log_lines(self) -> list[str]:
        """Return the last lines of the log."""
        try:
            text = (self.folder / "log.txt").read_text(encoding="utf-8", errors="replace")
        except OSError:
            return []
        return text.splitlines()[-_LINES:]

    def output(self, name: str, after: int = 0) -> wire.OutputRows:
        """Return the last tuples of an output; of one with a sink, those passing now."""
        outputs, record = self.network.outputs, self.record
        if name not in outputs:
            raise Missing(f"there is no output '{name}'.{nearest(name, outputs)}")
        total = record.out.get(name, 0)
        if name in record.order.taps:
            with self._lock:
                tail = self._tails.setdefault(name, Tail(self.checkpoint, name))
            found = tail.rows(record.epoch, after)
            return found.model_copy(update={"total": max(found.total, total)})
        rows: list[Row] = []
        with suppress(BoxcarsError):
            rows = self.arc(str(outputs[name].source))
        return wire.OutputRows(epoch=record.epoch, rows=rows, total=total)

    def arc(self, name: str) -> list[Row]:
        """Return the last tuples of an arc."""
        inside = use_arcs(self.network).get(name)
        return self.client().peek(str(inside or name), _PEEK)

    def enqueue(self, name: str, body: wire.Enqueue) -> wire.Kept:
        """Send tuples to an input, and wait until they are durable."""
        if name not in self.record.order.feeds:
            hint = nearest(name, self.record.order.feeds)
            raise Missing(f"this run has no input '{name}' that takes tuples.{hint}")
        read = read_data(body, self.network.inputs[name])
        if read.tuples.height:
            self.client().enqueue(name, read.tuples)
        return wire.Kept(tuples=read.tuples.height, dead=read.dead.height)

    def close(self) -> None:
        """Stop the run, because the studio ends or the run is deleted."""
        self.deleted = True
        self.stop(_CLOSING)


def event_messages(page: Page) -> list[wire.Event]:
    """Return the last events of a page as messages."""
    return [wire.Event(**event.plain()) for event in page.events[-_EVENTS:]]


def _progress(record: Record) -> str:
    read, out = sum(record.read.values()), sum(record.out.values())
    if record.state == "waiting" and not read:
        return "waiting for tuples."
    late = f" {record.late:,} late." if record.late else ""
    return f"epoch {record.epoch}: {read:,} tuples in, {out:,} out.{late}"


def _final_sentence(record: Record, process: Process, code: int) -> str:
    if record.state == "failed":
        return _why(process.lines, code, process.address)
    head = "all input was processed" if record.state == "finished" else "stopped"
    return f"{head}; {_progress(record)}"


def _why(lines: Iterable[str], code: int, address: str | None) -> str:
    """Explain why a run failed: the last line of its log, other than the one with its address.

    >>> _why(["input 'calls' has no source.", "the run is at http://[::1]:1"], 1, "http://[::1]:1")
    "input 'calls' has no source."
    """
    if code < 0:
        return (
            f"the process of the run was killed by signal {-code}; it may have run out of memory."
        )
    said = [line for line in lines if line.strip() and not (address and line.endswith(address))]
    if not said:
        return f"the process of the run exited with code {code}; its log is empty."
    return said[-1].strip()
