"""Sink writers: deliver the parts of an epoch to their sinks, on the driver, before the commit.

Tasks write the rows of an epoch as a part file into the folder of a sink writer. For a folder of
parts that is all. For other sinks the folder is inside the checkpoint, and the driver delivers the
parts from there.
"""

from __future__ import annotations

import errno
import os
import threading
from collections.abc import Callable
from pathlib import Path
from time import monotonic
from typing import Any
from uuid import uuid4

import numpy as np
import polars as pl
import pyarrow as pa

from boxcars.connectors.checked_number import note_number, noted_number
from boxcars.connectors.conform import dead_letters
from boxcars.connectors.files import check_suffix, replacing, sweep_unfinished, writing
from boxcars.connectors.log_context import about, current_report, warn
from boxcars.connectors.read.sources import Files
from boxcars.connectors.systems.connector import Connector, Lost, connect
from boxcars.connectors.systems.dequeue import Dequeue
from boxcars.connectors.systems.messages import arrived
from boxcars.connectors.write.base import SinkWriter
from boxcars.connectors.write.folder import FolderWriter
from boxcars.connectors.write.merge_parts import join_parts, read_part
from boxcars.connectors.write.sinks import Callback, Console
from boxcars.connectors.write.subscription import RetainedOutput
from boxcars.connectors.write.terminal import print_rows
from boxcars.events.event import Kind
from boxcars.model.problem import BoxcarsError, Wrong
from boxcars.model.schema import Schema

PATIENCE = 600.0
"""Default seconds that a run waits for a lost external system."""
LEDGER = "delivered"
"""The file in the checkpoint with the last delivered epoch of an output."""
_FILE = "file"
"""The file in a checkpoint that names the target file of an output."""
_FIRST, _LONGEST = 0.1, 10.0
"""Seconds between attempts to reconnect: initial and maximum backoff."""


class FileWriter(SinkWriter):
    """A single file, merged from its parts when the run has finished."""

    def __init__(self, target: Path, home: Path, schema: pa.Schema) -> None:
        super().__init__(home / "parts", target)
        self._schema, self._written = schema, home / "written"
        with writing(home):
            home.mkdir(parents=True, exist_ok=True)
            (home / _FILE).write_text(str(target), encoding="utf-8")

    @property
    def complete(self) -> bool:
        """Whether the file was written."""
        return self._written.exists()

    def finish(self) -> None:
        """Merge the parts into one file, once."""
        if self.complete:
            return
        parts = sorted(self.folder.glob("part-*"))
        join_parts(parts, self.target, self._schema)
        self._written.parent.mkdir(parents=True, exist_ok=True)
        self._written.touch()
        for part in parts:
            part.unlink()


class CallbackWriter(SinkWriter):
    """Calls a function with the parts of each epoch that has rows.

    The ledger, a file with the number of the last epoch delivered, is written after the call. If
    the process ends in between, the epoch is replayed with the same rows, and so is the call.
    """

    def __init__(self, home: Path, call: Callable[[list[Path], int], Any]) -> None:
        super().__init__(home / "parts", home)
        self._call, self._ledger = call, home / LEDGER

    def deliver(self, epoch: int) -> None:
        """Call the function, unless the ledger has the epoch, then remove the parts."""
        parts = self._parts(epoch)
        if parts and not arrived(noted_number(self._ledger), epoch):
            self._call_sink(parts, epoch)
            note_number(self._ledger, epoch)
        for part in parts:
            part.unlink()

    def _parts(self, epoch: int) -> list[Path]:
        return sorted(self.folder.glob(f"part-{epoch:08d}*"))

    def _call_sink(self, parts: list[Path], epoch: int) -> None:
        try:
            self._call(parts, epoch)
        except BoxcarsError:
            raise
        except Exception as error:
            first = (str(error).strip().splitlines() or [""])[0]
            what = f"{type(error).__name__}: {first}" if first else type(error).__name__
            raise BoxcarsError(f"the sink failed in epoch {epoch}: {what}") from error


