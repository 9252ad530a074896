"""Runs: processes of ``boxcars run`` that the studio has started, and those of before.

Each has a folder with its network, its checkpoint, its log and its history, so that all can be had
again when the studio is started anew, and on the command line without it.
"""

from __future__ import annotations

import shutil
import threading
from collections.abc import Callable
from pathlib import Path

from boxcars.connectors.files import writing
from boxcars.model.serialize import network_to_plain
from boxcars.studio.edit.checking import readable
from boxcars.studio.edit.workspace import Workspace
from boxcars.studio.runs.launch import Order, check_places
from boxcars.studio.runs.records import Record, read_record
from boxcars.studio.runs.run import TheRun
from boxcars.studio.wire.errors import Missing, Unable
from boxcars.studio.wire.run_messages import AskModify

_PATIENCE = 60.0
"""Seconds to stop behind an epoch, before a run is ended at once."""
_START = 120.0
"""Seconds until a run that was changed must be there again."""


class Runs:
    """All runs of a studio."""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace, self._lock = workspace, threading.RLock()
        self._runs: dict[str, TheRun] | None = None
        self.when_ended: list[Callable[[str], None]] = []
        """Who wants to hear that a run has ended."""

    def _known(self) -> dict[str, TheRun]:
        """All runs; those of before are looked up when somebody asks for the first time."""
        with self._lock:
            if self._runs is None:
                self._runs = {}
                folders = self._workspace.runs.iterdir() if self._workspace.runs.is_dir() else ()
                for folder in folders:
                    record = read_record(folder)
                    if record is not None:
                        record.order.code &= self._workspace.code
                        run = TheRun(record, folder, self._workspace, self._tell)
                        run.recover()
                        self._runs[record.id] = run
            return self._runs

    def all(self) -> list[TheRun]:
        """All runs, the newest first."""
        return sorted(self._known().values(), key=lambda run: -run.record.started)

    def find(self, id: str) -> TheRun:
        """A run by its id."""
        found = self._known().get(id)
        if found is None:
            raise Missing(f"there is no run '{id}'.")
        return found

    def start(self, order: Order) -> TheRun:
        """Start a run in a process of its own."""
        record = Record.new(order)
        folder = self._workspace.runs / record.id
        with writing(folder):
            self._workspace.runs.parent.mkdir(mode=0o700, exist_ok=True)  # it holds addresses
            folder.mkdir(parents=True)
            _ignore(self._workspace.runs.parent)
        run = TheRun(record, folder, self._workspace, self._tell)
        with self._lock:
            self._known()[record.id] = run
        try:
            run.begin()
        except BaseException:
            with self._lock:
                self._known().pop(record.id, None)
            shutil.rmtree(folder, ignore_errors=True)
            raise
        return run

    def stop(self, id: str) -> TheRun:
        """Stop a run behind its epoch, and wait for that; one that has ended stays as it is."""
        run = self.find(id)
        run.stop(_PATIENCE)
        return run

    def delete(self, id: str) -> None:
        """Forget a run that has ended."""
        run = self.find(id)
        if run.record.live:
            raise Unable(f"'{run.record.name}' is under way: stop it first.")
        with self._lock:
            self._known().pop(id, None)
        run.close()
        with writing(run.folder):
            shutil.rmtree(run.folder, ignore_errors=True)

    def modify(self, id: str, asked: AskModify, code: bool) -> TheRun:
        """Go on with another network or layout behind an epoch; what is refused changes nothing."""
        run = self.find(id)
        live = run.record.live
        if run.record.state == "finished":
            raise Unable(f"'{run.record.name}' has finished: start a new run.")
        before = run.record.order
        changes = {
            key: value
            for key in ("instances", "buckets", "epoch_rows")
            if (value := getattr(asked, key)) is not None
        }
        if asked.network is not None:
            net = readable(asked.network, code)
            net.check().or_raise()
            changes["network"] = network_to_plain(net)
        order = before.model_copy(update=changes).fitted()
        check_places(order, self._workspace)
        run.stop(_PATIENCE, changing=True)
        sentence = run.again(order, _START, fresh=asked.fresh)
        if sentence and not live:
            raise Unable(sentence)
        if sentence:
            run.again(before, _START)
            raise Unable(f"{sentence} The run goes on as it was.")
        return run

    def adopt(self, document: str, file: str) -> None:
        """A drawing has got a file: the runs that were started from it belong to the file."""
        for run in self.all() if document else ():
            if run.record.order.document == document:
                run.record.order = run.record.order.model_copy(update={"document": file})
                run.record.save(run.folder)

    def _tell(self, id: str) -> None:
        for hear in self.when_ended:
            hear(id)

    def close(self) -> None:
        """Stop all runs that are under way."""
        with self._lock:
            live = list((self._runs or {}).values())
        stopping = [threading.Thread(target=run.close) for run in live]
        for thread in stopping:
            thread.start()
        for thread in stopping:
            thread.join()


def _ignore(folder: Path) -> None:
    """Keep what the studio writes out of the user's repository."""
    path = folder / ".gitignore"
    if not path.exists():
        path.write_text("*\n", encoding="utf-8")
