"""The pace of an injector: when the next batch is due."""

from __future__ import annotations

import threading
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from datetime import datetime
from time import perf_counter

import polars as pl

from boxcars.model.problem import Wrong

Batch = Mapping[str, pl.DataFrame]
"""What is injected at once: rows of each input."""


class Pace(ABC):
    """Says when a batch is due. Several injectors may share one."""

    @abstractmethod
    def due(self, batch: Batch) -> float:
        """In how many seconds the next batch may go; it is asked again when they have passed."""

    def sent(self, batch: Batch) -> None:
        """A batch has gone."""
        return


class AsFastAsCanBe(Pace):
    """Every batch is due at once."""

    def due(self, batch: Batch) -> float:
        """At once."""
        return 0.0


class AtRate(Pace):
    """So many tuples a second, over all inputs; the rate may change at any time."""

    def __init__(self, rate: float, clock: Callable[[], float] = perf_counter) -> None:
        self._clock, self._lock = clock, threading.Lock()
        self._since, self._sent = clock(), 0
        self._rate = _positive(rate)

    @property
    def rate(self) -> float:
        """Tuples a second."""
        return self._rate

    def change(self, rate: float) -> None:
        """From now on go at another rate; what was not sent by now is not caught up."""
        with self._lock:
            self._rate = _positive(rate)
            self._since, self._sent = self._clock(), 0

    def due(self, batch: Batch) -> float:
        """When all that has gone before has had its time."""
        with self._lock:
            return max(self._since + self._sent / self._rate - self._clock(), 0.0)

    def sent(self, batch: Batch) -> None:
        """Count its tuples."""
        with self._lock:
            self._sent += size(batch)


class ByTime(Pace):
    """By the data's own timestamps, ``speed`` times as fast; the first tuple is due at once.

    ``fields`` names the timestamp of each input: a number of ``unit`` seconds, or a timestamp.
    """

    def __init__(
        self,
        fields: Mapping[str, str],
        speed: float = 1.0,
        unit: float = 1.0,
        clock: Callable[[], float] = perf_counter,
    ) -> None:
        self._fields, self._speed, self._unit = fields, _positive(speed), unit
        self._clock, self._lock = clock, threading.Lock()
        self._began: tuple[float, float] | None = None

    def change(self, speed: float) -> None:
        """From the next batch on go at another speed."""
        with self._lock:
            self._speed, self._began = _positive(speed), None

    def due(self, batch: Batch) -> float:
        """When its first tuple is."""
        firsts = [self._seconds(f[self._fields[n]][0]) for n, f in batch.items() if f.height]
        if not firsts:
            return 0.0
        with self._lock:
            if self._began is None:
                self._began = self._clock(), min(firsts)
            began, first = self._began
            return max(began + (min(firsts) - first) / self._speed - self._clock(), 0.0)

    def _seconds(self, value: float | datetime) -> float:
        return value.timestamp() if isinstance(value, datetime) else value * self._unit


def size(batch: Batch) -> int:
    """How many tuples a batch has.

    >>> size({"a": pl.DataFrame({"t": [1, 2]}), "b": pl.DataFrame({"t": [3]})})
    3
    """
    return sum(frame.height for frame in batch.values())


def _positive(number: float) -> float:
    if not 0 < number < float("inf"):
        raise Wrong(f"expected a pace above 0, got {number}.")
    return number
