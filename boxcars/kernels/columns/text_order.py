"""Fast sort order of strings that differ early, such as phone numbers."""

from __future__ import annotations

import numpy as np
import polars as pl
from numba import njit
from numpy.typing import NDArray

Words = NDArray[np.uint64]

_WORD = 8
"""Bytes per word."""


def order_of_texts(texts: pl.Series) -> pl.Series | None:
    """Argsort strings by one word each; None if these words do not decide the order.

    Strings are ordered by their bytes. The bytes after the common prefix are read as a number, and
    numbers sort five times as fast.

    >>> order_of_texts(pl.Series(["+34-2", "+34-1", "+34-15"])).to_list()
    [1, 2, 0]
    """
    if texts.null_count() or not len(texts):
        return None
    common = _common(str(texts.min()).encode(), str(texts.max()).encode())
    array = texts.to_arrow(compat_level=pl.CompatLevel.oldest())
    _, offsets, content = array.buffers()
    if content is None:  # All strings are empty.
        return None
    own = np.frombuffer(offsets, np.int64)[array.offset : array.offset + len(array) + 1]
    words = _words(own, np.frombuffer(content, np.uint8), common)
    order = pl.Series(words).arg_sort()
    ordered = words[order.to_numpy()]
    return order if (ordered[1:] > ordered[:-1]).all() else None


def _common(first: bytes, last: bytes) -> int:
    """Length of the common prefix of two strings; all strings between them share it."""
    pairs = enumerate(zip(first, last, strict=False))
    return next((at for at, (a, b) in pairs if a != b), min(len(first), len(last)))


@njit(cache=True, nogil=True)
def _words(offsets: NDArray[np.int64], content: NDArray[np.uint8], common: int) -> Words:
    """The first bytes of each string after the common prefix as a number, padded with zeros."""
    words = np.zeros(len(offsets) - 1, np.uint64)
    for i in range(len(words)):
        first = offsets[i] + common
        for at in range(first, min(first + _WORD, offsets[i + 1])):
            shift = np.uint64(8 * (_WORD - 1 - (at - first)))
            words[i] |= np.uint64(content[at]) << shift
    return words
