"""Frames column by column: to select, drop and replace without a query, which small steps feel."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Any

import polars as pl
from numpy.typing import NDArray


def picked(frame: pl.DataFrame, names: Iterable[str]) -> pl.DataFrame:
    """These columns, in this order."""
    return pl.DataFrame([frame.get_column(name) for name in names])


def without(frame: pl.DataFrame, names: Collection[str]) -> pl.DataFrame:
    """All columns but these, where there are any of them."""
    return pl.DataFrame([column for column in frame.iter_columns() if column.name not in names])


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
    new = {column.name: column for column in columns}
    kept = [new.pop(column.name, column) for column in frame.iter_columns()]
    return pl.DataFrame([*kept, *new.values()])


def gathered(frame: pl.DataFrame, places: NDArray[Any]) -> pl.DataFrame:
    """The rows at these places. From a frame in pieces it takes six times as long as from one."""
    return (frame.rechunk() if frame.n_chunks() > 1 else frame)[places]


def rows_where(frame: pl.DataFrame, mask: NDArray[Any]) -> pl.DataFrame:
    """The rows for which the mask holds."""
    if mask.all():
        return frame
    return gathered(frame, mask.nonzero()[0])
