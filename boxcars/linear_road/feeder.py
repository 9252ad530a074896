"""The data driver: writes tuples to files when they are due.

Up to ``start`` tuples are written as fast as they are read (fast-forward). From there on a tuple of
second t is written when the clock reaches t; the clock runs ``speed`` times as fast as real time.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from time import perf_counter

import polars as pl

from boxcars.inject import Batch, Folders, Injector, Pace

AHEAD = 3_000_000
"""Maximum number of unread tuples in the fast-forward."""
ROAD = "road"
"""The name of the input."""
_BEAT = 0.01
"""Seconds between two checks whether more tuples may be written."""


class Clock:
    """The event-time clock; it is stopped until it is started."""

    def __init__(self, start: int, speed: float) -> None:
        self.start, self.speed = start, speed
        self._started_at: float | None = None

    def begin(self) -> None:
        """Start the clock at ``start``."""
        self._started_at = perf_counter()

    @property
    def running(self) -> bool:
        """Whether it has been started."""
        return self._started_at is not None

    def now(self) -> float:
        """The current event time in seconds."""
        if self._started_at is None:
            return float(self.start)
        return self.start + (perf_counter() - self._started_at) * self.speed

    def until(self, time: float) -> float:
        """Wall-clock seconds until the given event time."""
        return max((time - self.now()) / self.speed, 0.0)


class Feeder(Pace):
    """Write tuples to a folder with an injector, and remove files that have been read."""

    def __init__(self, frames: Iterator[pl.DataFrame], folder: Path, clock: Clock) -> None:
        self._clock, self._folders = clock, Folders({ROAD: folder})
        self._injector = Injector(({ROAD: frame} for frame in frames), self._folders, self)
        self.read = 0
        self.time = 0
        """The last second that was written."""

    @property
    def written(self) -> int:
        """The number of tuples written."""
        return self._injector.sent

    @property
    def error(self) -> BaseException | None:
        """The error of the injector, if any."""
        return self._injector.error

    def start(self) -> None:
        """Start writing in the background."""
        self._injector.start()

    def stop(self) -> None:
        """Stop writing."""
        self._injector.stop()

    def acknowledge(self, read: int) -> None:
        """The first ``read`` tuples are committed: remove their files."""
        self.read = read
        self._folders.remove(ROAD, read)

    def due(self, batch: Batch) -> float:
        """Seconds to wait: for the reader in the fast-forward, and for the clock after it."""
        frame, ahead = batch[ROAD], self.written - self.read
        first = int(frame["time"][0]) if frame.height else self.time
        if first < self._clock.start:
            return _BEAT if ahead > AHEAD else 0.0
        if not self._clock.running:
            if ahead:
                return _BEAT
            self._clock.begin()
        return self._clock.until(first)

    def sent(self, batch: Batch) -> None:
        """Record the time of the last written tuple."""
        frame = batch[ROAD]
        self.time = int(frame["time"][-1]) if frame.height else self.time
