"""Group-by keys encoded as integers, for the loops of the ordered boxes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl
from numba import njit
from numpy.typing import NDArray

from boxcars.kernels.columns.frames import select_columns, take_rows, take_values
from boxcars.kernels.columns.text_order import order_of_texts

Ints = NDArray[np.int64]
Hashes = NDArray[np.uint64]
Indices = NDArray[np.uint32]

_CODE = "__code"
_FIRST_TABLE = 1 << 12
_PORTION = 64


@dataclass(frozen=True)
class Keys:
    """Encoded keys: ``codes`` has a number for each tuple, ``table`` a row for each key.

    Keys are numbered in sort order (nulls first), so that results sorted by number are sorted by
    key, independent of arrival order; or by first appearance, where the order of keys does not
    matter.
    """

    codes: Ints
    table: pl.DataFrame
    number: int


def encode_keys(
    frame: pl.DataFrame, by: Sequence[str], in_order: bool = True, hashes: Hashes | None = None
) -> Keys:
    """Encode the keys of tuples; ``hashes`` saves the hashing where they are known.

    >>> keys = encode_keys(pl.DataFrame({"who": ["b", "a", "b"]}), ["who"])
    >>> keys.codes.tolist(), keys.table["who"].to_list()
    ([1, 0, 1], ['a', 'b'])
    """
    if not by:
        return Keys(np.zeros(frame.height, np.int64), pl.DataFrame(), min(frame.height, 1))
    columns = select_columns(frame, by)
    codes, firsts = factorize(columns.hash_rows().to_numpy() if hashes is None else hashes)
    table = take_rows(columns, firsts)
    if not _agree(columns, table, codes):
        return _encode_by_join(columns, table)
    if not in_order:
        return Keys(codes, table, table.height)
    order = _order_of(table).to_numpy()
    ranks = np.empty(len(order), np.int64)
    ranks[order] = np.arange(len(order))
    return Keys(ranks[codes], table[order], len(order))


def _order_of(table: pl.DataFrame) -> pl.Series:
    """Argsort the keys."""
    first = table.to_series()
    order = order_of_texts(first) if table.width == 1 and first.dtype == pl.String else None
    if order is None:
        order = table.select(pl.arg_sort_by(table.columns, nulls_last=False)).to_series()
    return order


def _agree(columns: pl.DataFrame, table: pl.DataFrame, codes: Ints) -> bool:
    """Whether equal hashes mean equal keys, which is all but certain."""
    return all(_same(columns[name], table[name], codes) for name in columns.columns)


def _same(column: pl.Series, values: pl.Series, codes: Ints) -> bool:
    """Whether ``column`` equals ``values[codes]``."""
    seen = 0
    if column.dtype == pl.String and len(column) and not column.null_count():
        seen = _same_views(_views(column), _views(values), codes)
    rest = codes[seen:]
    return not len(rest) or bool(column[seen:].eq_missing(take_values(values, rest)).all())


def _views(texts: pl.Series) -> Hashes:
    """The 16-byte string views of Arrow: the string if it is short, otherwise its location."""
    array = texts.rechunk().to_arrow(compat_level=pl.CompatLevel.newest())
    views = np.frombuffer(array.buffers()[1], np.uint64)
    return views[2 * array.offset : 2 * (array.offset + len(array))].reshape(-1, 2)


@njit(cache=True, nogil=True)
def _same_views(views: Hashes, values: Hashes, codes: Ints) -> int:
    """Number of leading strings that equal their values by view alone, without reading them."""
    for i in range(len(codes)):
        code = codes[i]
        if views[i, 0] != values[code, 0] or views[i, 1] != values[code, 1]:
            return i
    return len(codes)


def _encode_by_join(columns: pl.DataFrame, table: pl.DataFrame) -> Keys:
    """Encode keys by a join: slower, for the case that two keys share a hash."""
    by = columns.columns
    table = columns.unique(maintain_order=False).sort(by, nulls_last=False)
    numbered = table.with_columns(pl.int_range(pl.len(), dtype=pl.Int64).alias(_CODE))
    joined = columns.join(numbered, on=by, how="left", nulls_equal=True, maintain_order="left")
    return Keys(joined[_CODE].to_numpy(), table, table.height)


@njit(cache=True, nogil=True)
def factorize(hashes: Hashes) -> tuple[Ints, Ints]:
    """Number hashes by first appearance; also returns the index of each first appearance.

    The table grows between portions only: growing it inside the inner loop costs half as much
    again.
    """
    slots = np.zeros((_FIRST_TABLE, 2), np.uint64)
    codes = np.empty(len(hashes), np.int64)
    firsts = np.empty(max(len(hashes), 1), np.int64)
    known = 0
    for start in range(0, len(hashes), _PORTION):
        while 2 * (known + _PORTION) > len(slots):
            slots = _grow(slots)
        last = np.int64(len(slots) - 1)
        for i in range(start, min(start + _PORTION, len(hashes))):
            slot = np.int64(hashes[i]) & last
            while slots[slot, 1] != 0 and slots[slot, 0] != hashes[i]:
                slot = (slot + 1) & last
            if slots[slot, 1] == 0:
                firsts[known] = i
                known += 1
                slots[slot, 0], slots[slot, 1] = hashes[i], known
            codes[i] = np.int64(slots[slot, 1]) - 1
    return codes, firsts[:known].copy()


@njit(cache=True, nogil=True)
def _grow(slots: Hashes) -> Hashes:
    """A larger table; each slot holds a hash and its number from 1 on (0: free)."""
    larger = np.zeros((4 * len(slots), 2), np.uint64)
    for old in range(len(slots)):
        if slots[old, 1] == 0:
            continue
        slot = np.int64(slots[old, 0] & np.uint64(len(larger) - 1))
        while larger[slot, 1] != 0:
            slot = (slot + 1) & (len(larger) - 1)
        larger[slot, 0], larger[slot, 1] = slots[old, 0], slots[old, 1]
    return larger


@njit(cache=True, nogil=True)
def group_order(codes: Ints, number: int) -> tuple[Indices, Ints]:
    """Argsort tuples by key, stable; also returns the start of each key."""
    starts = np.zeros(number + 1, np.int64)
    for code in codes:
        starts[code + 1] += 1
    for key in range(number):
        starts[key + 1] += starts[key]
    free = starts[:-1].copy()
    order = np.empty(len(codes), np.uint32)
    for i in range(len(codes)):
        order[free[codes[i]]] = i
        free[codes[i]] += 1
    return order, starts


@njit(cache=True, nogil=True)
def take_ints(numbers: Ints, order: Indices) -> Ints:
    """``numbers[order]`` in half the time: NumPy would widen the indices first."""
    out = np.empty(len(order), np.int64)
    for i in range(len(order)):
        out[i] = numbers[order[i]]
    return out


def ordered_numbers(
    column: pl.Series,
) -> tuple[pl.Series, Callable[[NDArray[Any]], pl.Series]]:
    """Map values to numbers of the same order, and return the inverse mapping."""
    dtype = column.dtype
    if dtype in (pl.Int64, pl.Float64):
        return column, pl.Series
    if dtype not in (pl.String, pl.Binary):
        return column.cast(pl.Int64), lambda found: pl.Series(found).cast(dtype, strict=False)
    keys = encode_keys(column.to_frame(), [column.name])
    ranks = pl.Series(keys.codes)
    table = keys.table.to_series()

    def back(found: NDArray[Any]) -> pl.Series:
        return table.gather(np.clip(found, 0, len(table) - 1))

    return pl.select(pl.when(column.is_not_null()).then(ranks)).to_series(), back
