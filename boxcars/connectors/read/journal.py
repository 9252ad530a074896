"""The journal of an input: messages of an external system, stored before they are acknowledged.

A thread pulls messages, decodes them and writes each pull atomically as a batch: its tuples, dead
letters and position. Then it acknowledges them. After a crash the next process resumes at the
position of the last batch.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Sequence
from pathlib import Path
from time import monotonic
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
from boxcars.connectors.log_context import about, current_report, warn
from boxcars.connectors.read.base import Offset, Portion, Reader, take_files
from boxcars.connectors.read.journal_batches import Batches
from boxcars.connectors.read.splits import DEAD_SUFFIX
from boxcars.connectors.systems.connector import Connector, Lost, Received
from boxcars.connectors.untrusted_arrow import read_stream
from boxcars.events.event import Kind
from boxcars.model.entities import Input
from boxcars.model.problem import BoxcarsError, Wrong

_MOST = 100_000
"""Maximum messages per pull."""
_WAIT = 0.05
"""Seconds to wait for the first message."""
_FIRST, _LONGEST = 0.1, 10.0
"""Seconds between attempts to reconnect: initial and maximum backoff."""
_NOTE = "position.json"


class JournalReader(Reader):
    """Reads an external system through a journal of batches in the checkpoint."""

    def __init__(self, name: str, connector: Connector, home: Path, entity: Input) -> None:
        self._box, self._name, self._entity = name, str(connector.url), entity
        self._report = current_report()
        try:
            self._decoder = Decoder(entity, dict(connector.url.options))
        except Wrong as wrong:
            raise Wrong(connector.url.hide(str(wrong))) from None
        self.intake = connector.intake()
        self._batches = Batches(home)
        self._position, self._ended = self._last_position()
        self._error: BaseException | None = None
        self._thread: threading.Thread | None = None
        self.endless = True
        if not self._ended:
            self._connect()

    def _last_position(self) -> tuple[Any, bool]:
        """The position after the last batch, and whether the input has ended there."""
        last = self._batches.last()
        if last < 0:
            return None, False
        note = json.loads(self._batches.note(last, _NOTE))
        return note["position"], note["ended"]

    def _connect(self) -> None:
        """Open the connection for the first time; if that fails, the run does not start."""
        try:
            with about(self._box):
                self.intake.open(self._position)
        except Lost as lost:
            self.intake.close()
            raise Wrong(f"{self._name}: {lost} Is it running?") from None
        self._thread = threading.Thread(target=self._work, name="boxcars-journal", daemon=True)
        self._thread.start()

    def take(self, offset: Offset, rows: int) -> Portion:
        """Plan the next rows of the journal."""
        self._batches.take(offset.file)
        self._batches.verify(offset.file)
        ended = self._ended
        if self._error is not None:
            raise self._error
        portion = take_files(self._batches.files(offset.file), offset, rows, _height)
        at = portion.offset
        left = next(self._batches.files(at.file), None)
        return Portion(portion.splits, Offset(at.position, at.file, at.row, ended and left is None))

    def forget(self, offset: Offset) -> None:
        """Remove the batches before an offset."""
        self._batches.remove(offset.file)

    def close(self) -> None:
        """Stop pulling after the current batch is written."""
        self._batches.close()
        if self._thread is not None:
            self._thread.join(10)
        self.intake.close()

    def _work(self) -> None:
        with about(self._box, self._report):
            self._run()

    def _run(self) -> None:
        """Pull until the end; reconnect forever after a connection is lost."""
        pause, connected, lost_at = _FIRST, True, 0.0
        while not self._batches.closing.is_set() and not self._ended:
            try:
                if not connected:
                    self.intake.open(self._position)
                    connected = True
                    figures = {"seconds": monotonic() - lost_at}
                    warn(Kind.CONNECTION_BACK, f"{self._name}: reconnected", figures)
                self._pull()
                pause = _FIRST
            except Lost as lost:
                if connected:
                    lost_at = monotonic()
                    warn(Kind.CONNECTION_LOST, f"{self._name}: {lost} Reconnecting.")
                self.intake.close()
                connected = False
                self._batches.closing.wait(pause)
                pause = min(2 * pause, _LONGEST)
            except BaseException as error:
                self._error = _named(self._name, error)
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


def _named(name: str, error: BaseException) -> BaseException:
    """An error as a BoxcarsError that names the source."""
    if isinstance(error, BoxcarsError):
        return type(error)(f"{name}: {error}")
    first = (str(error).strip().splitlines() or [type(error).__name__])[0]
    return BoxcarsError(f"{name}: reading failed: {first}")


def _write(folder: Path, found: Conformed, received: Received) -> None:
    """Write the files of a batch."""
    with writing(folder):
        folder.mkdir()
        if found.tuples.height:
            found.tuples.write_parquet(folder / "0.parquet", compression="lz4")
        if found.dead.height:
            found.dead.write_parquet(folder / f"1{DEAD_SUFFIX}")
        note = {"position": received.position, "ended": received.ended}
        (folder / _NOTE).write_text(json.dumps(note), encoding="utf-8")


def _height(path: Path) -> int:
    return 0 if path.name.endswith(DEAD_SUFFIX) else sum(group_heights(path))


class Decoder:
    """Decodes messages to tuples; invalid ones become dead letters.

    The URL option ``format`` selects the format of messages: ``jsonl`` (the default), ``csv``,
    ``xml``, ``binary``, a registered one, or ``arrow``: a table as an IPC stream. Options such as
    ``format.delimiter`` are passed to the format.
    """

    def __init__(self, entity: Input, options: dict[str, str]) -> None:
        self._entity, self._name = entity, options.get("format", "jsonl")
        own = {n.removeprefix("format."): v for n, v in options.items() if n.startswith("format.")}
        self._format = (
            None if self._name == "arrow" else make_format(self._name, entity.fields, own)
        )

    def decode(self, data: Sequence[bytes] | pa.Table) -> Conformed:
        """Decode messages, or convert a table."""
        if isinstance(data, pa.Table):
            try:
                return self._fit(data)
            except (Wrong, *DATA_ERRORS) as error:
                return Conformed(
                    self._entity.data_schema.empty(), _letters(data, first_line(error))
                )
        if self._format is None:
            return self._each(data)
        try:
            return self._records(self._format, data)
        except DATA_ERRORS:  # one bad message must not discard the others
            return self._each(data)

    def _records(self, format_: Format, messages: Sequence[bytes]) -> Conformed:
        decoded = format_.decode(pl.Series("data", messages, dtype=pl.Binary))
        fitting = conform(decoded.tuples, self._entity)
        return Conformed(fitting.tuples, pl.concat([decoded.dead.drop("origin"), fitting.dead]))

    def _each(self, messages: Sequence[bytes]) -> Conformed:
        """Decode messages one by one; unreadable ones become dead letters."""
        tuples, dead = [self._entity.data_schema.empty()], [dead_letters([])]
        what = "table" if self._format is None else "record"
        for message in messages:
            try:
                if self._format is None:
                    found = self._fit(read_stream(message))
                else:
                    found = self._records(self._format, [message])
            except (Wrong, *DATA_ERRORS) as error:
                reason = f"not a valid {what} for the input: {first_line(error)}"
                dead.append(dead_letters([(message, reason)]))
                continue
            tuples.append(found.tuples)
            dead.append(found.dead)
        return Conformed(pl.concat(tuples), pl.concat(dead))

    def _fit(self, table: pa.Table) -> Conformed:
        return conform(fields_frame(table, self._entity.fields), self._entity)


def _letters(table: pa.Table, reason: str) -> pl.DataFrame:
    """All rows of a table that does not fit, as dead letters."""
    try:
        return letters_of(shown_frame(table), reason)
    except DATA_ERRORS:
        nothing = pl.repeat(None, table.num_rows, dtype=pl.Binary, eager=True)
        reasons = pl.repeat(reason, table.num_rows, dtype=pl.String, eager=True)
        return pl.DataFrame({"record": nothing, "reason": reasons}, schema=dict(DEAD_LETTERS))
