"""The pace of an injector: when the next batch is due."""

from __future__ import annotations

import threading
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping
from time import perf_counter

import numpy as np
import polars as pl
from numpy.typing import NDArray

from boxcars.model.problem import Wrong

Batch = Mapping[str, pl.DataFrame]
"""Rows of each input that are injected together."""
_TICK = 0.1
"""Seconds of event time (at speed 1) whose tuples are sent in one batch."""


class Pace(ABC):
    """Decides when a batch is due. Several injectors may share one."""

    @abstractmethod
    def due(self, batch: Batch) -> float:
        """Seconds until the next batch may be sent; called again after they have passed."""

    def sent(self, batch: Batch) -> None:
        """Called after a batch was sent."""
        return

    def cut(self, batches: Iterable[Batch]) -> Iterable[Batch]:
        """Split batches whose tuples are not all due at the same time."""
        return batches

    def resume(self) -> None:
        """Continue after a pause; tuples missed during the pause are not caught up."""
        return


class Unthrottled(Pace):
    """Every batch is due immediately."""

    def due(self, batch: Batch) -> float:
        """Zero."""
        return 0.0


class AtRate(Pace):
    """A fixed number of tuples per second over all inputs; the rate may change at any time."""

    def __init__(self, rate: float, clock: Callable[[], float] = perf_counter) -> None:
        self._clock, self._lock = clock, threading.Lock()
        self._since, self._sent = clock(), 0
        self._rate = _positive(rate)

    @property
    def rate(self) -> float:
        """Tuples per second."""
        return self._rate

    def change(self, rate: float) -> None:
        """Use another rate from now on; a backlog of the old rate is not caught up."""
        with self._lock:
            self._rate = _positive(rate)
            self._since, self._sent = self._clock(), 0

    def resume(self) -> None:
        """Continue at the same rate from now."""
        self.change(self._rate)

    def due(self, batch: Batch) -> float:
        """Seconds until the tuples sent so far are worth the elapsed time at this rate."""
        with self._lock:
            return max(self._since + self._sent / self._rate - self._clock(), 0.0)

    def sent(self, batch: Batch) -> None:
        """Count its tuples."""
        with self._lock:
            self._sent += size(batch)


class ByTime(Pace):
    """Replay by the timestamps of the data, ``speed`` times as fast, starting immediately.

    ``fields`` names the time field of each input: a number of seconds, or a timestamp.
    """

    def __init__(
        self,
        fields: Mapping[str, str],
        speed: float = 1.0,
        clock: Callable[[], float] = perf_counter,
    ) -> None:
        self._fields, self._speed = fields, _positive(speed)
        self._clock, self._lock = clock, threading.Lock()
        self._began: tuple[float, float] | None = None

    def change(self, speed: float) -> None:
        """Use another speed from the next batch on."""
        with self._lock:
            self._speed, self._began = _positive(speed), None

    def resume(self) -> None:
        """Continue at the same speed from the next batch on."""
        self.change(self._speed)

    def due(self, batch: Batch) -> float:
        """Seconds until its first tuple is due."""
        some = {name: frame[:1] for name, frame in batch.items() if frame.height}
        firsts = [float(self._times(name, frame)[0]) for name, frame in some.items()]
        if not firsts:
            return 0.0
        with self._lock:
            if self._began is None:
                self._began = self._clock(), min(firsts)
            began, first = self._began
            return max(began + (min(firsts) - first) / self._speed - self._clock(), 0.0)

    def cut(self, batches: Iterable[Batch]) -> Iterator[Batch]:
        """Split batches so that each covers a tick; a late tuple stays with those before it.

        >>> calls = pl.DataFrame({"t": [1, 2, 2, 9, 8]})
        >>> [batch["a"]["t"].to_list() for batch in ByTime({"a": "t"}).cut([{"a": calls}])]
        [[1], [2, 2], [9, 8]]
        """
        for batch in batches:
            frames = {name: frame for name, frame in batch.items() if frame.height}
            times = {name: self._times(name, frame) for name, frame in frames.items()}
            at = dict.fromkeys(frames, 0)
            while left := [name for name in frames if at[name] < frames[name].height]:
                until = min(times[name][at[name]] for name in left) + _TICK * self._speed
                ends = {name: int(np.searchsorted(times[name], until, "right")) for name in left}
                yield {name: frames[name][at[name] : ends[name]] for name in left}
                at |= ends

    def _times(self, name: str, frame: pl.DataFrame) -> NDArray[np.float64]:
        """Due times in seconds of event time, never decreasing; nulls take a neighbor's time."""
        times = frame[self._fields[name]]
        seconds = times.dt.epoch("us") / 1e6 if times.dtype.is_temporal() else times
        known = seconds.cast(pl.Float64).fill_nan(None)
        filled = known.forward_fill().backward_fill().fill_null(0)
        return np.maximum.accumulate(filled.to_numpy())


def size(batch: Batch) -> int:
    """Number of tuples in a batch.

    >>> size({"a": pl.DataFrame({"t": [1, 2]}), "b": pl.DataFrame({"t": [3]})})
    3
    """
    return sum(frame.height for frame in batch.values())


def _positive(number: float) -> float:
    if not 0 < number < float("inf"):
        raise Wrong(f"expected a rate or speed above 0, got {number}.")
    return number
