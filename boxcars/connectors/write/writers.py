"""Outlets: what becomes of the parts that tasks write, on the driver, before an epoch is committed.

Tasks write the rows of an epoch as a part into the folder of an outlet. For a folder of parts that
is all. For other sinks the folder is under the checkpoint, and the driver delivers what is there.
"""

from __future__ import annotations

import errno
import logging
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
from boxcars.connectors.log_context import about
from boxcars.connectors.read.sources import Files
from boxcars.connectors.systems.connector import Connector, Lost, connect
from boxcars.connectors.systems.dequeue import Dequeue
from boxcars.connectors.systems.messages import arrived
from boxcars.connectors.write.base import Outlet
from boxcars.connectors.write.merge_parts import join_parts, read_part
from boxcars.connectors.write.sinks import Callback, Console
from boxcars.connectors.write.subscription import Tap
from boxcars.connectors.write.terminal import print_rows
from boxcars.model.problem import BoxcarsError, Wrong
from boxcars.model.schema import Schema

PATIENCE = 600.0
"""Seconds for which a run waits for a system outside that was lost."""
_FILE = "file"
"""Where a checkpoint notes which file an output is to become."""
_FIRST, _LONGEST = 0.1, 10.0
"""Seconds to wait before it is tried again: at first, and in the end."""

_log = logging.getLogger("boxcars.connectors")


class OneFile(Outlet):
    """A file that appears when the run has finished; until then its parts are kept."""

    def __init__(self, target: Path, home: Path, schema: pa.Schema) -> None:
        super().__init__(home / "parts", target)
        self._schema, self._written = schema, home / "written"
        with writing(home):
            home.mkdir(parents=True, exist_ok=True)
            (home / _FILE).write_text(str(target), encoding="utf-8")

    @property
    def complete(self) -> bool:
        """Whether the file is there."""
        return self._written.exists()

    def finish(self) -> None:
        """Make one file of the parts, once."""
        if self.complete:
            return
        parts = sorted(self.folder.glob("part-*"))
        join_parts(parts, self.target, self._schema)
        self._written.parent.mkdir(parents=True, exist_ok=True)
        self._written.touch()
        for part in parts:
            part.unlink()


class Delivered(Outlet):
    """A function that is called with the parts of each epoch that has rows.

    The ledger, a file with the number of the last epoch delivered, is written behind the call. If
    the process ends in between, the epoch is repeated with the same rows, and so is the call.
    """

    def __init__(self, home: Path, call: Callable[[list[Path], int], Any]) -> None:
        super().__init__(home / "parts", home)
        self._call, self._ledger = call, home / "delivered"

    def deliver(self, epoch: int) -> None:
        """Call the function, unless the ledger has the epoch; then the parts are not needed."""
        parts = self._parts(epoch)
        if parts and not arrived(noted_number(self._ledger), epoch):
            self._hand_over(parts, epoch)
            note_number(self._ledger, epoch)
        for part in parts:
            part.unlink()

    def _parts(self, epoch: int) -> list[Path]:
        return sorted(self.folder.glob(f"part-{epoch:08d}*"))

    def _hand_over(self, parts: list[Path], epoch: int) -> None:
        try:
            self._call(parts, epoch)
        except BoxcarsError:
            raise
        except Exception as error:
            first = (str(error).strip().splitlines() or [""])[0]
            what = f"{type(error).__name__}: {first}" if first else type(error).__name__
            raise BoxcarsError(f"the sink failed in epoch {epoch}: {what}") from error


