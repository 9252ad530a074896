"""Batches: what comes from elsewhere, as numbered folders under the checkpoint.

A batch appears whole, by a rename, and stays until no recovery needs it. So whoever brings it may
bring it again, and whoever reads it can read it again.
"""

from __future__ import annotations

import shutil
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

from boxcars.connectors.files import writing

AHEAD = 8
"""How many batches may wait to be read, before whoever brings more has to wait."""

_PARTS = 1_000_000
"""More files than a batch has: the number of a file is that of its batch times this, and more."""


class Batches:
    """The batches of an input. Their files have numbers as names; others in a folder are notes."""

    def __init__(self, home: Path) -> None:
        self._staged, self._new = home.resolve() / "batches", home.resolve() / "_batch"
        self.closing = threading.Event()
        self._writing = threading.Lock()
        self._taken = 0
        with writing(home):
            self._staged.mkdir(parents=True, exist_ok=True)

    def add(self, batch: int, fill: Callable[[Path], None]) -> None:
        """Let a folder be filled for a batch, once; first wait until there is room for it."""
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
        """Nothing more is written, once the batch that is being written is there."""
        self.closing.set()
        with self._writing:
            pass

    def last(self) -> int:
        """The number of the last batch that has come, which is never removed; -1 if none has."""
        return max((int(folder.name) for folder in self._staged.iterdir()), default=-1)

    def note(self, batch: int, name: str) -> Path:
        """A note in the folder of a batch."""
        return self._folder(batch) / name

    def take(self, file: int) -> None:
        """What is before this file has been read, and makes room for more."""
        self._taken = file

    def files(self, first: int) -> Iterator[tuple[int, Path]]:
        """The files from a number on, in the order of the batches and of their names."""
        for folder in sorted(self._staged.iterdir()):
            for path in _data(folder):
                number = _number(path)
                if number >= first:
                    yield number, path

    def remove(self, first: int) -> None:
        """Remove the files before a number, and batches without any, but not the last one."""
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
    """The files of a batch; none if another thread has removed it."""
    try:
        return sorted(path for path in folder.iterdir() if path.stem.isdecimal())
    except FileNotFoundError:
        return []


def _number(path: Path) -> int:
    return int(path.parent.name) * _PARTS + int(path.stem)
