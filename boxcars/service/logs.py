"""Logs of a run: as lines for people or for machines, and its statistics as JSON lines."""

from __future__ import annotations

import json
import logging
import re
import sys
import threading
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from boxcars.connectors.files import writing
from boxcars.connectors.log_context import about_whom
from boxcars.model.problem import BoxcarsError, visible

if TYPE_CHECKING:
    from boxcars.engine.run import Run, Status

_EVERY = 1.0
"""Seconds between two lines of statistics."""
_BOX = re.compile(r"\b(?:box|input|output) '([^']+)'")
"""Whom an error is about."""
_log = logging.getLogger("boxcars.run")


class LogKind(StrEnum):
    """How logs look."""

    TEXT = "text"
    JSON = "json"


class RunLog:
    """What a run tells on the error output: its epochs, and each trouble with the box it is about.

    Without a kind only troubles are told, as text.
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
        """Tell something else: in the log, or else as it is."""
        if self.wanted:
            _log.info(text)
        else:
            print(text, file=sys.stderr)

    def begin(self, status: Status) -> None:
        """The run goes on behind this epoch, or another that was told of since."""
        self._begun = True
        self._about.epoch = max(self._about.epoch, status.epoch)

    def tell(self, status: Status) -> None:
        """An epoch is over: what it read and gave, and what boxes lost in it."""
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
        """The run has failed: before it began, or in the epoch behind the last one."""
        named = _BOX.search(str(error))
        self._about.epoch += self._begun
        _log.error(str(error), extra={"fields": {"box": named[1]} if named else {}})


def _counts(status: Status) -> tuple[int, int, Mapping[str, Mapping[str, int]]]:
    """What was read, what came out, and what was lost, since the checkpoint began."""
    return sum(status.read.values()), sum(status.out.values()), status.lost


@dataclass
class _About:
    """What every line says: the run, and its last epoch."""

    run: str
    epoch: int = 0


class _Lines(logging.Formatter):
    """Lines that say what they are about."""

    def __init__(self, about: _About) -> None:
        super().__init__()
        self._about = about

    def fields(self, record: logging.LogRecord) -> dict[str, Any]:
        """What it says besides the words."""
        box = about_whom()
        found: dict[str, Any] = {} if box is None else {"box": box}
        return found | getattr(record, "fields", {})


class _Text(_Lines):
    """``2026-11-16T09:00:00Z fraud: epoch 7 (read 100, out 3)``."""

    def format(self, record: logging.LogRecord) -> str:
        """A line for people."""
        behind = ", ".join(f"{name} {value}" for name, value in self.fields(record).items())
        text = f"{_time(record)} {self._about.run}: {record.getMessage()}"
        return visible(f"{text} ({behind})" if behind else text).replace("\n", "\\n")


class _Json(_Lines):
    """A JSON object: the time, the level, the run, its last epoch and the box, if it has one."""

    def format(self, record: logging.LogRecord) -> str:
        """A line for machines."""
        head = {"time": _time(record), "level": record.levelname.lower(), **asdict(self._about)}
        return json.dumps(head | {"text": record.getMessage()} | self.fields(record))


def _time(record: logging.LogRecord) -> str:
    moment = datetime.fromtimestamp(record.created, UTC)
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")


class Metrics:
    """Appends the statistics of a run to a file, a JSON object a line, every second."""

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
