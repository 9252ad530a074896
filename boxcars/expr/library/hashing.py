"""Hashes and digests, the same on every machine and in every version."""

from __future__ import annotations

import hashlib
import zlib
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from boxcars.expr.functions import Group
from boxcars.expr.value import per_value
from boxcars.model.types import Type

add = Group("hashing")

Words = npt.NDArray[np.uint64]
_NULL = np.uint64(0x9E3779B97F4A7C15)
_MASKS = np.array([(1 << (8 * n)) - 1 for n in range(9)], dtype=np.uint64)


def _mix(words: Words) -> Words:
    """The finalizer of SplitMix64: every input bit affects half of the output bits."""
    words = (words ^ (words >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    words = (words ^ (words >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return words ^ (words >> np.uint64(31))


def _hash_bytes(values: list[bytes]) -> Words:
    """Hash eight bytes of all values at a time; the last word is padded with zeros."""
    sizes = np.array([len(value) for value in values], dtype=np.int64)
    starts = np.cumsum(sizes) - sizes
    data = np.frombuffer(b"".join(values) + bytes(8), dtype=np.uint8)
    hashes = _mix(sizes.astype(np.uint64) + _NULL)
    for done in range(0, int(sizes.max(initial=0)), 8):
        rows = np.flatnonzero(sizes > done)
        taken = np.minimum(sizes[rows] - done, 8)
        index = np.minimum(starts[rows, None] + done + np.arange(8), len(data) - 1)
        words = np.ascontiguousarray(data[index]).view("<u8")[:, 0].astype(np.uint64)
        hashes[rows] = _mix(hashes[rows] * np.uint64(31) + (words & _MASKS[taken]))
    return hashes


def _hash_column(column: pl.Series) -> Words:
    if column.dtype in (pl.String, pl.Binary):
        hashes = _hash_bytes(column.cast(pl.Binary).fill_null(b"").to_list())
    elif column.dtype == pl.Float64:
        floats = column.fill_null(0.0).fill_nan(float("nan")).to_numpy() + 0.0
        hashes = _mix(floats.view(np.uint64) + _NULL)
    else:
        integers = column.cast(pl.Int64).fill_null(0).to_numpy()
        hashes = _mix(integers.view(np.uint64) + _NULL)
    return np.where(column.is_null().to_numpy(), _NULL, hashes)


def _hash_rows(rows: pl.Series) -> pl.Series:
    total = np.zeros(len(rows), dtype=np.uint64)
    for column in rows.struct.unnest().get_columns():
        total = _mix(total * np.uint64(31) + _hash_column(column))
    return pl.Series(rows.name, total.view(np.int64), dtype=pl.Int64)


def _hash(*columns: pl.Expr) -> pl.Expr:
    named = [column.alias(f"{index}") for index, column in enumerate(columns)]
    return pl.struct(named).map_batches(_hash_rows, return_dtype=pl.Int64(), is_elementwise=True)


def _digest(function: Callable[[bytes], Any], returns: Type) -> Callable[[pl.Expr], pl.Expr]:
    return lambda data: per_value(function, data.cast(pl.Binary), returns=returns)


add(
    "hash(x...: any) -> int",
    "A 64-bit hash with a uniform distribution; null is a distinct value.",
    _hash,
    ("hash('boxcars', 7)", -4444829374037486336),
)
add(
    "md5(data: str|bytes) -> str",
    "The MD5 digest in hexadecimal digits.",
    _digest(lambda data: hashlib.md5(data, usedforsecurity=False).hexdigest(), Type.STR),
    ("md5('a')", "0cc175b9c0f1b6a831c399e269772661"),
)
add(
    "sha256(data: str|bytes) -> str",
    "The SHA-256 digest in hexadecimal digits.",
    _digest(lambda data: hashlib.sha256(data).hexdigest(), Type.STR),
    ("left(sha256('a'), 16)", "ca978112ca1bbdca"),
)
add(
    "crc32(data: str|bytes) -> int",
    "The CRC-32 checksum.",
    _digest(zlib.crc32, Type.INT),
    ("crc32('a')", 3904355907),
)
