"""Folds over slices: a sum, a least value and the like for every window, in constant time each.

``blocks`` numbers the block of each tuple, ``parts`` says whether a window is the tail of a block,
the head of one, or both (:mod:`boxcars.kernels.slices`).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from boxcars.kernels.slices import DIRECT, HEAD, TAIL, Flags, Ints, Places, Slices

Numbers = NDArray[Any]
Truths = NDArray[np.bool_]


SUM, LEAST, MOST = range(3)
"""Ways to combine two values. A number and not a function: numba would compile a loop over a
function that is handed to it again in every process."""


@njit(cache=True, nogil=True)
def combine(how: int, a: Any, b: Any) -> Any:
    """The sum of two values, or the lesser or the greater one."""
    if how == SUM:
        return a + b
    if how == LEAST:
        return a if a < b else b
    return a if a > b else b


@njit(cache=True, nogil=True)
def _fold(how: int, values: Numbers, blocks: Ints, lo: Places, hi: Places, parts: Flags) -> Numbers:
    """The combination of all values of each window."""
    heads, tails = values.copy(), values.copy()
    for i in range(1, len(values)):
        if blocks[i] == blocks[i - 1]:
            heads[i] = combine(how, heads[i - 1], values[i])
    for i in range(len(values) - 2, -1, -1):
        if blocks[i] == blocks[i + 1]:
            tails[i] = combine(how, values[i], tails[i + 1])
    out = np.empty(len(lo), values.dtype)
    for row in range(len(lo)):
        tail, head, part = tails[lo[row]], heads[hi[row] - 1], parts[row]
        if part == DIRECT:
            out[row] = values[lo[row]]
            for i in range(lo[row] + 1, hi[row]):
                out[row] = combine(how, out[row], values[i])
        else:
            # All three are at hand: to choose one is faster than to guess a branch.
            both = combine(how, tail, head)
            out[row] = tail if part == TAIL else (head if part == HEAD else both)
    return out


def fold(how: int, values: Numbers, blocks: Ints, slices: Slices) -> Numbers:
    """The sum, the least or the greatest value of each window."""
    return np.asarray(_fold(how, values, blocks, slices.lo, slices.hi, slices.parts))


@njit(cache=True, nogil=True)
def scan(how: int, values: Numbers, starts: Ints) -> Numbers:
    """The combination of each value with all before it in its group."""
    out = values.copy()
    for group in range(len(starts) - 1):
        for i in range(starts[group] + 1, starts[group + 1]):
            out[i] = combine(how, out[i - 1], values[i])
    return out


@njit(cache=True, nogil=True)
def merge(n: Any, mean: Any, m2: Any, n_: Any, mean_: Any, m2_: Any) -> Any:
    """Two sets of values described by number, mean and squared deviations, as one (Chan et al.)."""
    if n == 0:
        return n_, mean_, m2_
    if n_ == 0:
        return n, mean, m2
    total = n + n_
    delta = mean_ - mean
    return total, mean + delta * n_ / total, m2 + m2_ + delta * delta * n * n_ / total


@njit(cache=True, nogil=True)
def _deviations(values: Numbers, valid: Truths) -> tuple[float, float]:
    """The number of values and their squared deviations."""
    n, mean, m2 = 0.0, 0.0, 0.0
    for i in range(len(values)):
        if valid[i]:
            n, mean, m2 = merge(n, mean, m2, 1.0, values[i], 0.0)
    return n, m2


@njit(cache=True, nogil=True)
def _fold_variance(
    values: Numbers, valid: Truths, blocks: Ints, lo: Places, hi: Places, parts: Flags
) -> Numbers:
    size = len(values)
    head, tail = np.zeros((size, 3)), np.zeros((size, 3))
    for i in range(size):
        own = (1.0 if valid[i] else 0.0, values[i] if valid[i] else 0.0, 0.0)
        if i > 0 and blocks[i] == blocks[i - 1]:
            own = merge(head[i - 1, 0], head[i - 1, 1], head[i - 1, 2], own[0], own[1], own[2])
        head[i, 0], head[i, 1], head[i, 2] = own
    for i in range(size - 1, -1, -1):
        own = (1.0 if valid[i] else 0.0, values[i] if valid[i] else 0.0, 0.0)
        if i < size - 1 and blocks[i] == blocks[i + 1]:
            own = merge(own[0], own[1], own[2], tail[i + 1, 0], tail[i + 1, 1], tail[i + 1, 2])
        tail[i, 0], tail[i, 1], tail[i, 2] = own
    out = np.empty(len(lo))
    for row in range(len(lo)):
        a, b = tail[lo[row]], head[hi[row] - 1]
        if parts[row] == TAIL:
            n, m2 = a[0], a[2]
        elif parts[row] == HEAD:
            n, m2 = b[0], b[2]
        elif parts[row] == DIRECT:
            n, m2 = _deviations(values[lo[row] : hi[row]], valid[lo[row] : hi[row]])
        else:
            n, _, m2 = merge(a[0], a[1], a[2], b[0], b[1], b[2])
        out[row] = m2 / (n - 1) if n > 1 else np.nan
    return out


def fold_variance(
    values: NDArray[np.float64], valid: NDArray[np.bool_], blocks: Ints, slices: Slices
) -> NDArray[np.float64]:
    """The sample variance of each window; not a number for fewer than two values."""
    s = slices
    return np.asarray(_fold_variance(values, valid, blocks, s.lo, s.hi, s.parts))


@njit(cache=True, nogil=True)
def quantiles(values: Numbers, valid: Truths, lo: Places, hi: Places, share: float) -> Numbers:
    """The quantile of each window, interpolated between neighbours; nan for an empty one."""
    out = np.empty(len(lo))
    for row in range(len(lo)):
        kept = values[lo[row] : hi[row]][valid[lo[row] : hi[row]]]
        out[row] = np.nan
        if len(kept) > 0:
            kept = np.sort(kept)
            place = share * (len(kept) - 1)
            below = int(np.floor(place))
            out[row] = kept[below]
            if place > below:  # a neighbour may be infinite
                out[row] += (kept[below + 1] - kept[below]) * (place - below)
    return out


@njit(cache=True, nogil=True)
def distinct_counts(codes: Ints, number: int, lo: Places, hi: Places) -> Ints:
    """How many different codes each window holds; a negative code is a null and does not count."""
    seen = np.full(number, -1, np.int64)
    out = np.zeros(len(lo), np.int64)
    for row in range(len(lo)):
        for i in range(lo[row], hi[row]):
            if codes[i] >= 0 and seen[codes[i]] != row:
                seen[codes[i]] = row
                out[row] += 1
    return out