class HandedOver(Delivered):
    """A system outside. If it is lost, its sink waits for it, and so does the run.

    The option ``patience`` of its address says for how many seconds; then the run fails, and can go
    on from its checkpoint.
    """

    def __init__(self, name: str, home: Path, connector: Connector, schema: Schema) -> None:
        super().__init__(home, self._hand_about)
        self._box = name
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
        self._connected = True

    def _hand_about(self, parts: list[Path], epoch: int) -> None:
        with about(self._box):
            self._hand(parts, epoch)

    def _hand(self, parts: list[Path], epoch: int) -> None:
        table = self._writable(_table(parts), epoch)
        if not table.num_rows:
            return None
        pause, until = _FIRST, monotonic() + self._patience
        while True:
            try:
                if not self._connected:
                    self._delivery.open()
                    self._connected = True
                    _log.warning("%s: connected again", self._url)
                return self._delivery.deliver(table, epoch)
            except Lost as lost:
                self._lose(lost)
                if monotonic() + pause > until or self._giving_up.wait(pause):
                    raise BoxcarsError(
                        f"{self._url}: {lost} Epoch {epoch} was not delivered; a run with this "
                        "checkpoint goes on with it."
                    ) from None
                pause = min(2 * pause, _LONGEST)

    def refused(self, epoch: int) -> pl.DataFrame:
        """The rows that its format has no message for; they are left out of what is delivered."""
        parts = self._parts(epoch) if self._delivery.may_refuse else []
        if not parts:
            return dead_letters([])
        found = self._delivery.refused(_table(parts))
        self._left_out = epoch, found["origin"]
        return found.drop("origin")

    def _writable(self, table: pa.Table, epoch: int) -> pa.Table:
        """The rows that are delivered; who asks for them has asked for the refused ones before."""
        of, rows = self._left_out
        if of != epoch or not len(rows):
            return table
        mask = np.ones(table.num_rows, bool)
        mask[rows.to_numpy()] = False
        return table.filter(pa.array(mask))

    def _lose(self, lost: Lost) -> None:
        if self._connected:
            _log.warning("%s: %s Trying again.", self._url, lost)
        self._connected = False
        self._delivery.close()

    def give_up(self) -> None:
        """Don't wait for it any longer."""
        self._giving_up.set()

    def close(self) -> None:
        """Disconnect."""
        self._delivery.close()


def home_name(home: Path) -> str:
    """A name for an output that no other run has, and that stays when the run goes on."""
    path = home / "name"
    if not path.exists():
        with writing(path), replacing(path) as part:
            part.parent.mkdir(parents=True, exist_ok=True)
            part.write_text(uuid4().hex)
    return path.read_text()


def open_sink(name: str, sink: Any, home: Path, schema: Schema) -> Outlet:
    """The outlet of a sink; ``home`` is its folder in the checkpoint."""
    waiting = _waiting_file(home)
    outlet = _open_sink(name, sink, home, schema)
    if waiting not in (None, outlet.target):
        outlet.close()
        raise Wrong(
            f"what came so far is for {waiting}, which is written when the run has finished: give "
            "it the same sink."
        )
    return outlet


def _waiting_file(home: Path) -> Path | None:
    """The file for which there are parts, if a run with this checkpoint was to write one."""
    noted = home / _FILE
    if noted.exists() and any((home / "parts").glob("part-*")):
        return Path(noted.read_text(encoding="utf-8"))
    return None


def _open_sink(name: str, sink: Any, home: Path, schema: Schema) -> Outlet:
    match sink:
        case "-" | Console():
            return Delivered(home, lambda parts, _: print_rows(name, _table(parts)))
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
            return Delivered(home, lambda parts, epoch: sink.function(_table(parts), epoch))
    raise Wrong(
        f"expected a path, an address, bx.files, bx.callback, bx.console or a function of a "
        f"DataFrame and an epoch, got {sink!r}."
    )


def _open_outside(name: str, connector: Connector, home: Path, schema: Schema) -> Outlet:
    if isinstance(connector, Dequeue):
        return Tap(home, connector.keep)
    return HandedOver(name, home, connector, schema)


def _open_path(where: str, home: Path, schema: Schema) -> Outlet:
    path = Path(where).resolve()
    if where.endswith("/") or path.is_dir() or not path.suffix:
        if path.is_file():
            raise Wrong(f"{where}: expected a folder, and this is a file.")
        _make_folder(path, path)
        sweep_unfinished(path)
        return Outlet(path, path)
    check_suffix(path)
    _make_folder(path.parent, path)
    empty = schema.empty().to_arrow(compat_level=pl.CompatLevel.oldest())
    return OneFile(path, home, empty.schema)


def _make_folder(folder: Path, target: Path) -> None:
    """See to it that a folder is there before Spark starts; what is in the way is said now."""
    with writing(target):
        folder.mkdir(parents=True, exist_ok=True)
        if not os.access(folder, os.W_OK | os.X_OK):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))


def _table(parts: list[Path]) -> pa.Table:
    return pa.concat_tables([read_part(part) for part in parts])
