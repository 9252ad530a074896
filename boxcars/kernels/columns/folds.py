"""Folds over slices: sums, minima, maxima and moments of every window, in constant time each.

``blocks`` numbers the block of each tuple; ``parts`` says whether a window is the tail of a block,
the head of one, or both (:mod:`boxcars.kernels.columns.slices`). The tuples of a pane are combined
first and then the panes, so a pre-aggregated pane gives a bit-identical result.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from boxcars.kernels.columns.slices import DIRECT, HEAD, TAIL, Flags, Indices, Ints, Slices

Numbers = NDArray[Any]
Mask = NDArray[np.bool_]


SUM, LEAST, MOST = range(3)
"""How to combine two values. Numbers rather than functions: numba would recompile a loop over a
function argument in every process."""


@njit(cache=True, nogil=True)
def combine(how: int, a: Any, b: Any) -> Any:
    """The sum, the minimum or the maximum of two values; NaN is the greatest."""
    if how == SUM:
        return a + b
    if how == LEAST:
        return a if (a < b) | np.isnan(b) else b
    return a if (a > b) | np.isnan(a) else b


@dataclass(frozen=True)
class Windows:
    """Windows to aggregate: their slices of the tuples, and which of them timed out.

    Without ``panes`` each tuple is a pane of its own.
    """

    slices: Slices
    blocks: Ints
    timed_out: Mask | None = None
    panes: Ints | None = None

    @cached_property
    def counts(self) -> Ints:
        """Number of tuples in each window."""
        return (self.slices.hi - self.slices.lo).astype(np.int64)

    @cached_property
    def arguments(self) -> tuple[Ints, Ints, Indices, Indices, Flags]:
        """The arguments of the fold loops."""
        panes = np.arange(len(self.blocks)) if self.panes is None else self.panes
        return self.blocks, panes, self.slices.lo, self.slices.hi, self.slices.parts


@njit(cache=True, nogil=True)
def _fold(
    how: int, values: Numbers, blocks: Ints, panes: Ints, lo: Indices, hi: Indices, parts: Flags
) -> Numbers:
    """Combine all values of each window.

    ``heads[i]`` folds the block of ``i`` up to ``i``. ``tails[i]`` folds, after the first loop, the
    pane of ``i`` up to ``i``; after the second, the block from the pane of ``i`` on.
    """
    heads, tails = np.empty_like(values), np.empty_like(values)
    if len(values) > 0:  # not by slices: numba compiles their error messages for two seconds
        heads[0] = tails[0] = values[0]
    based = False
    for i in range(1, len(values)):
        own = values[i]
        if blocks[i] != blocks[i - 1]:
            based = False
        elif panes[i] != panes[i - 1]:
            base, based = heads[i - 1], True
        else:
            own = combine(how, tails[i - 1], own)
        tails[i] = own
        heads[i] = combine(how, base, own) if based else own
    for i in range(len(values) - 2, -1, -1):
        if blocks[i] == blocks[i + 1]:
            same = panes[i] == panes[i + 1]
            tails[i] = tails[i + 1] if same else combine(how, tails[i], tails[i + 1])
    out = np.empty(len(lo), values.dtype)
    for row in range(len(lo)):
        # All four are computed: a select is faster than a mispredicted branch.
        own, tail, head, part = values[lo[row]], tails[lo[row]], heads[hi[row] - 1], parts[row]
        both = combine(how, tail, head)
        folded = tail if part == TAIL else (head if part == HEAD else both)
        out[row] = own if part == DIRECT else folded
        if part == DIRECT and hi[row] - lo[row] > 1:
            for i in range(lo[row] + 1, hi[row]):
                out[row] = combine(how, out[row], values[i])
    return out


def fold(how: int, values: Numbers, windows: Windows) -> Numbers:
    """The sum, the least or the greatest value of each window."""
    return np.asarray(_fold(how, values, *windows.arguments))


@njit(cache=True, nogil=True)
def scan(how: int, values: Numbers, starts: Ints) -> Numbers:
    """Combine each value with all before it in its group (a running fold)."""
    out = values.copy()
    for group in range(len(starts) - 1):
        for i in range(starts[group] + 1, starts[group + 1]):
            out[i] = combine(how, out[i - 1], values[i])
    return out


@njit(cache=True, nogil=True)
def merge(n: Any, mean: Any, m2: Any, n_: Any, mean_: Any, m2_: Any) -> Any:
    """Merge two sets of values given by count, mean and squared deviations (Chan et al.)."""
    if n == 0:
        return n_, mean_, m2_
    if n_ == 0:
        return n, mean, m2
    total = n + n_
    delta = mean_ - mean
    return total, mean + delta * n_ / total, m2 + m2_ + delta * delta * n * n_ / total


@njit(cache=True, nogil=True)
def _heads_and_tails(own: Numbers, blocks: Ints, panes: Ints) -> tuple[Numbers, Numbers]:
    """For each tuple, its block up to it and its block from its pane on, as in :func:`_fold`."""
    head, tail = own.copy(), own.copy()
    base = np.zeros(3)
    for i in range(1, len(own)):
        if blocks[i] != blocks[i - 1]:
            base[0] = base[1] = base[2] = 0.0
        elif panes[i] != panes[i - 1]:
            _copy_into(base, head[i - 1])
        else:
            _merge_into(tail[i], tail[i - 1], own[i])
        _merge_into(head[i], base, tail[i])
    for i in range(len(own) - 2, -1, -1):
        if blocks[i] == blocks[i + 1]:
            if panes[i] == panes[i + 1]:
                _copy_into(tail[i], tail[i + 1])
            else:
                _merge_into(tail[i], tail[i], tail[i + 1])
    return head, tail


@njit(cache=True, nogil=True)
def _fold_moments(
    own: Numbers, blocks: Ints, panes: Ints, lo: Indices, hi: Indices, parts: Flags
) -> Numbers:
    head, tail = _heads_and_tails(own, blocks, panes)
    out = np.zeros((len(lo), 3))
    for row in range(len(lo)):
        if parts[row] == DIRECT:
            for i in range(lo[row], hi[row]):
                _merge_into(out[row], out[row], own[i])
        elif parts[row] == TAIL:
            _copy_into(out[row], tail[lo[row]])
        elif parts[row] == HEAD:
            _copy_into(out[row], head[hi[row] - 1])
        else:
            _merge_into(out[row], tail[lo[row]], head[hi[row] - 1])
    return out


@njit(cache=True, nogil=True)
def _merge_into(out: Numbers, a: Numbers, b: Numbers) -> None:
    out[0], out[1], out[2] = merge(a[0], a[1], a[2], b[0], b[1], b[2])


@njit(cache=True, nogil=True)
def _copy_into(out: Numbers, a: Numbers) -> None:
    out[0], out[1], out[2] = a[0], a[1], a[2]


def fold_moments(moments: Sequence[Numbers], windows: Windows) -> list[Numbers]:
    """Count, mean and squared deviations of each window, from those of its tuples."""
    found = _fold_moments(np.column_stack(moments), *windows.arguments)
    return [np.ascontiguousarray(found[:, i]) for i in range(3)]


@njit(cache=True, nogil=True)
def quantiles(values: Numbers, valid: Mask, lo: Indices, hi: Indices, share: float) -> Numbers:
    """The quantile of each window, interpolated between neighbors; NaN for an empty one."""
    out = np.empty(len(lo))
    for row in range(len(lo)):
        kept = values[lo[row] : hi[row]][valid[lo[row] : hi[row]]]
        out[row] = np.nan
        if len(kept) > 0:
            kept = np.sort(kept)
            rank = share * (len(kept) - 1)
            below = int(np.floor(rank))
            out[row] = kept[below]
            if rank > below:  # a neighbor may be infinite
                above = kept[below + 1]
                if not np.isinf(kept[below]):
                    out[row] += (above - kept[below]) * (rank - below)
                elif above == -kept[below]:
                    out[row] = np.nan
    return out


def distinct_counts(codes: Ints, number: int, lo: Indices, hi: Indices) -> Ints:
    """Number of distinct codes in each window; a negative code is a null and does not count."""
    return np.asarray(_distinct_counts(codes, number, lo, hi, np.lexsort((hi, lo))))


@njit(cache=True, nogil=True)
def _distinct_counts(codes: Ints, number: int, lo: Indices, hi: Indices, order: Ints) -> Ints:
    """Update counters from window to window: only tuples that enter or leave are visited.

    The cost of growing or sliding windows is that of their tuples, however many windows there are.
    """
    times = np.zeros(number + 1, np.int64)  # the last counter is for nulls, whose code is -1
    out = np.zeros(len(lo), np.int64)
    first, last, different = 0, 0, 0
    for row in order:
        begin, end = lo[row], hi[row]
        if begin >= last:  # disjoint: reset the counters of the previous window
            times[codes[first:last]] = 0
            first, last, different = begin, begin, 0
        for i in range(last, end):
            different += _step(times, codes[i], 1)
        for i in range(first, begin):
            different += _step(times, codes[i], -1)
        for i in range(end, last):
            different += _step(times, codes[i], -1)
        first, last = begin, end
        out[row] = different
    return out


@njit(cache=True, nogil=True)
def _step(times: Ints, code: int, by: int) -> int:
    """Add ``by`` to the counter of a code; returns the change in the number of distinct codes."""
    before = times[code]
    times[code] += by
    return (times[code] > 0) - (before > 0) if code >= 0 else 0
