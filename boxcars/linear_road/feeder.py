"""The data driver: tuples become files of a folder when their time has come.

Up to ``start`` they come as fast as they are read (fast-forward). From there on a tuple of second t
is there when the clock says t, and the clock goes ``speed`` times as fast as that on the wall.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Iterator
from pathlib import Path
from time import perf_counter

import polars as pl

from boxcars.connect.files import replacing
from boxcars.connect.listed import COMPLETE

AHEAD = 3_000_000
"""Tuples that fast-forward may be ahead of whoever reads them."""


class Clock:
    """The time of the road: it stands until it is started."""

    def __init__(self, start: int, speed: float) -> None:
        self.start, self.speed = start, speed
        self._begun: float | None = None

    def begin(self) -> None:
        """Now it is the time of the start."""
        self._begun = perf_counter()

    @property
    def running(self) -> bool:
        """Whether it goes."""
        return self._begun is not None

    def now(self) -> float:
        """The second of the road, as a float."""
        if self._begun is None:
            return float(self.start)
        return self.start + (perf_counter() - self._begun) * self.speed

    def until(self, time: float) -> float:
        """The seconds on the wall until it is that time."""
        return max((time - self.now()) / self.speed, 0.0)


class Feeder:
    """Writes frames to a folder, and removes what has been read."""

    def __init__(self, frames: Iterator[pl.DataFrame], folder: Path, clock: Clock) -> None:
        self._frames, self._folder, self._clock = frames, folder, clock
        self._files: deque[tuple[int, Path]] = deque()
        self._over, self._heard = threading.Event(), threading.Condition()
        self.written = self.read = 0
        self.time = 0
        """The last second that was written."""
        self.error: BaseException | None = None
        folder.mkdir(parents=True)

    def start(self) -> None:
        """Feed in the background."""
        threading.Thread(target=self._feed, name="boxcars-feeder", daemon=True).start()

    def stop(self) -> None:
        """Write nothing more."""
        self._over.set()
        self.hear(self.read)

    def hear(self, read: int) -> None:
        """So many tuples were read and will not be read again."""
        with self._heard:
            self.read = read
            self._heard.notify_all()
        while self._files and self._files[0][0] <= read:
            self._files.popleft()[1].unlink(missing_ok=True)

    def _feed(self) -> None:
        try:
            for number, frame in enumerate(self._frames):
                if not self._is_due(frame):
                    return
                self._write(number, frame)
            (self._folder / COMPLETE).touch()
        except BaseException as error:
            self.error = error

    def _is_due(self, frame: pl.DataFrame) -> bool:
        """Wait until a frame may be written; False if there is nothing more to write."""
        first = int(frame["time"][0]) if frame.height else self.time
        if first < self._clock.start:
            self._wait_for(self.written - AHEAD)
        else:
            if not self._clock.running:
                self._wait_for(self.written)
                self._clock.begin()
            self._over.wait(self._clock.until(first))
        return not self._over.is_set()

    def _wait_for(self, read: int) -> None:
        with self._heard:
            self._heard.wait_for(lambda: self.read >= read or self._over.is_set())

    def _write(self, number: int, frame: pl.DataFrame) -> None:
        path = self._folder / f"{number:08d}.parquet"
        with replacing(path) as part:
            frame.write_parquet(part, compression="lz4")
        self.written += frame.height
        self.time = int(frame["time"][-1]) if frame.height else self.time
        self._files.append((self.written, path))
