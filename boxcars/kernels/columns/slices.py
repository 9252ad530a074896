"""Which tuples each window holds: the loops behind all windows.

Tuples are sorted by key and, within a key, by order. Every tuple lies in a *pane*, a stretch of
the axis that no window boundary cuts: ``(ts - origin) // gcd(size, advance)`` for a time window,
the tuple's number for a tuple window. Window ``k`` holds the panes from ``k * advance`` to
``k * advance + size``, both counted in panes, so it is a slice ``[lo, hi)`` of the tuples of a key.

To fold a slice in constant time the axis is also cut into *blocks* of one window size. A slice is
then the tail of one block, the head of the next, or both (van Herk's algorithm). Blocks lie at
fixed places of the axis, so a sum is added up in the same order however the stream is cut.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numba import njit
from numpy.typing import NDArray

Ints = NDArray[np.int64]
Flags = NDArray[np.uint8]
Places = NDArray[np.uint32]

TAIL, HEAD, DIRECT = 1, 2, 4
"""What a slice is made of: the tail of a block, the head of one, or (3) a tail and a head.

A DIRECT slice lies anywhere and is folded tuple by tuple, whatever the blocks are.
"""

OF, ROW = "__of", 0
"""The column that says what a row stands for, where that may be more than itself (ROW): the TAIL of
its block from there on, or the HEAD up to there."""


@dataclass(frozen=True)
class Slices:
    """The windows that have a result: their key, and their tuples ``[lo, hi)``.

    Places are 32 bits wide, which is what Polars gathers by without converting them.
    """

    key: Places
    lo: Places
    hi: Places
    parts: Flags

    def take(self, order: Ints) -> Slices:
        """The same windows in another order."""
        return Slices(self.key[order], self.lo[order], self.hi[order], self.parts[order])


@njit(cache=True, nogil=True)
def parts_of(first: int, last: int, begin: int, size: int) -> int:
    """What a window is made of, from where its first and last tuples lie and where it begins.

    One that is a whole block is its head, which may be known without its tuples.
    """
    if begin % size == 0 or first // size != begin // size:
        return HEAD
    return TAIL if last // size == first // size else TAIL | HEAD


@njit(cache=True, nogil=True)
def block_ids(block: Ints, starts: Ints) -> Ints:
    """A number for each tuple that is the same for all tuples of its key and block."""
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
) -> tuple[Places, Places, Places, Flags, Flags, Ints]:
    """Tuple windows: a slice whenever ``size`` tuples of a key are there, then ``advance`` go.

    ``index`` numbers the tuples of a key; window ``k`` starts at ``k * advance``.
    Windows that were full with tuple ``seen`` have been dealt with before.
    Where ``ended`` is not 0 nothing more will come: what is left of the last window is a slice too,
    and marked with that number. Also gives, for each key, the first tuple that is still needed.
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
def places_up_to(values: Ints, begin: Ints, end: Ints, limit: Ints) -> tuple[Ints, Ints]:
    """Places from ``begin`` on, up to and with the first of the limit, for each key."""
    numbers = np.zeros(len(begin), np.int64)
    for key in range(len(begin)):
        place = begin[key]
        while place < end[key] - 1 and values[place] < limit[key]:
            place += 1
        numbers[key] = min(place + 1, end[key]) - begin[key]
    places = np.empty(numbers.sum(), np.int64)
    n = 0
    for key in range(len(begin)):
        for place in range(begin[key], begin[key] + numbers[key]):
            places[n] = place
            n += 1
    return places, numbers
