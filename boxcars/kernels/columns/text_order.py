"""The order of many texts that differ early, such as phone numbers, by one number for each."""

from __future__ import annotations

import numpy as np
import polars as pl
from numba import njit
from numpy.typing import NDArray

Words = NDArray[np.uint64]

_WORD = 8
"""So many bytes are one number."""


def order_of_texts(texts: pl.Series) -> pl.Series | None:
    """The places of the texts in their order; None if that takes more than a look at a few bytes.

    Texts are in the order of their bytes. Those behind what all of them start with are read as a
    number, and numbers are sorted five times as fast.

    >>> order_of_texts(pl.Series(["+34-2", "+34-1", "+34-15"])).to_list()
    [1, 2, 0]
    """
    if texts.null_count() or not len(texts):
        return None
    common = _common(str(texts.min()).encode(), str(texts.max()).encode())
    array = texts.to_arrow(compat_level=pl.CompatLevel.oldest())
    _, offsets, content = array.buffers()
    if content is None:  # All are empty, which is one text.
        return None
    own = np.frombuffer(offsets, np.int64)[array.offset : array.offset + len(array) + 1]
    words = _words(own, np.frombuffer(content, np.uint8), common)
    order = pl.Series(words).arg_sort()
    ordered = words[order.to_numpy()]
    return order if (ordered[1:] > ordered[:-1]).all() else None


def _common(first: bytes, last: bytes) -> int:
    """How many bytes two texts start with that are the same: all between them do so, too."""
    pairs = enumerate(zip(first, last, strict=False))
    return next((place for place, (a, b) in pairs if a != b), min(len(first), len(last)))


@njit(cache=True, nogil=True)
def _words(offsets: NDArray[np.int64], content: NDArray[np.uint8], common: int) -> Words:
    """The bytes of each text behind the common ones as a number; zeros behind a short one."""
    words = np.zeros(len(offsets) - 1, np.uint64)
    for i in range(len(words)):
        first = offsets[i] + common
        for place in range(first, min(first + _WORD, offsets[i + 1])):
            shift = np.uint64(8 * (_WORD - 1 - (place - first)))
            words[i] |= np.uint64(content[place]) << shift
    return words
