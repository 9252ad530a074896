"""The data driver: tuples become files of a folder when their time has come.

Up to ``start`` they come as fast as they are read (fast-forward). From there on a tuple of second t
is there when the clock says t, and the clock goes ``speed`` times as fast as that on the wall.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from time import perf_counter

import polars as pl

from boxcars.inject import Batch, Folders, Injector, Pace

AHEAD = 3_000_000
"""Tuples that fast-forward may be ahead of whoever reads them."""
ROAD = "road"
"""The input."""
_BEAT = 0.01
"""Seconds after which it looks again whether there is room."""


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


class Feeder(Pace):
    """Lets the injector write tuples to a folder, and removes what has been read."""

    def __init__(self, frames: Iterator[pl.DataFrame], folder: Path, clock: Clock) -> None:
        self._clock, self._folders = clock, Folders({ROAD: folder})
        self._injector = Injector(({ROAD: frame} for frame in frames), self._folders, self)
        self.read = 0
        self.time = 0
        """The last second that was written."""

    @property
    def written(self) -> int:
        """How many tuples have been written."""
        return self._injector.sent

    @property
    def error(self) -> BaseException | None:
        """What went wrong, if anything has."""
        return self._injector.error

    def start(self) -> None:
        """Feed in the background."""
        self._injector.start()

    def stop(self) -> None:
        """Write nothing more."""
        self._injector.stop()

    def hear(self, read: int) -> None:
        """So many tuples were read and will not be read again."""
        self.read = read
        self._folders.remove(ROAD, read)

    def due(self, batch: Batch) -> float:
        """In the fast-forward when there is room for it, and then by the clock."""
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
        """It is that late now."""
        frame = batch[ROAD]
        self.time = int(frame["time"][-1]) if frame.height else self.time
