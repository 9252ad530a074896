"""Reordering of streams: the rules of slack, and the loops of the sorting boxes.

All are pure functions of a state and a train; results do not depend on how the stream is split.
"""

from __future__ import annotations

import heapq
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal
from math import ceil
from typing import Any

import numpy as np
import polars as pl
from numba import njit
from numpy.typing import NDArray

from boxcars.kernels.contract import Frontier, State, append_rows, split_point
from boxcars.model.types import Type

Ints = NDArray[np.int64]
Numbers = NDArray[Any]
Mask = NDArray[np.bool_]

WAITING, GREATEST, LAST = "waiting", "greatest", "last"
"""State frames: tuples that wait, the greatest order value, the last emitted value."""

_LEAST = -(2**63)
_MOST = 2**64 - 1
_LONGEST = 10**12
"""Units, or seconds; more than can lie between two order values."""


@dataclass(frozen=True)
class Ordered:
    """Result of ordering a train: emitted tuples in order, and a mask of its late tuples."""

    train: pl.DataFrame
    late: Mask
    frontier: Frontier
    state: State


@dataclass(frozen=True)
class Slack:
    """Order by ``by``; a tuple may be up to ``reach`` less than the greatest value before it.

    A tuple that is further behind is late. That does not depend on how the stream is split, and
    neither does the output order.
    """

    by: str
    reach: Any

    @classmethod
    def of(cls, by: str, type_: Type, slack: int | float) -> Slack:
        """A slack in units of a field: seconds for a timestamp."""
        if type_ is Type.TIMESTAMP:
            return cls(by, timedelta(seconds=min(slack, _LONGEST)))
        return cls(by, min(int(slack), _MOST) if type_ is Type.INT else float(slack))

    def start(self, empty: pl.DataFrame) -> State:
        """The empty state: nothing waits, nothing was seen."""
        return {WAITING: empty, GREATEST: empty.select(self.by)}

    def order(self, state: State, train: pl.DataFrame, final: bool) -> Ordered:
        """Emit in order the tuples that nothing can precede any more."""
        waiting, greatest = state[WAITING], single_value(state[GREATEST])
        late = np.zeros(train.height, np.bool_)
        if not train[self.by].is_sorted() or self._behind(train, greatest):
            late = self._find_late(train, greatest)
            train = append_rows(waiting, train.filter(~late)).sort(self.by, maintain_order=True)
        else:
            train = append_rows(waiting, train)
        if train.height:
            last: Any = train[self.by][-1]
            greatest = last if greatest is None else max(greatest, last)
        frontier = Frontier(greatest if final else self._minus(greatest), final)
        cut = split_point(train, self.by, frontier)
        seen = state[GREATEST]
        if greatest is not None:
            seen = pl.DataFrame({self.by: [greatest]}, schema=seen.schema)
        return Ordered(train[:cut], late, frontier, {WAITING: train[cut:], GREATEST: seen})

    def _minus(self, greatest: Any) -> Any:
        if isinstance(greatest, datetime):
            # Timestamps start at year 1.
            return greatest - min(self.reach, greatest - datetime.min)
        if isinstance(greatest, int):
            return max(greatest - self.reach, _LEAST)
        return None if greatest is None else greatest - self.reach

    def _behind(self, train: pl.DataFrame, greatest: Any) -> bool:
        return greatest is not None and train.height > 0 and bool(train[self.by][0] < greatest)

    def _find_late(self, train: pl.DataFrame, greatest: Any) -> Mask:
        """Mask of late tuples, by the greatest order value before each."""
        before = pl.col(self.by).cum_max().shift(1)
        if greatest is not None:
            before = pl.max_horizontal(before, pl.lit(greatest, dtype=train.schema[self.by]))
        behind = before - pl.col(self.by)
        if isinstance(self.reach, int):
            behind = behind.reinterpret(signed=False)  # may exceed what a signed int holds
        too_far = behind > self.reach
        if isinstance(self.reach, float):
            too_far = pl.col(self.by) < before - self.reach  # rounded just like the frontier
        late = ((pl.col(self.by) < before) & too_far).fill_null(value=False)
        return train.select(late).to_series().to_numpy()


@dataclass(frozen=True)
class Buffer:
    """Order by ``by`` in a buffer of ``size`` tuples: when it overflows, the least is emitted.

    A tuple is late if it is less than the last emitted one.
    """

    by: str
    size: int

    def start(self, empty: pl.DataFrame) -> State:
        """The empty state: nothing waits, nothing was emitted."""
        return {WAITING: empty, LAST: empty.select(self.by)}

    def order(self, state: State, train: pl.DataFrame, final: bool) -> Ordered:
        """Process the tuples one by one; at the end of the input emit all."""
        waiting = state[WAITING]
        tuples = append_rows(waiting, train)
        dtype = tuples.schema[self.by]
        values = tuples[self.by].to_physical().to_numpy()
        last = state[LAST][self.by].to_physical().to_numpy()
        known = len(last) > 0
        first = last[0] if known else values.dtype.type(0)
        emitted, late = _pass_buffer(values, waiting.height, self.size, known, first)
        stays = np.ones(len(values), np.bool_)
        stays[emitted] = False
        stays[waiting.height :] &= ~late
        out, rest = tuples[emitted], tuples.filter(stays)
        if final:
            out = pl.concat([out, rest.sort(self.by, maintain_order=True)])
            rest = rest.clear()
        seen = out[-1:].select(self.by).cast(dtype) if out.height else state[LAST]
        return Ordered(out, late, Frontier(single_value(seen), final), {WAITING: rest, LAST: seen})


