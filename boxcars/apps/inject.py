"""The load injector of an application: it writes chunks of data to folders, at a pace."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path
from time import perf_counter

from boxcars.apps.app import Chunk, Feed
from boxcars.apps.generate import CHUNK
from boxcars.connect.files import replacing
from boxcars.connect.listed import COMPLETE

_BEAT = 0.25
"""Seconds between two files of an input when there is a pace."""


class Injector:
    """Writes a feed to a folder for each input, ``rate`` tuples a second or as fast as it can."""

    def __init__(self, feed: Feed, folders: dict[str, Path], rate: float | None = None) -> None:
        self._feed, self._folders, self._rate = feed, folders, rate
        self.written = 0
        self._files = 0
        self._over = threading.Event()
        self.error: BaseException | None = None
        for folder in folders.values():
            folder.mkdir(parents=True)

    def inject(self, tell: Callable[[int], None] = lambda _: None) -> None:
        """Write all of it, and say after each chunk how much there is."""
        most = CHUNK if self._rate is None else max(int(self._rate * _BEAT), 1)
        begun = perf_counter()
        for chunk in self._feed.chunks:
            for part in _cut(chunk, most):
                if self._rate is not None:
                    self._over.wait(max(begun + self.written / self._rate - perf_counter(), 0))
                if self._over.is_set():
                    return
                self._write(part)
                tell(self.written)
        for folder in self._folders.values():
            (folder / COMPLETE).touch()

    def start(self) -> threading.Thread:
        """Write in the background; what goes wrong is kept in ``error``."""

        def work() -> None:
            try:
                self.inject()
            except BaseException as error:
                self.error = error

        thread = threading.Thread(target=work, name="boxcars-injector", daemon=True)
        thread.start()
        return thread

    def stop(self) -> None:
        """Write nothing more."""
        self._over.set()

    def _write(self, chunk: Chunk) -> None:
        self._files += 1
        for name, frame in chunk.items():
            if frame.height:
                with replacing(self._folders[name] / f"{self._files:08d}.parquet") as part:
                    frame.write_parquet(part)
            self.written += frame.height


def _cut(chunk: Chunk, most: int) -> list[Chunk]:
    """A chunk in pieces of about so many tuples, each input in the same share."""
    pieces = -(-sum(frame.height for frame in chunk.values()) // most)
    return [
        {
            name: frame[frame.height * n // pieces : frame.height * (n + 1) // pieces]
            for name, frame in chunk.items()
        }
        for n in range(pieces)
    ]
