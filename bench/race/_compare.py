"""Compare the rows of two engines: both sorted, floats equal up to rounding."""

from collections.abc import Sequence
from pathlib import Path

import polars as pl

TOLERANCE = 1e-9
"""Tolerance of floats, relative to the larger one or to 1."""


def read_rows(folder: Path, fields: Sequence[str]) -> pl.DataFrame:
    """Read the rows that an engine wrote to a folder: Parquet, or CSV with a header."""
    if found := sorted(folder.rglob("*.parquet")):
        frames = [pl.read_parquet(path) for path in found]
    else:
        frames = [pl.read_csv(path, infer_schema=False) for path in sorted(folder.rglob("*.csv"))]
    return pl.concat([frame.select(fields) for frame in frames if frame.height])


def closed(rows: pl.DataFrame, end: int, window: int) -> pl.DataFrame:
    """Rows whose window, which starts at their time, ends by ``end``."""
    return rows.filter(pl.col("time").cast(pl.Int64) + window <= end)


def difference(ours: pl.DataFrame, theirs: pl.DataFrame) -> str | None:
    """A description of the first difference; None if all rows are the same.

    >>> ours = pl.DataFrame({"time": [1, 2], "x": [0.5, 0.25]})
    >>> difference(ours, ours.reverse())
    >>> difference(ours, ours.head(1))
    '2 rows against 1'
    """
    theirs = theirs.select(
        pl.col(name).cast(dtype, strict=True) for name, dtype in ours.schema.items()
    )
    if ours.height != theirs.height:
        return f"{ours.height:,} rows against {theirs.height:,}"
    order = sorted(ours.columns, key=lambda name: ours.schema[name].is_float())
    mine, other = ours.sort(order), theirs.sort(order)
    same = pl.Series([True]).new_from_index(0, ours.height)
    for name in ours.columns:
        same &= _alike(mine[name], other[name])
    if same.all():
        return None
    row = same.arg_min() or 0
    return f"row {row:,}: {mine.row(row)} against {other.row(row)}"


def _alike(mine: pl.Series, other: pl.Series) -> pl.Series:
    if not mine.dtype.is_float():
        return mine.eq_missing(other)
    pair = pl.DataFrame({"a": mine, "b": other})
    far = (pl.col("a") - pl.col("b")).abs()
    size = pl.max_horizontal(pl.col("a").abs(), pl.col("b").abs(), pl.lit(1.0))
    near = (far <= TOLERANCE * size) | pl.col("a").eq_missing(pl.col("b"))
    return pair.select(near).to_series().fill_null(False)