@njit(cache=True, nogil=True)
def _pass_buffer(
    values: Numbers, held: int, size: int, known: bool, last: Any
) -> tuple[Ints, Mask]:
    """Indices of the tuples a buffer emits, in order, and a mask of the late new ones.

    The first ``held`` are in the buffer already; ``last`` is the last emitted value, if ``known``.
    """
    heap = [(values[i], i) for i in range(held)]
    heapq.heapify(heap)
    emitted = np.empty(len(values), np.int64)
    late = np.zeros(len(values) - held, np.bool_)
    n = 0
    for i in range(held, len(values)):
        if known and values[i] < last:
            late[i - held] = True
            continue
        heapq.heappush(heap, (values[i], i))
        if len(heap) > size:
            last, emitted[n] = heapq.heappop(heap)
            known = True
            n += 1
    return emitted[:n], late


def ticks(times: Numbers, period: Any) -> Numbers:
    """The greatest multiple of the period up to each time, as a number of periods."""
    if times.dtype != np.float64:
        return np.asarray(times // np.int64(period))
    number = np.floor(times / period)
    number -= number * period > times
    number += (number + 1) * period <= times
    return np.asarray(number)


@njit(cache=True, nogil=True)
def emit_least(
    ranks: Ints, held: int, known: bool, last: int, moments: Numbers, tick: Any
) -> tuple[Ints, Numbers, Mask]:
    """At each tick, emit the least waiting tuple; also a mask of the late new tuples.

    The first ``held`` tuples wait already and ``tick`` was the last; ``moments`` has the tick
    before each new tuple, and finally the tick up to which to continue. A tuple that ranks before
    ``last``, the last emitted one, is late.
    """
    heap = [(ranks[i], i) for i in range(held)]
    heapq.heapify(heap)
    emitted = np.empty(len(ranks), np.int64)
    at = np.empty(len(ranks), moments.dtype)
    late = np.zeros(len(ranks) - held, np.bool_)
    n = 0
    for j in range(len(moments)):
        while tick < moments[j] and len(heap) > 0:
            tick += 1
            last, emitted[n] = heapq.heappop(heap)
            known = True
            at[n] = tick
            n += 1
        tick = max(tick, moments[j])
        i = held + j
        if i == len(ranks):
            break
        if known and ranks[i] < last:
            late[j] = True
        else:
            heapq.heappush(heap, (ranks[i], i))
    return emitted[:n], at[:n], late


def single_value(frame: pl.DataFrame) -> Any:
    """The value in a frame of one column and at most one row, or None."""
    return frame.item() if frame.height else None


def physical(number: int | float, type_: Type) -> Any:
    """A distance in the units in which order values are stored: microseconds for a timestamp.

    Fractions of a unit are rounded up, since no order value lies between.

    >>> physical(0.5, Type.TIMESTAMP), physical(5, Type.INT), physical(5, Type.FLOAT)
    (500000, 5, 5.0)
    """
    if type_ is Type.FLOAT:
        return float(number)
    unit = 1_000_000 if type_ is Type.TIMESTAMP else 1
    return min(ceil(Decimal(str(number)) * unit), 2**63 - 1)


def stored_numbers(values: pl.Series, type_: Type) -> Numbers:
    """Order values as stored numbers, converted to the given type."""
    return values.cast(type_.dtype).to_physical().to_numpy()


def later(times: Numbers, distance: Any, type_: Type) -> Numbers:
    """Add a distance to stored order values, saturating at the greatest one."""
    if type_ is Type.FLOAT:
        return np.asarray(times + distance)
    last = _LAST_MOMENT if type_ is Type.TIMESTAMP else 2**63 - 1
    return np.asarray(np.where(times > last - distance, last, times + np.int64(distance)))


def earlier(times: Numbers, distance: Any) -> Numbers:
    """Subtract a distance from stored order values, saturating at the least one."""
    if times.dtype == np.float64:
        return np.asarray(times - distance)
    first = times < _LEAST + distance
    return np.asarray(np.where(first, _LEAST, times - np.int64(distance)))


_LAST_MOMENT = int(pl.Series([datetime.max], dtype=pl.Datetime("us")).to_physical()[0])
