"""Storage: named byte objects with a compare-and-swap, the seam under a checkpoint.

>>> from tempfile import mkdtemp
>>> storage = LocalStorage(mkdtemp())
>>> storage.put("state/a", b"rows")
>>> storage.swap("head", None, b"1"), storage.swap("head", None, b"2"), storage.get("head")
(True, False, b'1')

Everything that a run must find again after a crash goes through it. What was put survives the end
of a process at once, and a loss of power once it is synced; a swap is synced by itself.
"""

from __future__ import annotations

import fcntl
import os
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO
from uuid import uuid4

from boxcars.connectors.files import UNFINISHED, sync_paths, writing
from boxcars.model.problem import BoxcarsError

Data = bytes | memoryview


class Missing(BoxcarsError):
    """There is no object of that name."""


class Storage(ABC):
    """Objects by name; names have ``/`` as folders have."""

    @abstractmethod
    def get(self, name: str, start: int = 0, length: int | None = None) -> bytes:
        """The bytes of an object, or a range of them; raises :class:`Missing`."""

    @abstractmethod
    def put(self, name: str, *parts: Data) -> None:
        """Store the parts as one object, whole or not at all; an existing one is replaced."""

    @abstractmethod
    def swap(self, name: str, old: bytes | None, new: bytes) -> bool:
        """Replace an object if it still is ``old`` (None: if there is none), durably."""

    @abstractmethod
    def list(self, folder: str) -> list[str]:
        """The names of all objects in a folder, in order."""

    @abstractmethod
    def delete(self, names: Iterable[str]) -> None:
        """Remove objects; those that are not there don't matter."""

    @abstractmethod
    def sync(self, names: Iterable[str]) -> None:
        """Return once these objects survive a loss of power."""

    def where(self, name: str) -> str:
        """An object's location, for people."""
        return name


class LocalStorage(Storage):
    """A folder of the local machine, or of a file system that all machines share.

    Without ``durable`` nothing is synced: a loss of power may take what was committed.
    """

    def __init__(self, folder: str | Path, durable: bool = True) -> None:
        self.folder, self._durable = Path(folder), durable

    def get(self, name: str, start: int = 0, length: int | None = None) -> bytes:
        """Read a file, or a range of it."""
        try:
            with (self.folder / name).open("rb") as file:
                file.seek(start)
                return file.read(-1 if length is None else length)
        except FileNotFoundError:
            raise Missing(f"{self.folder / name}: there is no such file.") from None
        except OSError as error:
            raise BoxcarsError(
                f"{self.folder / name}: can't be read: {error.strerror or error}."
            ) from None

    def put(self, name: str, *parts: Data) -> None:
        """Write a new file beside its target, then rename it."""
        path = self.folder / name
        with writing(path), _renamed(path) as file:
            for part in parts:
                file.write(part)

    def swap(self, name: str, old: bytes | None, new: bytes) -> bool:
        """Compare and rename under a lock that holds for a moment, across processes."""
        path = self.folder / name
        with writing(path), self._swapping():
            found = path.read_bytes() if path.exists() else None
            if found != old:
                return False
            with _renamed(path) as file:
                file.write(new)
                if self._durable:
                    file.flush()
                    os.fsync(file.fileno())
            if self._durable:
                sync_paths([path.parent])
        return True

    @contextmanager
    def _swapping(self) -> Iterator[None]:
        self.folder.mkdir(parents=True, exist_ok=True)
        number = os.open(self.folder, os.O_RDONLY)
        try:
            fcntl.flock(number, fcntl.LOCK_EX)
            yield
        finally:
            os.close(number)

    def list(self, folder: str) -> list[str]:
        """The files of a folder, without those that are still being written."""
        found = (self.folder / folder).glob("*") if (self.folder / folder).is_dir() else ()
        return sorted(f"{folder}/{path.name}" for path in found if not path.name.startswith("."))

    def delete(self, names: Iterable[str]) -> None:
        """Remove files."""
        for name in names:
            with writing(self.folder / name):
                (self.folder / name).unlink(missing_ok=True)

    def sync(self, names: Iterable[str]) -> None:
        """Sync the files and their folders, each folder once."""
        if self._durable:
            paths = [self.folder / name for name in names]
            sync_paths([*paths, *{path.parent for path in paths}])

    def where(self, name: str) -> str:
        """The path."""
        return str(self.folder / name)


@contextmanager
def _renamed(path: Path) -> Iterator[BinaryIO]:
    """A new file that takes the name ``path`` once it is whole."""
    part = path.with_name(f".{path.name}-{uuid4().hex}{UNFINISHED}")
    try:
        try:
            file = part.open("wb")
        except FileNotFoundError:
            path.parent.mkdir(parents=True, exist_ok=True)
            file = part.open("wb")
        with file:
            yield file
        part.replace(path)
    except BaseException:
        part.unlink(missing_ok=True)
        raise
