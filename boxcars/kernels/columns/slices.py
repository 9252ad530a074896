"""Slices: which tuples each window holds, computed by the loops of all window kinds.

Tuples are sorted by key and, within a key, by order. Every tuple lies in a *pane*, an interval of
the axis that no window boundary cuts: ``(ts - origin) // gcd(size, advance)`` for a time window,
the tuple's number for a tuple window. Window ``k`` holds the panes from ``k * advance`` to ``k *
advance + size``, both counted in panes, so it is a slice ``[lo, hi)`` of the tuples of a key.

To fold a slice in constant time the axis is also divided into *blocks* of one window size. A slice
is then the tail of one block, the head of the next, or both (van Herk's algorithm). Blocks start at
fixed positions of the axis, so sums are added in the same order however the stream is split.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numba import njit
from numpy.typing import NDArray

Ints = NDArray[np.int64]
Flags = NDArray[np.uint8]
Indices = NDArray[np.uint32]

TAIL, HEAD, DIRECT = 1, 2, 4
"""Composition of a slice: the tail of a block, the head of one, or (3) a tail and a head.

A DIRECT slice is independent of blocks and is folded tuple by tuple.
"""

COVERS, ROW = "__of", 0
"""The column that says what a row covers: itself (ROW), the TAIL of its block from there on, or the
HEAD of its block up to there."""


@dataclass(frozen=True)
class Slices:
    """Windows that have a result: their keys, and their tuples ``[lo, hi)``.

    Indices are 32 bits wide, so that Polars gathers by them without a conversion.
    """

    key: Indices
    lo: Indices
    hi: Indices
    parts: Flags

    def take(self, order: Ints) -> Slices:
        """The same windows in another order."""
        return Slices(self.key[order], self.lo[order], self.hi[order], self.parts[order])


@njit(cache=True, nogil=True)
def parts_of(first: int, last: int, begin: int, size: int) -> int:
    """The composition of a window, from its first and last pane and its start.

    A window that is a whole block is a HEAD, since a head may be stored without its tuples.
    """
    if begin % size == 0 or first // size != begin // size:
        return HEAD
    return TAIL if last // size == first // size else TAIL | HEAD


@njit(cache=True, nogil=True)
def block_ids(block: Ints, starts: Ints) -> Ints:
    """Number the blocks: equal for tuples of the same key and block."""
    ids = np.empty(len(block), np.int64)
    number = 0
    for code in range(len(starts) - 1):
        for i in range(starts[code], starts[code + 1]):
            if i > starts[code] and block[i] != block[i - 1]:
                number += 1
            ids[i] = number
        number += 1
    return ids


@njit(cache=True, nogil=True)
def full_slices(
    index: Ints, starts: Ints, seen: Ints, ended: Flags, size: int, advance: int
) -> tuple[Indices, Indices, Indices, Flags, Flags, Ints]:
    """Slices of tuple windows: one for every ``size`` tuples of a key, each ``advance`` tuples.

    ``index`` numbers the tuples of a key; window ``k`` starts at ``k * advance``. Windows that were
    full with tuple ``seen`` were emitted before. Where ``ended`` is not 0 the key gets no more
    tuples: its last, partial window is a slice too, marked with that number. Also returns, for each
    key, the index of the first tuple that is still needed.
    """
    room = len(index) + len(starts)
    key = np.empty(room, np.uint32)
    low, high = np.empty(room, np.uint32), np.empty(room, np.uint32)
    parts, cause = np.empty(room, np.uint8), np.zeros(room, np.uint8)
    needed = np.zeros(len(starts) - 1, np.int64)
    n = 0
    for code in range(len(starts) - 1):
        lo, stop = starts[code], starts[code + 1]
        if lo == stop:
            continue
        hi, last = lo, index[stop - 1]
        k = max(0, (seen[code] - size + 1) // advance + 1)
        while True:
            while lo < stop and index[lo] < k * advance:
                lo += 1
            hi = max(hi, lo)
            while hi < stop and index[hi] < k * advance + size:
                hi += 1
            full = last >= k * advance + size - 1
            if not full and (ended[code] == 0 or lo >= stop):
                break
            key[n], low[n], high[n] = code, lo, hi
            parts[n] = parts_of(index[lo], index[hi - 1], k * advance, size)
            cause[n] = 0 if full else ended[code]
            n += 1
            if not full:
                break
            k += 1
        needed[code] = k * advance
    return key[:n], low[:n], high[:n], parts[:n], cause[:n], needed


@njit(cache=True, nogil=True)
def indices_up_to(values: Ints, begin: Ints, end: Ints, limit: Ints) -> tuple[Ints, Ints]:
    """Indices of each key from ``begin`` up to and including the first value >= ``limit``."""
    numbers = np.zeros(len(begin), np.int64)
    for key in range(len(begin)):
        index = begin[key]
        while index < end[key] - 1 and values[index] < limit[key]:
            index += 1
        numbers[key] = min(index + 1, end[key]) - begin[key]
    indices = np.empty(numbers.sum(), np.int64)
    n = 0
    for key in range(len(begin)):
        for index in range(begin[key], begin[key] + numbers[key]):
            indices[n] = index
            n += 1
    return indices, numbers
