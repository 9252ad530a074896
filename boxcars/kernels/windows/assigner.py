"""To which windows a tuple belongs, for windows that report while they grow.

Windows of a key are numbered as they come, and a tuple lies in a range of them, ``first`` to
``last`` (none if last < first). Neither goes down from tuple to tuple, so the tuples of a window
stand in a row.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import polars as pl
from numba import njit
from numpy.typing import NDArray

from boxcars.kernels.columns.folds import Numbers, Truths
from boxcars.kernels.windows.axis import Axis

Ints = NDArray[np.int64]
Facts = Mapping[str, NDArray[Any]]
"""What is known of each key: a value for each, none for keys that are new (see ``known``)."""

GREATEST = "greatest"
"""The fact how far the values of a key have come: a tuple with a lesser one is late."""

NEVER, FRONTIER, NEXT, FULL = range(4)
"""What closes a window: nothing, time, the next tuple of its key, or its last tuple."""


@dataclass(frozen=True)
class Placed:
    """The windows of each tuple, and the new facts of each key."""

    first: Ints
    last: Ints
    facts: Facts


class Placing(Protocol):
    """A kind of window."""

    @property
    def closing(self) -> int:
        """What closes a window."""

    @property
    def full(self) -> int:
        """With how many tuples a window is full, if that closes it."""

    def facts(self, time: pl.DataType, value: pl.DataType) -> Mapping[str, pl.DataType]:
        """The names and types of the facts about a key."""

    def place(
        self, times: Numbers, values: pl.Series, starts: Ints, known: Truths, facts: Facts
    ) -> Placed:
        """Place tuples that are sorted by key."""


@dataclass(frozen=True)
class Landmark:
    """One window for ever."""

    closing: int = NEVER
    full: int = 0

    def facts(self, time: pl.DataType, value: pl.DataType) -> Mapping[str, pl.DataType]:
        """None."""
        return {}

    def place(
        self, times: Numbers, values: pl.Series, starts: Ints, known: Truths, facts: Facts
    ) -> Placed:
        """All in window 0."""
        nothing = np.zeros(len(times), np.int64)
        return Placed(nothing, nothing, {})


@dataclass(frozen=True)
class Along:
    """Windows along an axis, by time or by the value of a field."""

    axis: Axis
    closing: int
    full: int = 0

    def facts(self, time: pl.DataType, value: pl.DataType) -> Mapping[str, pl.DataType]:
        """How far the values have come."""
        return {} if self.closing == FRONTIER else {GREATEST: value}

    def place(
        self, times: Numbers, values: pl.Series, starts: Ints, known: Truths, facts: Facts
    ) -> Placed:
        """By the pane of each tuple; there is no window before the origin."""
        pane = self.axis.pane_of(values)
        first = np.maximum((pane - self.axis.size) // self.axis.advance + 1, 0)
        after: Facts = {}
        if self.closing != FRONTIER:
            greatest = facts[GREATEST].copy()
            busy = np.diff(starts) > 0
            greatest[busy] = values.to_physical().to_numpy()[starts[1:][busy] - 1]
            after = {GREATEST: greatest}
        return Placed(first, pane // self.axis.advance, after)


@dataclass(frozen=True)
class Runs:
    """Windows of equal keys in a row; all tuples are those of one key here."""

    closing: int = NEXT
    full: int = 0

    def facts(self, time: pl.DataType, value: pl.DataType) -> Mapping[str, pl.DataType]:
        """The number of the run that goes on."""
        return {"run": pl.Int64()}

    def place(
        self, times: Numbers, values: pl.Series, starts: Ints, known: Truths, facts: Facts
    ) -> Placed:
        """``values`` has a 1 where a run starts."""
        run = facts["run"][0] if known[0] else -1
        number = run + np.cumsum(values.to_numpy())
        return Placed(number, number, {"run": number[-1:] if len(number) else np.array([run])})


@dataclass(frozen=True)
class Counted:
    """Windows of ``full`` tuples, of which ``advance`` go; a timeout starts anew."""

    full: int
    advance: int
    timeout: Any
    closing: int = FULL

    def facts(self, time: pl.DataType, value: pl.DataType) -> Mapping[str, pl.DataType]:
        """The number of the next tuple and of its session's first window, and the last time."""
        return {"index": pl.Int64(), "base": pl.Int64(), "time": time}

    def place(
        self, times: Numbers, values: pl.Series, starts: Ints, known: Truths, facts: Facts
    ) -> Placed:
        """By the number of each tuple in its session."""
        timeout = times.dtype.type(-1 if self.timeout is None else self.timeout)
        index, base, time = (facts[name].copy() for name in ("index", "base", "time"))
        first, last = _count(
            times, starts, known, index, base, time, timeout, self.full, self.advance
        )
        return Placed(first, last, {"index": index, "base": base, "time": time})


@njit(cache=True, nogil=True)
def _count(
    times: Numbers,
    starts: Ints,
    known: Truths,
    index: Ints,
    base: Ints,
    time: Numbers,
    timeout: Any,
    size: int,
    advance: int,
) -> tuple[Ints, Ints]:
    """The windows of each tuple; ``index``, ``base`` and ``time`` of each key move on."""
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
