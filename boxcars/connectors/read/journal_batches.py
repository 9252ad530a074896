"""Batches of a journal: numbered folders in the checkpoint with data of an external system.

A batch appears atomically, by a rename, and stays until no recovery needs it. So adding it is
idempotent, and it can be read again.
"""

from __future__ import annotations

import shutil
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

from boxcars.connectors.files import writing

AHEAD = 8
"""Unread batches, above which the writer blocks."""

_PARTS = 1_000_000
"""More files than a batch has: file number = batch number * _PARTS + index of the file."""


class Batches:
    """The batches of an input. Data files have numbers as names; other files are notes."""

    def __init__(self, home: Path) -> None:
        self._staged, self._new = home.resolve() / "batches", home.resolve() / "_batch"
        self.closing = threading.Event()
        self._writing = threading.Lock()
        self._taken = 0
        with writing(home):
            self._staged.mkdir(parents=True, exist_ok=True)

    def add(self, batch: int, fill: Callable[[Path], None]) -> None:
        """Wait for room, then let ``fill`` write the folder of a batch, unless it exists."""
        while self._unread() >= AHEAD and not self.closing.wait(0.02):
            pass
        with self._writing:
            if batch <= self.last():
                return
            shutil.rmtree(self._new, ignore_errors=True)
            with writing(self._new):
                fill(self._new)
                self._new.rename(self._folder(batch))

    def close(self) -> None:
        """Finish the batch being written, and write no more."""
        self.closing.set()
        with self._writing:
            pass

    def last(self) -> int:
        """The number of the last batch, which is never removed; -1 if there is none."""
        return max((int(folder.name) for folder in self._staged.iterdir()), default=-1)

    def note(self, batch: int, name: str) -> Path:
        """The path of a note in the folder of a batch."""
        return self._folder(batch) / name

    def take(self, file: int) -> None:
        """Mark all files before this one as read, which makes room for more batches."""
        self._taken = file

    def files(self, first: int) -> Iterator[tuple[int, Path]]:
        """The files from a number on, in order."""
        for folder in sorted(self._staged.iterdir()):
            for path in _data(folder):
                number = _number(path)
                if number >= first:
                    yield number, path

    def remove(self, first: int) -> None:
        """Remove the files before a number, and empty batches, but never the last batch."""
        last = self.last()
        for folder in sorted(self._staged.iterdir()):
            if int(folder.name) * _PARTS > first:
                return
            for path in _data(folder):
                if _number(path) < first:
                    path.unlink()
            if int(folder.name) < last and not _data(folder):
                shutil.rmtree(folder)

    def _folder(self, batch: int) -> Path:
        return self._staged / f"{batch:012d}"

    def _unread(self) -> int:
        first = self._taken // _PARTS
        return sum(int(folder.name) >= first for folder in self._staged.iterdir() if _data(folder))


def _data(folder: Path) -> list[Path]:
    """The data files of a batch; none if another thread has removed it."""
    try:
        return sorted(path for path in folder.iterdir() if path.stem.isdecimal())
    except FileNotFoundError:
        return []


def _number(path: Path) -> int:
    return int(path.parent.name) * _PARTS + int(path.stem)
