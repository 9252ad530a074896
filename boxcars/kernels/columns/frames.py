"""Frames column by column: to select, drop and replace without a query, which small steps feel."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray


def picked(frame: pl.DataFrame, names: Iterable[str]) -> pl.DataFrame:
    """These columns, in this order."""
    return pl.DataFrame([frame.get_column(name) for name in names])


def without(frame: pl.DataFrame, names: Collection[str]) -> pl.DataFrame:
    """All columns but these, where there are any of them."""
    left = frame.clone()
    for name in set(names).intersection(frame.columns):
        left.drop_in_place(name)
    return left


def replaced(frame: pl.DataFrame, columns: Iterable[pl.Series]) -> pl.DataFrame:
    """With these columns in place of those of their names, or behind the others.

    >>> replaced(pl.DataFrame({"a": [1], "b": [2]}), [pl.Series("a", [3]), pl.Series("c", [4])])
    shape: (1, 3)
    ┌─────┬─────┬─────┐
    │ a   ┆ b   ┆ c   │
    │ --- ┆ --- ┆ --- │
    │ i64 ┆ i64 ┆ i64 │
    ╞═════╪═════╪═════╡
    │ 3   ┆ 2   ┆ 4   │
    └─────┴─────┴─────┘
    """
    changed, names = frame.clone(), frame.columns
    more: list[pl.Series] = []
    for column in columns:
        if column.name in names:
            changed.replace_column(names.index(column.name), column)
        else:
            more.append(column)
    return changed.hstack(more, in_place=True) if more else changed


def whole(frames: Sequence[pl.DataFrame]) -> pl.DataFrame:
    """The rows of all frames as one, in pieces; nothing is copied."""
    full = [frame for frame in frames if frame.height] or [frames[-1]]
    found, columns = full[0], full[0].columns
    for frame in full[1:]:
        found = found.vstack(frame if frame.columns == columns else picked(frame, columns))
    return found


def gathered(frame: pl.DataFrame, places: NDArray[Any]) -> pl.DataFrame:
    """The rows at these places. From a frame in pieces it takes six times as long as from one."""
    return (frame.rechunk() if frame.n_chunks() > 1 else frame)[_index(places)]


def rows_where(frame: pl.DataFrame, mask: NDArray[Any]) -> pl.DataFrame:
    """The rows for which the mask holds."""
    return frame if mask.all() else gathered(frame, mask.nonzero()[0])


def values_at(column: pl.Series, places: NDArray[Any]) -> pl.Series:
    """The values at these places."""
    return column[_index(places)]


def numbers_of(column: pl.Series) -> NDArray[Any]:
    """The numbers that a column is stored as."""
    return (column if column.dtype.is_numeric() else column.to_physical()).to_numpy()


def _index(places: NDArray[Any]) -> pl.Series:
    """Places as Polars takes them without a look at each: in half the time."""
    return pl.Series(places.astype(np.uint32, copy=False))
