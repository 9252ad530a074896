"""Window assigners: to which windows a tuple belongs, for windows that fire early.

Windows of a key are numbered in order of appearance, and a tuple lies in a range of them, ``first``
to ``last`` (none if last < first). Neither decreases from tuple to tuple, so the tuples of a window
are contiguous.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import polars as pl
from numba import njit
from numpy.typing import NDArray

from boxcars.kernels.columns.folds import Mask, Numbers
from boxcars.kernels.windows.axis import Axis

Ints = NDArray[np.int64]
Facts = Mapping[str, NDArray[Any]]
"""Per-key state of an assigner: one value per key, undefined for new keys (see ``known``)."""

GREATEST = "greatest"
"""The greatest value of a key so far: a tuple with a lesser one is late."""

NEVER, FRONTIER, NEXT, FULL = range(4)
"""What closes a window: nothing, time, the next tuple of its key, or its last tuple."""


@dataclass(frozen=True)
class Assignment:
    """The windows of each tuple, and the new per-key facts."""

    first: Ints
    last: Ints
    facts: Facts


class Assigner(Protocol):
    """Assigns tuples to windows of one kind."""

    @property
    def closing(self) -> int:
        """What closes a window: one of the constants above."""

    @property
    def full(self) -> int:
        """Number of tuples of a full window, if that closes it."""

    def facts(self, time: pl.DataType, value: pl.DataType) -> Mapping[str, pl.DataType]:
        """Names and types of the per-key facts."""

    def assign(
        self, times: Numbers, values: pl.Series, starts: Ints, known: Mask, facts: Facts
    ) -> Assignment:
        """Assign tuples that are sorted by key."""


@dataclass(frozen=True)
class Landmark:
    """One window that never closes."""

    closing: int = NEVER
    full: int = 0

    def facts(self, time: pl.DataType, value: pl.DataType) -> Mapping[str, pl.DataType]:
        """No facts."""
        return {}

    def assign(
        self, times: Numbers, values: pl.Series, starts: Ints, known: Mask, facts: Facts
    ) -> Assignment:
        """Assign all tuples to window 0."""
        nothing = np.zeros(len(times), np.int64)
        return Assignment(nothing, nothing, {})


@dataclass(frozen=True)
class ByAxis:
    """Windows along an axis, by time or by the value of a field."""

    axis: Axis
    closing: int
    full: int = 0

    def facts(self, time: pl.DataType, value: pl.DataType) -> Mapping[str, pl.DataType]:
        """The greatest value so far, unless time closes windows."""
        return {} if self.closing == FRONTIER else {GREATEST: value}

    def assign(
        self, times: Numbers, values: pl.Series, starts: Ints, known: Mask, facts: Facts
    ) -> Assignment:
        """Assign by the pane of each tuple; no window starts before the origin."""
        pane = self.axis.pane_of(values)
        first = np.maximum((pane - self.axis.size) // self.axis.advance + 1, 0)
        after: Facts = {}
        if self.closing != FRONTIER:
            greatest = facts[GREATEST].copy()
            busy = np.diff(starts) > 0
            greatest[busy] = values.to_physical().to_numpy()[starts[1:][busy] - 1]
            after = {GREATEST: greatest}
        return Assignment(first, pane // self.axis.advance, after)


@dataclass(frozen=True)
class ByRun:
    """Runs: windows of consecutive equal keys. To the assigner all tuples have one key."""

    closing: int = NEXT
    full: int = 0

    def facts(self, time: pl.DataType, value: pl.DataType) -> Mapping[str, pl.DataType]:
        """The number of the current run."""
        return {"run": pl.Int64()}

    def assign(
        self, times: Numbers, values: pl.Series, starts: Ints, known: Mask, facts: Facts
    ) -> Assignment:
        """Assign by run; ``values`` is 1 where a run starts."""
        run = facts["run"][0] if known[0] else -1
        number = run + np.cumsum(values.to_numpy())
        return Assignment(number, number, {"run": number[-1:] if len(number) else np.array([run])})


@dataclass(frozen=True)
class ByCount:
    """Windows of ``full`` tuples every ``advance`` tuples; a timeout starts a new session."""

    full: int
    advance: int
    timeout: Any
    closing: int = FULL

    def facts(self, time: pl.DataType, value: pl.DataType) -> Mapping[str, pl.DataType]:
        """Number of the next tuple, first window of its session, and last time."""
        return {"index": pl.Int64(), "base": pl.Int64(), "time": time}

    def assign(
        self, times: Numbers, values: pl.Series, starts: Ints, known: Mask, facts: Facts
    ) -> Assignment:
        """Assign by the number of each tuple in its session."""
        timeout = times.dtype.type(-1 if self.timeout is None else self.timeout)
        index, base, time = (facts[name].copy() for name in ("index", "base", "time"))
        first, last = _count(
            times, starts, known, index, base, time, timeout, self.full, self.advance
        )
        return Assignment(first, last, {"index": index, "base": base, "time": time})


@njit(cache=True, nogil=True)
def _count(
    times: Numbers,
    starts: Ints,
    known: Mask,
    index: Ints,
    base: Ints,
    time: Numbers,
    timeout: Any,
    size: int,
    advance: int,
) -> tuple[Ints, Ints]:
    """The windows of each tuple; updates ``index``, ``base`` and ``time`` of each key."""
    first, last = np.empty(len(times), np.int64), np.empty(len(times), np.int64)
    for key in range(len(starts) - 1):
        n, origin = (index[key], base[key]) if known[key] else (0, 0)
        for i in range(starts[key], starts[key + 1]):
            before = time[key] if i == starts[key] else times[i - 1]
            if n > 0 and timeout >= 0 and times[i] >= before + timeout:
                origin += (n - 1) // advance + 1
                n = 0
            first[i] = origin + max((n - size) // advance + 1, 0)
            last[i] = origin + n // advance
            n += 1
        if starts[key + 1] > starts[key]:
            index[key], base[key], time[key] = n, origin, times[starts[key + 1] - 1]
    return first, last
