"""The hash that decides where a tuple goes: the SQL function ``hash``, at the speed of memory.

It must be the same on every machine and with every version, for state lies where it sent the
tuples: so it is our own, SplitMix64 over words of eight bytes, and not that of a library.
:mod:`boxcars.expr.library.hashing` has the same definition in NumPy; a test holds them together.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import polars as pl
import pyarrow as pa
from numba import njit
from numpy.typing import NDArray

Ints = NDArray[np.int64]
Words = NDArray[np.uint64]
Bytes = NDArray[np.uint8]

_NULL = np.uint64(0x9E3779B97F4A7C15)
_ONE, _TWO = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)
_30, _27, _31 = np.uint64(30), np.uint64(27), np.uint64(31)


@njit(cache=True, nogil=True, inline="always")
def _mix(word: np.uint64) -> Any:
    """Finish as SplitMix64 does: every bit of the input moves half of the output."""
    word = (word ^ (word >> _30)) * _ONE
    word = (word ^ (word >> _27)) * _TWO
    return word ^ (word >> _31)


@njit(cache=True, nogil=True)
def _add_words(hashes: Words, words: Words, valid: NDArray[np.bool_]) -> None:
    for i in range(len(hashes)):
        word = _mix(words[i] + _NULL) if len(valid) == 0 or valid[i] else _NULL
        hashes[i] = _mix(hashes[i] * _31 + word)


@njit(cache=True, nogil=True)
def _add_bytes(hashes: Words, offsets: Ints, data: Bytes, valid: NDArray[np.bool_]) -> None:
    """Eight bytes at a time, the last of them filled up with zeros."""
    for i in range(len(hashes)):
        if len(valid) and not valid[i]:
            hashes[i] = _mix(hashes[i] * _31 + _NULL)
            continue
        start, end = offsets[i], offsets[i + 1]
        found = _mix(np.uint64(end - start) + _NULL)
        while start < end:
            word = np.uint64(0)
            for at in range(min(end - start, 8)):
                word |= np.uint64(data[start + at]) << np.uint64(8 * at)
            found = _mix(found * _31 + word)
            start += 8
        hashes[i] = _mix(hashes[i] * _31 + found)


def hash_columns(columns: Sequence[pl.Series], number: int) -> Ints:
    """A number for each tuple that depends on the values of some columns and nothing else.

    >>> hash_columns([pl.Series(["boxcars"]), pl.Series([7])], 1).tolist()
    [-4444829374037486336]
    """
    hashes = np.zeros(number, np.uint64)
    for column in columns:
        valid = column.is_not_null().to_numpy() if column.null_count() else np.empty(0, np.bool_)
        if column.dtype in (pl.String, pl.Binary):
            _add_bytes(hashes, *_bytes(column), valid)
        else:
            _add_words(hashes, _words(column), valid)
    return hashes.view(np.int64)


def _words(column: pl.Series) -> Words:
    """Values of 64 bits; equal floats have equal ones, minus zero and all that is no number too."""
    if column.dtype == pl.Int64 and not column.null_count():
        return column.to_numpy().view(np.uint64)
    if column.dtype == pl.Float64:
        floats = column.fill_null(0.0).fill_nan(float("nan")).to_numpy() + 0.0
        return floats.view(np.uint64)
    return column.to_physical().cast(pl.Int64).fill_null(0).to_numpy().view(np.uint64)


def _bytes(column: pl.Series) -> tuple[Ints, Bytes]:
    """The bytes of all values, one after the other, and where each starts."""
    array = column.cast(pl.Binary).to_arrow()
    whole = array.cast(pa.large_binary())
    _, offsets, data = whole.buffers()
    places = np.frombuffer(offsets, np.int64)[whole.offset : whole.offset + len(whole) + 1]
    return places, np.frombuffer(data or b"", np.uint8)
