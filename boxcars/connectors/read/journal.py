"""The inbox of a run: what a system outside sends, written down before it is acknowledged.

A thread pulls messages, decodes them and writes each pull as a batch: its tuples, its dead letters
and its position, all of it or nothing. Then the other side may forget it. If the process ends in
between, the next one goes on behind the position of the last batch.
"""

from __future__ import annotations

import json
import logging
import os
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import polars as pl
import pyarrow as pa

from boxcars.connectors.arrow_columns import fields_frame, shown_frame
from boxcars.connectors.conform import (
    DATA_ERRORS,
    DEAD_LETTERS,
    Conformed,
    conform,
    dead_letters,
    first_line,
    letters_of,
)
from boxcars.connectors.files import group_heights, writing
from boxcars.connectors.formats import make_format
from boxcars.connectors.formats.format import Format
from boxcars.connectors.log_context import about
from boxcars.connectors.read.base import Place, Portion, Reader, take_files
from boxcars.connectors.read.journal_batches import Batches
from boxcars.connectors.read.splits import DEAD_SUFFIX
from boxcars.connectors.systems.connector import Connector, Lost, Received
from boxcars.connectors.untrusted_arrow import read_stream
from boxcars.model.entities import Input
from boxcars.model.problem import BoxcarsError, Wrong

_MOST = 100_000
"""Messages in a pull."""
_WAIT = 0.05
"""Seconds to wait for the first of them."""
_FIRST, _LONGEST = 0.1, 10.0
"""Seconds to wait before a connection that was lost is opened again: at first, and in the end."""
_NOTE = "position.json"

_log = logging.getLogger("boxcars.connectors")


class InboxReader(Reader):
    """An input that comes from a system outside, by way of batches under the checkpoint."""

    def __init__(self, name: str, connector: Connector, home: Path, entity: Input) -> None:
        self._box, self._name, self._entity = name, str(connector.url), entity
        try:
            self._decoder = Decoder(entity, dict(connector.url.options))
        except Wrong as wrong:
            raise Wrong(connector.url.hide(str(wrong))) from None
        self.intake = connector.intake()
        self._batches = Batches(home)
        self._position, self._ended = self._stand()
        self._error: BaseException | None = None
        self._thread: threading.Thread | None = None
        self.endless = True
        if not self._ended:
            self._connect()

    def _stand(self) -> tuple[Any, bool]:
        """The position behind the last batch, and whether it was the end."""
        last = self._batches.last()
        if last < 0:
            return None, False
        note = json.loads(self._batches.note(last, _NOTE).read_text(encoding="utf-8"))
        return note["position"], note["ended"]

    def _connect(self) -> None:
        """Open the connection for the first time: if that fails, the run does not begin."""
        try:
            with about(self._box):
                self.intake.open(self._position)
        except Lost as lost:
            self.intake.close()
            raise Wrong(f"{self._name}: {lost} Is it running?") from None
        self._thread = threading.Thread(target=self._work, name="boxcars-inbox", daemon=True)
        self._thread.start()

    def take(self, place: Place, rows: int) -> Portion:
        """The next rows that have come."""
        self._batches.take(place.file)
        ended = self._ended
        if self._error is not None:
            raise self._error
        portion = take_files(self._batches.files(place.file), place, rows, _height)
        at = portion.place
        left = next(self._batches.files(at.file), None)
        return Portion(portion.splits, Place(at.position, at.file, at.row, ended and left is None))

    def forget(self, place: Place) -> None:
        """Remove the batches before a place."""
        self._batches.remove(place.file)

    def close(self) -> None:
        """Stop pulling, behind the batch that is being written."""
        self._batches.close()
        if self._thread is not None:
            self._thread.join(10)
        self.intake.close()

    def _work(self) -> None:
        with about(self._box):
            self._run()

    def _run(self) -> None:
        """Pull until the end; a connection that is lost is opened again, however long it takes."""
        pause, connected = _FIRST, True
        while not self._batches.closing.is_set() and not self._ended:
            try:
                if not connected:
                    self.intake.open(self._position)
                    connected = True
                    _log.warning("%s: connected again", self._name)
                self._pull()
                pause = _FIRST
            except Lost as lost:
                if connected:
                    _log.warning("%s: %s Trying again.", self._name, lost)
                self.intake.close()
                connected = False
                self._batches.closing.wait(pause)
                pause = min(2 * pause, _LONGEST)
            except BaseException as error:
                self._error = _spoken(self._name, error)
                return

    def _pull(self) -> None:
        received = self.intake.pull(_MOST, _WAIT)
        if received is None:
            return
        found = self._decoder.decode(received.data)
        batch = self._batches.last() + 1
        self._batches.add(batch, lambda folder: _write(folder, found, received))
        self._position, self._ended = received.position, received.ended
        self.intake.safe(received.position)