class ConnectorWriter(CallbackWriter):
    """Delivers to an external system. If the connection is lost, the run waits for it.

    The URL option ``patience`` limits the wait, in seconds; then the run fails, and can be resumed
    from its checkpoint.
    """

    def __init__(self, name: str, home: Path, connector: Connector, schema: Schema) -> None:
        super().__init__(home, self._deliver_parts)
        self._box, self._report = name, current_report()
        self._url, self._patience = connector.url, connector.url.number("patience", PATIENCE)
        self._delivery = connector.delivery(schema, home_name(home))
        self._giving_up = threading.Event()
        self._left_out = 0, pl.Series(dtype=pl.UInt32)
        try:
            with about(name):
                self._delivery.open()
        except Lost as lost:
            self._delivery.close()
            raise Wrong(f"{self._url}: {lost} Is it running?") from None
        self._connected, self._lost_at = True, 0.0

    def _deliver_parts(self, parts: list[Path], epoch: int) -> None:
        with about(self._box, self._report):
            self._deliver_with_retries(parts, epoch)

    def _deliver_with_retries(self, parts: list[Path], epoch: int) -> None:
        table = self._writable(_table(parts), epoch)
        if not table.num_rows:
            return None
        pause, until = _FIRST, monotonic() + self._patience
        while True:
            try:
                if not self._connected:
                    self._delivery.open()
                    self._connected = True
                    waited = {"seconds": monotonic() - self._lost_at}
                    warn(Kind.SINK_BACK, f"{self._url}: reconnected", waited)
                return self._delivery.deliver(table, epoch)
            except Lost as lost:
                self._lose(lost)
                if monotonic() + pause > until or self._giving_up.wait(pause):
                    raise BoxcarsError(
                        f"{self._url}: {lost} Epoch {epoch} was not delivered; run again with "
                        "this checkpoint to resume with it."
                    ) from None
                pause = min(2 * pause, _LONGEST)

    def refused(self, epoch: int) -> pl.DataFrame:
        """The rows that the format can't represent; they are excluded from the delivery."""
        parts = self._parts(epoch) if self._delivery.may_refuse else []
        if not parts:
            return dead_letters([])
        found = self._delivery.refused(_table(parts))
        self._left_out = epoch, found["origin"]
        return found.drop("origin")

    def _writable(self, table: pa.Table, epoch: int) -> pa.Table:
        """The rows without those refused."""
        if self._left_out[0] != epoch:  # a restart delivers an epoch that another process ran
            self.refused(epoch)
        of, rows = self._left_out
        if of != epoch or not len(rows):
            return table
        mask = np.ones(table.num_rows, bool)
        mask[rows.to_numpy()] = False
        return table.filter(pa.array(mask))

    def _lose(self, lost: Lost) -> None:
        if self._connected:
            self._lost_at = monotonic()
            patience = {"patience": self._patience}
            warn(Kind.SINK_WAITING, f"{self._url}: {lost} Reconnecting.", patience)
        self._connected = False
        self._delivery.close()

    def give_up(self) -> None:
        """Stop waiting for the external system."""
        self._giving_up.set()

    def close(self) -> None:
        """Disconnect."""
        self._delivery.close()


def home_name(home: Path) -> str:
    """A globally unique name of an output, which survives restarts of the run."""
    path = home / "name"
    if not path.exists():
        with writing(path), replacing(path) as part:
            part.parent.mkdir(parents=True, exist_ok=True)
            part.write_text(uuid4().hex)
    return path.read_text()


def open_sink(name: str, sink: Any, home: Path, schema: Schema) -> SinkWriter:
    """Open the writer of a sink; ``home`` is its folder in the checkpoint."""
    waiting = _waiting_file(home)
    writer = _open_sink(name, sink, home, schema)
    if waiting not in (None, writer.target):
        writer.close()
        raise Wrong(
            f"the results so far are for {waiting}, which is written when the run has finished: "
            "use the same sink."
        )
    return writer


def _waiting_file(home: Path) -> Path | None:
    """The target file of a previous run with this checkpoint, if there are parts for it."""
    noted = home / _FILE
    if noted.exists() and any((home / "parts").glob("part-*")):
        return Path(noted.read_text(encoding="utf-8"))
    return None


def _open_sink(name: str, sink: Any, home: Path, schema: Schema) -> SinkWriter:
    match sink:
        case "-" | Console():
            return CallbackWriter(home, lambda parts, _: print_rows(name, _table(parts)))
        case str() if "://" in sink:
            return _open_outside(name, connect(sink), home, schema)
        case Connector():
            return _open_outside(name, sink, home, schema)
        case str() | Path():
            return _open_path(str(sink), home, schema)
        case Files():
            if sink.follow:
                raise Wrong(f"{sink.where}: a sink can't be followed.")
            return _open_path(sink.where, home, schema)
        case Callback():
            return CallbackWriter(home, lambda parts, epoch: sink.function(_table(parts), epoch))
    raise Wrong(
        f"expected a path, a URL, bx.files, bx.callback, bx.console or a function of a "
        f"DataFrame and an epoch, got {sink!r}."
    )


def _open_outside(name: str, connector: Connector, home: Path, schema: Schema) -> SinkWriter:
    if isinstance(connector, Dequeue):
        return RetainedOutput(home, connector.keep)
    return ConnectorWriter(name, home, connector, schema)


def _open_path(where: str, home: Path, schema: Schema) -> SinkWriter:
    path = Path(where).resolve()
    if where.endswith("/") or path.is_dir() or not path.suffix:
        if path.is_file():
            raise Wrong(f"{where}: expected a folder, got a file.")
        _make_folder(path, path)
        sweep_unfinished(path)
        return FolderWriter(path)
    check_suffix(path)
    _make_folder(path.parent, path)
    empty = schema.empty().to_arrow(compat_level=pl.CompatLevel.oldest())
    return FileWriter(path, home, empty.schema)


def _make_folder(folder: Path, target: Path) -> None:
    """Create a folder and check that it is writable, to fail before Spark starts."""
    with writing(target):
        folder.mkdir(parents=True, exist_ok=True)
        if not os.access(folder, os.W_OK | os.X_OK):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))


def _table(parts: list[Path]) -> pa.Table:
    return pa.concat_tables([read_part(part) for part in parts])
