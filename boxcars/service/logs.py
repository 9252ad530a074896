"""Logs of a run: as lines for people or for machines, and its statistics as JSON lines."""

from __future__ import annotations

import json
import logging
import sys
import threading
from collections.abc import Callable
from dataclasses import asdict
from datetime import UTC, datetime
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from boxcars.io.files import writing

if TYPE_CHECKING:
    from boxcars.engine.run import Run, Status

_EVERY = 1.0
"""Seconds between two lines of statistics."""
_log = logging.getLogger("boxcars.run")


class LogKind(StrEnum):
    """How logs look."""

    TEXT = "text"
    JSON = "json"


def start_logs(kind: LogKind | None, run: str) -> None:
    """Write what Boxcars logs to the error output; warnings only, if no logs are wanted."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(_Json(run) if kind is LogKind.JSON else _Text(run))
    logger = logging.getLogger("boxcars")
    logger.handlers[:] = [handler]
    logger.propagate = False
    logger.setLevel(logging.WARNING if kind is None else logging.INFO)


def log_epochs() -> Callable[[Status], None]:
    """What tells the log of each epoch."""
    before = {"read": 0, "out": 0}

    def tell(status: Status) -> None:
        read, out = sum(status.read.values()), sum(status.out.values())
        fields = {"epoch": status.epoch, "read": read - before["read"], "out": out - before["out"]}
        before.update(read=read, out=out)
        _log.info("epoch %d", status.epoch, extra={"fields": fields})

    return tell


class _Text(logging.Formatter):
    """``2026-11-16T09:00:00Z fraud: epoch 7 (read 100, out 3)``."""

    def __init__(self, run: str) -> None:
        super().__init__()
        self._run = run

    def format(self, record: logging.LogRecord) -> str:
        """A line for people."""
        fields = {n: v for n, v in getattr(record, "fields", {}).items() if n != "epoch"}
        behind = ", ".join(f"{name} {value:,}" for name, value in fields.items())
        text = f"{_time(record)} {self._run}: {record.getMessage()}"
        return f"{text} ({behind})" if behind else text


class _Json(logging.Formatter):
    """A JSON object with the time, the level, the run and, if there is one, the epoch or box."""

    def __init__(self, run: str) -> None:
        super().__init__()
        self._run = run

    def format(self, record: logging.LogRecord) -> str:
        """A line for machines."""
        head = {"time": _time(record), "level": record.levelname.lower(), "run": self._run}
        return json.dumps(head | {"text": record.getMessage()} | getattr(record, "fields", {}))


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
