"""The event log of a checkpoint: one event per line, only ever appended to.

It is outside of the commit: it says what happened, and no run reads it to decide anything. A lost,
torn or damaged line loses that line only. When the file is full it becomes the previous file, and
replaces the one before, so the log always has the last few megabytes.

>>> from tempfile import mkdtemp
>>> from boxcars.events.event import Kind
>>> log = EventLog(Path(mkdtemp()))
>>> log.append(Event(0.0, Kind.STARTED, "the run started."))
>>> [(event.number, str(event.kind)) for event in log.read().events]
[(1, 'started')]
"""

from __future__ import annotations

import errno
import logging
import os
import re
import threading
from collections.abc import Iterator
from dataclasses import dataclass, replace
from io import FileIO
from pathlib import Path

from boxcars.events.event import Event, read_line

CURRENT, PREVIOUS = "events.jsonl", "events.1.jsonl"
"""The files of a log, in a checkpoint folder."""
LARGEST = 4 * 2**20
"""Bytes of a file."""
_NUMBER = re.compile(rb'\{"n":(\d{1,18}),')

_log = logging.getLogger("boxcars.events")


@dataclass(frozen=True)
class Page:
    """Events in the order of their numbers.

    ``damaged`` is the number of lines that were skipped since the event before the page.
    """

    events: tuple[Event, ...] = ()
    damaged: int = 0


class EventLog:
    """The event log in a folder: for one writer, with any number of threads, and many readers."""

    def __init__(self, folder: Path, largest: int = LARGEST) -> None:
        self._current, self._previous = folder / CURRENT, folder / PREVIOUS
        self._largest, self._lock = largest, threading.Lock()
        self._number, self._size = 0, -1
        self._failed = False

    @property
    def exists(self) -> bool:
        """Whether anything was written to it."""
        return self._current.exists() or self._previous.exists()

    def check_readable(self) -> None:
        """Raise OSError if the log is there and can't be read; a run would go on without it."""
        for path in (self._previous, self._current):
            if path.exists():
                path.open("rb").close()

    def append(self, event: Event) -> None:
        """Number and write an event. It never fails: a run goes on without its log."""
        with self._lock:
            try:
                self._append(event)
                self._failed = False
            except OSError as error:
                if not self._failed:
                    _log.warning("%s: events are not recorded: %s", self._current, error)
                self._failed, self._size = True, -1

    def _append(self, event: Event) -> None:
        with self._current.open("ab+", buffering=0) as file:
            size = file.seek(0, os.SEEK_END)
            if size != self._size:  # the first event of this process, or others have written
                size += _end_torn_line(file, size)
                self._number = self.last()
            line = replace(event, number=self._number + 1).line()
            if size and size + len(line) > self._largest:
                self._current.replace(self._previous)
                self._size = -1
                self._append(event)
                return
            if file.write(line) != len(line):
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            self._number, self._size = self._number + 1, size + len(line)

    def read(self, after: int = 0, limit: int | None = None) -> Page:
        """The events after a number; with a limit, the first ones."""
        events: list[Event] = []
        damaged = 0
        for line in self._lines():
            found = _NUMBER.match(line)
            if found and int(found[1]) <= after:  # known, or found twice: see _lines
                damaged = damaged if events else 0
                continue
            if limit is not None and len(events) >= limit:
                break
            event = read_line(line)
            if event is None:
                damaged += 1
            else:
                events.append(event)
                after = event.number
        return Page(tuple(events), damaged)

    def last(self) -> int:
        """The number of the last event; 0 if there is none."""
        for line in reversed(list(self._lines())):
            if (event := read_line(line)) is not None:
                return event.number
        return 0

    def _lines(self) -> Iterator[bytes]:
        """All complete lines, the oldest first.

        The current file is read first: if it becomes the previous one meanwhile, its lines are
        found twice, but none is missed.
        """
        current = _complete_lines(self._current)
        yield from _complete_lines(self._previous)
        yield from current

    def tail(self) -> Tail:
        """A reader that begins with the oldest event, and goes on where it ended."""
        return Tail(self)

    def signature(self) -> tuple[tuple[int, int], ...]:
        """Changes whenever an event is written."""
        return tuple(_identity(path) for path in (self._previous, self._current))


class Tail:
    """Reads what was added to a log since the last time; does little if that is nothing."""

    def __init__(self, log: EventLog) -> None:
        self._log, self._after = log, 0
        self._seen: tuple[tuple[int, int], ...] = ()

    def news(self) -> Page:
        """The new events; all of them if the log was removed and begun again."""
        signature = self._log.signature()
        if signature == self._seen:
            return Page()
        self._seen = signature
        page = self._log.read(self._after)
        if not page.events and self._log.last() < self._after:
            page, self._after = self._log.read(), 0
        if page.events:
            self._after = page.events[-1].number
        return page


def _end_torn_line(file: FileIO, size: int) -> int:
    """End the last line of a file if its writer could not; the number of bytes written."""
    if not size:
        return 0
    file.seek(-1, os.SEEK_END)
    return 0 if file.read(1) == b"\n" else file.write(b"\n")


def _complete_lines(path: Path) -> list[bytes]:
    """The lines of a file; one that is still being written, or torn at the end, is left out."""
    try:
        data = path.read_bytes()
    except OSError:
        return []
    return [line for line in data.split(b"\n")[:-1] if line]


def _identity(path: Path) -> tuple[int, int]:
    try:
        found = path.stat()
    except OSError:
        return (0, 0)
    return (found.st_ino, found.st_size)
