"""All runs of the studio: ``boxcars run`` processes, current and past.

Each has a folder with its network, checkpoint, log and history, so that it survives a restart of
the studio, and can be resumed on the command line.
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
from boxcars.studio.runs.launch import Order, check_addresses
from boxcars.studio.runs.records import Record, read_record
from boxcars.studio.runs.run import ManagedRun
from boxcars.studio.wire.errors import Missing, Unable
from boxcars.studio.wire.run_messages import AskModify

_PATIENCE = 60.0
"""Seconds for a run to finish its epoch before it is killed."""
_START = 120.0
"""Seconds for a changed run to restart."""


class Runs:
    """All runs of a studio."""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace, self._lock = workspace, threading.RLock()
        self._runs: dict[str, ManagedRun] | None = None
        self.when_ended: list[Callable[[str], None]] = []
        """Callbacks for the end of a run."""

    def _known(self) -> dict[str, ManagedRun]:
        """Return all runs; past runs are loaded on the first call."""
        with self._lock:
            if self._runs is None:
                self._runs = {}
                folders = self._workspace.runs.iterdir() if self._workspace.runs.is_dir() else ()
                for folder in folders:
                    record = read_record(folder)
                    if record is not None:
                        record.order.code &= self._workspace.code
                        run = ManagedRun(record, folder, self._workspace, self._notify_ended)
                        run.recover()
                        self._runs[record.id] = run
            return self._runs

    def all(self) -> list[ManagedRun]:
        """Return all runs, the newest first."""
        return sorted(self._known().values(), key=lambda run: -run.record.started)

    def find(self, id: str) -> ManagedRun:
        """Find a run by its id."""
        found = self._known().get(id)
        if found is None:
            raise Missing(f"there is no run '{id}'.")
        return found

    def start(self, order: Order) -> ManagedRun:
        """Start a run in its own process."""
        record = Record.new(order)
        folder = self._workspace.runs / record.id
        with writing(folder):
            self._workspace.runs.parent.mkdir(mode=0o700, exist_ok=True)  # 0700: it holds addresses
            folder.mkdir(parents=True)
            _ignore(self._workspace.runs.parent)
        run = ManagedRun(record, folder, self._workspace, self._notify_ended)
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

    def stop(self, id: str) -> ManagedRun:
        """Stop a run after its current epoch, and wait for it; no effect if it has ended."""
        run = self.find(id)
        run.stop(_PATIENCE)
        return run

    def delete(self, id: str) -> None:
        """Delete a run that has ended."""
        run = self.find(id)
        if run.record.live:
            raise Unable(f"'{run.record.name}' is still running: stop it first.")
        with self._lock:
            self._known().pop(id, None)
        run.close()
        with writing(run.folder):
            shutil.rmtree(run.folder, ignore_errors=True)

    def modify(self, id: str, asked: AskModify, code: bool) -> ManagedRun:
        """Continue with another network or layout after an epoch; a refusal changes nothing."""
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
        check_addresses(order, self._workspace)
        run.stop(_PATIENCE, changing=True)
        sentence = run.again(order, _START, fresh=asked.fresh)
        if sentence and not live:
            raise Unable(sentence)
        if sentence:
            run.again(before, _START)
            raise Unable(f"{sentence} The run continues unchanged.")
        return run

    def adopt(self, document: str, file: str) -> None:
        """Assign the runs of a drawing to the file in which it was saved."""
        for run in self.all() if document else ():
            if run.record.order.document == document:
                run.record.order = run.record.order.model_copy(update={"document": file})
                run.record.save(run.folder)

    def _notify_ended(self, id: str) -> None:
        for callback in self.when_ended:
            callback(id)

    def close(self) -> None:
        """Stop all live runs."""
        with self._lock:
            live = list((self._runs or {}).values())
        stopping = [threading.Thread(target=run.close) for run in live]
        for thread in stopping:
            thread.start()
        for thread in stopping:
            thread.join()


def _ignore(folder: Path) -> None:
    """Exclude the studio's files from the user's Git repository."""
    path = folder / ".gitignore"
    if not path.exists():
        path.write_text("*\n", encoding="utf-8")
