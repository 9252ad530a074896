"""Logs of a run, as text or JSON lines, and its statistics as JSON lines."""

from __future__ import annotations

import json
import logging
import sys
import threading
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from boxcars.connectors.files import writing
from boxcars.connectors.log_context import current_box
from boxcars.model.problem import BoxcarsError, named_in, visible

if TYPE_CHECKING:
    from boxcars.engine.run import Run
    from boxcars.engine.status import Status

_EVERY = 1.0
"""Seconds between lines of statistics."""
_log = logging.getLogger("boxcars.run")


class LogKind(StrEnum):
    """The format of log lines."""

    TEXT = "text"
    JSON = "json"


class RunLog:
    """The log of a run on stderr: its epochs, and warnings and errors with the box concerned.

    Without a kind only warnings and errors are logged, as text.
    """

    def __init__(self, kind: LogKind | None, run: str) -> None:
        self._about = _About(run)
        self._begun = False
        self._last: Status | None = None
        self.wanted = kind is not None
        handler = logging.StreamHandler(sys.stderr)
        handler.setFormatter((_Json if kind is LogKind.JSON else _Text)(self._about))
        logger = logging.getLogger("boxcars")
        logger.handlers[:] = [handler]
        logger.propagate = False
        logger.setLevel(logging.INFO if self.wanted else logging.WARNING)

    def say(self, text: str) -> None:
        """Report a message: in the log if there is one, otherwise verbatim on stderr."""
        if self.wanted:
            _log.info(text)
        else:
            print(text, file=sys.stderr)

    def begin(self, status: Status) -> None:
        """The run has started, or resumed after this epoch; later epochs may be logged already."""
        self._begun = True
        self._about.epoch = max(self._about.epoch, status.epoch)

    def tell(self, status: Status) -> None:
        """Log a committed epoch: rows read and written, and tuples that boxes lost."""
        self._about.epoch = status.epoch
        before = self._last or status.before
        read, out, lost_before = (0, 0, {}) if before is None else _counts(before)
        now_read, now_out, now_lost = _counts(status)
        done = {"read": now_read - read, "out": now_out - out}
        _log.info("epoch %d", status.epoch, extra={"fields": done})
        for name, counts in now_lost.items():
            known = lost_before.get(name, {})
            lost = {kind: number - known.get(kind, 0) for kind, number in counts.items()}
            if any(lost.values()):
                _log.warning("tuples were lost", extra={"fields": {"box": name, **lost}})
        self._last = status

    def fail(self, error: BoxcarsError) -> None:
        """Log the failure of a run: before its start, or in the epoch after the last one."""
        named = named_in(str(error))
        self._about.epoch += self._begun
        _log.error(str(error), extra={"fields": {"box": named} if named else {}})


def _counts(status: Status) -> tuple[int, int, Mapping[str, Mapping[str, int]]]:
    """Rows read, rows written, and tuples lost, as totals of the checkpoint."""
    return sum(status.read.values()), sum(status.out.values()), status.lost


@dataclass
class _About:
    """The context of every line: the run, and its last epoch."""

    run: str
    epoch: int = 0


class _Lines(logging.Formatter):
    """Base of the formatters: adds the context to each line."""

    def __init__(self, about: _About) -> None:
        super().__init__()
        self._about = about

    def fields(self, record: logging.LogRecord) -> dict[str, Any]:
        """The structured fields of a record."""
        box = current_box()
        found: dict[str, Any] = {} if box is None else {"box": box}
        return found | getattr(record, "fields", {})


class _Text(_Lines):
    """``2026-11-16T09:00:00Z fraud: epoch 7 (read 100, out 3)``."""

    def format(self, record: logging.LogRecord) -> str:
        """A line of text, with its fields in parentheses."""
        fields = ", ".join(f"{name} {value}" for name, value in self.fields(record).items())
        text = f"{_time(record)} {self._about.run}: {record.getMessage()}"
        return visible(f"{text} ({fields})" if fields else text).replace("\n", "\\n")


class _Json(_Lines):
    """A JSON object: time, level, run, last epoch, and the box, if the line concerns one."""

    def format(self, record: logging.LogRecord) -> str:
        """A JSON line."""
        head = {"time": _time(record), "level": record.levelname.lower(), **asdict(self._about)}
        return json.dumps(head | {"text": record.getMessage()} | self.fields(record))


def _time(record: logging.LogRecord) -> str:
    moment = datetime.fromtimestamp(record.created, UTC)
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")


class Metrics:
    """Appends the statistics of a run to a file every second, one JSON object per line."""

    def __init__(self, run: Run, path: Path) -> None:
        self._run, self._path, self._over = run, path, threading.Event()
        with writing(path):
            path.open("a").close()
        self._thread = threading.Thread(target=self._work, name="boxcars-metrics", daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._thread.join()
        self._write()

    def _work(self) -> None:
        while not self._over.wait(_EVERY):
            self._write()

    def _write(self) -> None:
        line: dict[str, Any] = {"time": datetime.now(UTC).isoformat(timespec="milliseconds")}
        line |= asdict(self._run.status()) | self._run.stats().to_plain()
        with self._path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(line) + "\n")
