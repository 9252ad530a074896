"""The partitioning hash of keys: the SQL function ``hash``, at memory speed.

It must be the same on every machine and in every version, since stored state is partitioned by it.
So it is defined here (SplitMix64 over 8-byte words) and not taken from a library.
:mod:`boxcars.expr.library.hashing` has the same definition in NumPy; a test compares them.
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
_30, _27, _31, _32 = np.uint64(30), np.uint64(27), np.uint64(31), np.uint64(32)
_INLINE = np.uint32(12)
"""Bytes that a view of Arrow holds itself."""


@njit(cache=True, nogil=True, inline="always")
def _mix(word: np.uint64) -> Any:
    """The finalizer of SplitMix64: every input bit affects half of the output bits."""
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
    """Hash eight bytes at a time; the last word is padded with zeros."""
    for i in range(len(hashes)):
        if len(valid) and not valid[i]:
            hashes[i] = _mix(hashes[i] * _31 + _NULL)
            continue
        start, end = offsets[i], offsets[i + 1]
        found = _mix(np.uint64(end - start) + _NULL)
        while start + 8 <= end:
            word = np.uint64(0)
            for at in range(8):  # a constant bound: LLVM makes one load of it
                word |= np.uint64(data[start + at]) << np.uint64(8 * at)
            found = _mix(found * _31 + word)
            start += 8
        if start < end:
            word = np.uint64(0)
            for at in range(end - start):
                word |= np.uint64(data[start + at]) << np.uint64(8 * at)
            found = _mix(found * _31 + word)
        hashes[i] = _mix(hashes[i] * _31 + found)


@njit(cache=True, nogil=True)
def _add_short(hashes: Words, views: NDArray[np.uint32], valid: NDArray[np.bool_]) -> bool:
    """Add texts of at most 12 bytes, which Arrow's views hold inline; False if one is longer."""
    for i in range(len(hashes)):
        if views[i, 0] > _INLINE and (len(valid) == 0 or valid[i]):
            return False
    for i in range(len(hashes)):
        if len(valid) and not valid[i]:
            hashes[i] = _mix(hashes[i] * _31 + _NULL)
            continue
        length = np.uint64(views[i, 0])
        found = _mix(length + _NULL)
        if length > 0:  # the bytes after a text are zeros, by the format of a view
            word = np.uint64(views[i, 1]) | (np.uint64(views[i, 2]) << _32)
            found = _mix(found * _31 + word)
        if length > 8:
            found = _mix(found * _31 + np.uint64(views[i, 3]))
        hashes[i] = _mix(hashes[i] * _31 + found)
    return True


def hash_columns(columns: Sequence[pl.Series], number: int) -> Ints:
    """Hash the values of some columns to one number per tuple.

    >>> hash_columns([pl.Series(["boxcars"]), pl.Series([7])], 1).tolist()
    [-4444829374037486336]
    """
    hashes = np.zeros(number, np.uint64)
    for column in columns:
        valid = column.is_not_null().to_numpy() if column.null_count() else np.empty(0, np.bool_)
        if column.dtype in (pl.String, pl.Binary):
            if not _add_short(hashes, _views(column), valid):
                _add_bytes(hashes, *_bytes(column), valid)
        else:
            _add_words(hashes, _words(column), valid)
    return hashes.view(np.int64)


def _words(column: pl.Series) -> Words:
    """Values as 64-bit words; equal floats give equal words, including -0.0 and all NaNs."""
    if column.dtype == pl.Int64 and not column.null_count():
        return column.to_numpy().view(np.uint64)
    if column.dtype == pl.Float64:
        floats = column.fill_null(0.0).fill_nan(float("nan")).to_numpy() + 0.0
        return floats.view(np.uint64)
    return column.to_physical().cast(pl.Int64).fill_null(0).to_numpy().view(np.uint64)


def _views(column: pl.Series) -> NDArray[np.uint32]:
    """Arrow's view of each value, without a copy: its length, then its bytes or where they are."""
    array = column.to_arrow(compat_level=pl.CompatLevel.newest())
    views = np.frombuffer(array.buffers()[1] or b"", np.uint32).reshape(-1, 4)
    return views[array.offset : array.offset + len(array)]


def _bytes(column: pl.Series) -> tuple[Ints, Bytes]:
    """The concatenated bytes of all values, and the offset of each."""
    array = column.cast(pl.Binary).to_arrow()
    binary = array.cast(pa.large_binary())
    _, offsets, data = binary.buffers()
    own = np.frombuffer(offsets, np.int64)[binary.offset : binary.offset + len(binary) + 1]
    return own, np.frombuffer(data or b"", np.uint8)