def _spoken(name: str, error: BaseException) -> BaseException:
    """An error in a sentence."""
    if isinstance(error, BoxcarsError):
        return type(error)(f"{name}: {error}")
    first = (str(error).strip().splitlines() or [type(error).__name__])[0]
    return BoxcarsError(f"{name}: reading failed: {first}")


def _write(folder: Path, found: Conformed, received: Received) -> None:
    """Write a batch so that it is there even if the machine stops: the other side forgets it."""
    with writing(folder):
        folder.mkdir()
        if found.tuples.height:
            found.tuples.write_parquet(folder / "0.parquet", compression="lz4")
        if found.dead.height:
            found.dead.write_parquet(folder / f"1{DEAD_SUFFIX}")
        note = {"position": received.position, "ended": received.ended}
        (folder / _NOTE).write_text(json.dumps(note), encoding="utf-8")
        for path in [*folder.iterdir(), folder]:
            handle = os.open(path, os.O_RDONLY)
            os.fsync(handle)
            os.close(handle)


def _height(path: Path) -> int:
    return 0 if path.name.endswith(DEAD_SUFFIX) else sum(group_heights(path))


class Decoder:
    """From messages to tuples; what is none becomes a dead letter.

    The option ``format`` of an address says what messages are: ``jsonl`` (as if nothing is said),
    ``csv``, ``xml``, ``binary``, one of your own, or ``arrow``: a table as an IPC stream. Options
    such as ``format.delimiter`` are those of the format.
    """

    def __init__(self, entity: Input, options: dict[str, str]) -> None:
        self._entity, self._name = entity, options.get("format", "jsonl")
        own = {n.removeprefix("format."): v for n, v in options.items() if n.startswith("format.")}
        self._format = (
            None if self._name == "arrow" else make_format(self._name, entity.fields, own)
        )

    def decode(self, data: Sequence[bytes] | pa.Table) -> Conformed:
        """The tuples of messages, or of a table."""
        if isinstance(data, pa.Table):
            try:
                return self._fit(data)
            except (Wrong, *DATA_ERRORS) as error:
                return Conformed(self._entity.schema.empty(), _letters(data, first_line(error)))
        if self._format is None:
            return self._each(data)
        try:
            return self._records(self._format, data)
        except DATA_ERRORS:  # one of them is at fault, and the others are not to suffer for it
            return self._each(data)

    def _records(self, format_: Format, messages: Sequence[bytes]) -> Conformed:
        decoded = format_.decode(pl.Series("data", messages, dtype=pl.Binary))
        fitting = conform(decoded.tuples, self._entity)
        return Conformed(fitting.tuples, pl.concat([decoded.dead.drop("origin"), fitting.dead]))

    def _each(self, messages: Sequence[bytes]) -> Conformed:
        """One message after the other; one that can't be read is a dead letter."""
        tuples, dead = [self._entity.schema.empty()], [dead_letters([])]
        what = "table" if self._format is None else "record"
        for message in messages:
            try:
                if self._format is None:
                    found = self._fit(read_stream(message))
                else:
                    found = self._records(self._format, [message])
            except (Wrong, *DATA_ERRORS) as error:
                reason = f"this is no {what} for the input: {first_line(error)}"
                dead.append(dead_letters([(message, reason)]))
                continue
            tuples.append(found.tuples)
            dead.append(found.dead)
        return Conformed(pl.concat(tuples), pl.concat(dead))

    def _fit(self, table: pa.Table) -> Conformed:
        return conform(fields_frame(table, self._entity.fields), self._entity)


def _letters(table: pa.Table, reason: str) -> pl.DataFrame:
    """Each row of a table that does not fit as a dead letter."""
    try:
        return letters_of(shown_frame(table), reason)
    except DATA_ERRORS:
        nothing = pl.repeat(None, table.num_rows, dtype=pl.Binary, eager=True)
        reasons = pl.repeat(reason, table.num_rows, dtype=pl.String, eager=True)
        return pl.DataFrame({"record": nothing, "reason": reasons}, schema=dict(DEAD_LETTERS))
