"""Batches of a journal: numbered folders in the checkpoint with data of an external system.

A batch appears atomically, by a rename, and stays until no recovery needs it. So adding it is
idempotent, and it can be read again. It has a list of its files with their checksums, which are
verified before a run reads from it: neither a changed nor a missing file passes unnoticed.
"""

from __future__ import annotations

import shutil
import threading
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from zlib import crc32

from boxcars.connectors.documents import CHANGED, damaged, seal, unseal
from boxcars.connectors.files import sync_paths, writing

AHEAD = 8
"""Unread batches, above which the writer blocks."""

BATCHES = "batches"
"""The folder of the batches of an input."""
_SUMS = "sums"
"""The file of a batch that lists the others."""

_PARTS = 1_000_000
"""More files than a batch has: file number = batch number * _PARTS + index of the file."""


class Batches:
    """The batches of an input. Data files have numbers as names; other files are notes."""

    def __init__(self, home: Path) -> None:
        self._staged, self._new = home.resolve() / BATCHES, home.resolve() / "_batch"
        self.closing = threading.Event()
        self._writing = threading.Lock()
        self._taken = 0
        self._verified: set[str] = set()
        """Batches that were found intact."""
        with writing(home):
            self._staged.mkdir(parents=True, exist_ok=True)

    def add(self, batch: int, fill: Callable[[Path], None]) -> None:
        """Wait for room, then let ``fill`` write the folder of a batch, unless it exists.

        When this returns, the batch survives a loss of power: its sender may forget it.
        """
        while self._unread() >= AHEAD and not self.closing.wait(0.02):
            pass
        with self._writing:
            if batch <= self.last():
                return
            shutil.rmtree(self._new, ignore_errors=True)
            with writing(self._new):
                fill(self._new)
                _list_files(self._new)
                self._new.rename(self._folder(batch))
                sync_paths([self._staged])

    def close(self) -> None:
        """Finish the batch being written, and write no more."""
        self.closing.set()
        with self._writing:
            pass

    def last(self) -> int:
        """The number of the last batch, which is never removed; -1 if there is none."""
        return max((int(folder.name) for folder in self._staged.iterdir()), default=-1)

    def note(self, batch: int, name: str) -> bytes:
        """A note in the folder of a batch, after a check."""
        folder = self._folder(batch)
        return _intact(folder, name, _sums(folder))

    def verify(self, first: int) -> None:
        """Check each batch once, from the file with a number on; raises if one is damaged."""
        folders = sorted(self._staged.iterdir())
        for folder in folders:
            if folder.name not in self._verified and int(folder.name) >= first // _PARTS:
                for name, number in _sums(folder).items():
                    if not Path(name).stem.isdecimal() or _number(folder / name) >= first:
                        _intact(folder, name, {name: number})
                self._verified.add(folder.name)
        self._verified.intersection_update(folder.name for folder in folders)

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


def _list_files(folder: Path) -> None:
    """List the files of a new batch with their checksums, and sync all of them."""
    files = sorted(folder.iterdir())
    sums = {path.name: crc32(path.read_bytes()) for path in files}
    (folder / _SUMS).write_bytes(seal("batch", sums))
    sync_paths([*files, folder / _SUMS, folder])


def _sums(folder: Path) -> dict[str, int]:
    """The checksums of the files of a batch."""
    path = folder / _SUMS
    found = unseal("batch", _read(path), str(path))
    assert isinstance(found, dict)
    return found


def _intact(folder: Path, name: str, sums: Mapping[str, int]) -> bytes:
    """Read a file of a batch; raises if it is not as it was written."""
    data = _read(folder / name)
    if crc32(data) != sums.get(name):
        raise damaged(str(folder / name), CHANGED)
    return data


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except FileNotFoundError:
        raise damaged(str(path), "there is no such file") from None
