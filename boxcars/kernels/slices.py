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


_MANY = 4_000_000
"""Windows for each of which there may be a counter, whether they hold a tuple or not."""


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


@dataclass(frozen=True)
class Panes:
    """What the loops need to know of tuples: their blocks, and the windows that they lie in.

    Found for all tuples at once: a division in a loop takes longer than all the rest of it.
    """

    block: Ints
    first: Ints
    last: Ints

    @classmethod
    def of(cls, pane: Ints, size: int, advance: int) -> Panes:
        """From the panes of the tuples."""
        if advance == 1:
            return cls(pane // size, pane - (size - 1), pane)
        return cls(pane // size, (pane - size) // advance + 1, pane // advance)


def closed_slices(
    panes: Panes, starts: Ints, size: int, advance: int, first: int, end: int
) -> tuple[Slices, Ints]:
    """The windows from ``first`` up to ``end`` that hold a tuple, by window and then by key.

    Also gives the window of each.
    """
    found = [_closed(panes, starts, size, advance, *span) for span in _spans(panes, first, end)]
    if len(found) == 1:
        return found[0]
    columns = [
        np.concatenate([getattr(slices, name) for slices, _ in found])
        for name in ("key", "lo", "hi", "parts")
    ]
    return Slices(*columns), np.concatenate([windows for _, windows in found])


def _closed(
    panes: Panes, starts: Ints, size: int, advance: int, first: int, end: int
) -> tuple[Slices, Ints]:
    counts = _count_closed(panes.first, panes.last, starts, first, end)
    begins = np.arange(first, end) * advance // size
    filled = _fill_closed(panes.block, panes.first, panes.last, starts, first, counts, begins)
    return Slices(*filled), np.repeat(np.arange(first, end), counts)


def _spans(panes: Panes, first: int, end: int) -> list[tuple[int, int]]:
    """Where windows may hold tuples, without long stretches of empty ones.

    Time may jump as far as it likes, by a mistake too: only what comes may cost anything.
    """
    if end - first <= _MANY or not len(panes.first):
        return [(first, end if len(panes.first) else first)]
    begins, ends = np.sort(panes.first), np.sort(panes.last)
    gaps = np.flatnonzero(begins[1:] - ends[:-1] > max(_MANY // len(begins), 1))
    lows = np.maximum(np.concatenate([begins[:1], begins[gaps + 1]]), first)
    highs = np.minimum(np.concatenate([ends[gaps], ends[-1:]]) + 1, end)
    spans = [(int(low), int(high)) for low, high in zip(lows, highs, strict=True) if low < high]
    return spans or [(first, first)]


@njit(cache=True, nogil=True)
def _count_closed(firsts: Ints, lasts: Ints, starts: Ints, first: int, end: int) -> Ints:
    counts = np.zeros(max(end - first, 0), np.int64)
    for code in range(len(starts) - 1):
        stop = starts[code + 1]
        done = first
        for i in range(starts[code], stop):
            k = max(done, firsts[i])
            last = min(end - 1, lasts[i])
            while k <= last:
                counts[k - first] += 1
                k += 1
            done = max(done, k)
    return counts


@njit(cache=True, nogil=True)
def _fill_closed(
    block: Ints, firsts: Ints, lasts: Ints, starts: Ints, first: int, counts: Ints, begins: Ints
) -> tuple[Places, Places, Places, Flags]:
    """For each key move both ends of the window forward, and write where its window has room.

    ``begins`` has the block in which each window starts.
    """
    place = np.zeros(len(counts) + 1, np.int64)
    for k in range(len(counts)):
        place[k + 1] = place[k] + counts[k]
    total, end = place[-1], first + len(counts)
    key = np.empty(total, np.uint32)
    low, high = np.empty(total, np.uint32), np.empty(total, np.uint32)
    parts = np.empty(total, np.uint8)
    for code in range(len(starts) - 1):
        stop = starts[code + 1]
        lo = hi = starts[code]
        k = first
        while lo < stop:
            k = max(k, firsts[lo])
            while lo < stop and lasts[lo] < k:
                lo += 1
            if k >= end:
                break
            hi = max(hi, lo)
            while hi < stop and firsts[hi] <= k:
                hi += 1
            if lo < hi:
                row = place[k - first]
                place[k - first] = row + 1
                key[row], low[row], high[row] = code, lo, hi
                parts[row] = parts_of(block[lo], block[hi - 1], begins[k - first])
                k += 1
    return key, low, high, parts


@njit(cache=True, nogil=True)
def parts_of(block_of_first: int, block_of_last: int, block_of_start: int) -> int:
    """What a window is made of that starts in one block and whose tuples lie in these."""
    if block_of_first != block_of_start:
        return HEAD
    return TAIL if block_of_last == block_of_first else TAIL | HEAD


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

    ``index`` numbers the tuples of a key without gaps; window ``k`` starts at ``k * advance``.
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
        begin, stop = starts[code], starts[code + 1]
        if begin == stop:
            continue
        k = max(-((-index[begin]) // advance), (seen[code] - size + 1) // advance + 1)
        while True:
            lo = begin + k * advance - index[begin]
            hi = min(lo + size, stop)
            full = lo + size <= stop
            if not full and (ended[code] == 0 or lo >= stop):
                break
            key[n], low[n], high[n] = code, lo, hi
            parts[n] = parts_of(index[lo] // size, index[hi - 1] // size, k * advance // size)
            cause[n] = 0 if full else ended[code]
            n += 1
            if not full:
                break
            k += 1
        needed[code] = k * advance
    return key[:n], low[:n], high[:n], parts[:n], cause[:n], needed
