"""Targets that an injector sends its batches to."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Mapping
from pathlib import Path

from boxcars.connectors.files import replacing, writing
from boxcars.connectors.read.file_reader import COMPLETE
from boxcars.inject.pace import Batch


class Target(ABC):
    """A destination of batches, used from one thread."""

    def open(self) -> None:
        """Prepare for the first batch."""
        return

    @abstractmethod
    def send(self, batch: Batch) -> None:
        """Send a batch; block while the other side is not ready."""

    def finish(self) -> None:
        """Called when all batches are sent."""
        return

    def close(self) -> None:
        """Release resources; nothing more will be sent."""
        return


class Folders(Target):
    """A folder per input, which a run follows: each batch becomes a file.

    Files that have been read can be removed.
    """

    def __init__(self, folders: Mapping[str, Path], complete: bool = True) -> None:
        self._folders, self._complete = folders, complete
        self._number = 0
        self._files: dict[str, deque[tuple[int, Path]]] = {name: deque() for name in folders}
        self._written = dict.fromkeys(folders, 0)
        for folder in folders.values():
            with writing(folder):
                folder.mkdir(parents=True, exist_ok=True)

    def send(self, batch: Batch) -> None:
        """Write a file for each input that has tuples."""
        self._number += 1
        for name, frame in batch.items():
            if frame.height:
                path = self._folders[name] / f"{self._number:08d}.parquet"
                with writing(path), replacing(path) as part:
                    frame.write_parquet(part, compression="lz4")
                self._written[name] += frame.height
                self._files[name].append((self._written[name], path))

    def finish(self) -> None:
        """Mark the folders as complete, so that followers know that no more files come."""
        if self._complete:
            for folder in self._folders.values():
                (folder / COMPLETE).touch()

    def remove(self, name: str, read: int) -> None:
        """Remove files of an input that lie within its first ``read`` tuples."""
        files = self._files[name]
        while files and files[0][0] <= read:
            files.popleft()[1].unlink(missing_ok=True)
