"""Converts between tuples of a train and the values of a database driver."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

import polars as pl

from boxcars.expr.cast import cast
from boxcars.expr.value import Value
from boxcars.model.problem import Wrong, a
from boxcars.model.types import Type
from boxcars.sql.write import SQLITE_TIME, Dialect

Row = tuple[Any, ...]


def rows_of(train: pl.DataFrame, dialect: Dialect) -> list[Row]:
    """Convert a frame to rows for a driver."""
    for name, dtype in train.schema.items():
        if dtype == Type.TIMESTAMP.dtype:
            near = train[name].is_between(datetime.min, datetime.max)
            if not near.all(ignore_nulls=True):
                raise Wrong(
                    f"'{name}': a timestamp outside of the years 1 to 9999 can't be stored."
                )
    if not dialect.typed:
        times = pl.col(pl.Datetime("us"))
        train = train.with_columns(times.dt.strftime(SQLITE_TIME))
    return train.rows()


def column_of(values: Sequence[Any], name: str, type_: Type) -> pl.Series:
    """Convert values from a driver to a column; a value of another type is an error."""
    kinds = set(map(type, values)) - {type(None)}
    if type_ is Type.TIMESTAMP:
        return _times(values, name, kinds)
    own, others, convert = _CONVERTERS[type_]
    if strange := kinds - {own, *others}:
        raise _misfit(name, type_, next(value for value in values if type(value) in strange))
    try:
        if kinds - {own}:
            values = [None if value is None else convert(value) for value in values]
        return pl.Series(name, values, dtype=type_.dtype)
    except (TypeError, ValueError, OverflowError, pl.exceptions.PolarsError):
        raise Wrong(f"column '{name}' has a value that does not fit into {a(type_)}.") from None


def _misfit(name: str, type_: Type, value: object) -> Wrong:
    return Wrong(f"column '{name}' was declared {a(type_)}, but {value!r} is stored in it.")


def _times(values: Sequence[Any], name: str, kinds: set[type]) -> pl.Series:
    """Convert timestamps; SQLite stores them as text."""
    if kinds <= {datetime}:
        naive = [v.astimezone(UTC).replace(tzinfo=None) if v and v.tzinfo else v for v in values]
        return pl.Series(name, naive, dtype=Type.TIMESTAMP.dtype)
    if strange := kinds - {str}:
        raise _misfit(name, Type.TIMESTAMP, next(v for v in values if type(v) in strange))
    texts = pl.DataFrame([pl.Series(name, values, dtype=pl.String)])
    parsed = texts.select(cast(Value(Type.STR, pl.col(name), name), Type.TIMESTAMP)).to_series()
    failed = texts[name].filter(parsed.is_null() & texts[name].is_not_null())
    if failed.len():
        raise _misfit(name, Type.TIMESTAMP, failed[0])
    return parsed.alias(name)


_CONVERTERS: dict[Type, tuple[type, tuple[type, ...], Callable[[Any], Any]]] = {
    Type.STR: (str, (), str),
    Type.INT: (int, (Decimal,), int),
    Type.FLOAT: (float, (int, Decimal), float),
    Type.BOOL: (bool, (int,), bool),
    Type.BYTES: (bytes, (memoryview,), bytes),
}
"""The Python type of values, other types that are accepted, and the conversion of those."""
