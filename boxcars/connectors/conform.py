"""Convert data to the schema of an input; rows that do not fit become dead letters."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import polars as pl
import pyarrow as pa

from boxcars.expr.cast import cast
from boxcars.expr.value import Value
from boxcars.model.entities import Input, Table
from boxcars.model.order import has_place, in_words
from boxcars.model.problem import Wrong, a, nearest
from boxcars.model.timestamps import IN_WORDS, in_range
from boxcars.model.types import Type

DEAD_LETTERS: Mapping[str, pl.DataType] = {"record": pl.Binary(), "reason": pl.String()}
_REASON = "__reason"
DATA_ERRORS = (pa.ArrowException, pl.exceptions.PolarsError, pl.exceptions.PanicException)
"""Errors of Arrow and Polars about bad data; a panic is no subclass of Exception."""


@dataclass(frozen=True)
class Conformed:
    """Tuples that fit the input, and the records that do not, with the reason."""

    tuples: pl.DataFrame
    dead: pl.DataFrame


def as_frame(data: Any) -> pl.DataFrame:
    """Convert Arrow, Polars, pandas, a dict of columns or a list of rows to a Polars frame."""
    if isinstance(data, pl.DataFrame):
        return data
    if isinstance(data, pl.LazyFrame):
        return data.collect()
    try:
        if data is None:
            raise TypeError("no data")
        if isinstance(data, pa.RecordBatch):
            data = pa.Table.from_batches([data])
        elif type(data).__module__.split(".")[0] == "pandas":
            data = pa.Table.from_pandas(data, preserve_index=False)
        elif isinstance(data, Mapping):
            data = pa.table(dict(data))
        elif isinstance(data, list):
            names = dict.fromkeys(name for row in data for name in row.keys())  # noqa: SIM118
            data = pa.table({name: [row.get(name) for row in data] for name in names})
        frame = pl.from_arrow(data)
    except (TypeError, ValueError, AttributeError, *DATA_ERRORS) as error:
        first = first_line(error)
        raise Wrong(
            f"expected a path, an Arrow table, a Polars or pandas frame, a dict of columns or a "
            f"list of rows; got a {type(data).__name__} ({first})."
        ) from None
    if isinstance(frame, pl.Series):
        raise Wrong("expected a table, got a single column.")
    return frame


def conform(frame: pl.DataFrame, entity: Input | Table) -> Conformed:
    """Cast the columns to the declared types, and separate the rows that do not fit.

    Text is parsed where a number, boolean or timestamp is declared. A row becomes a dead letter if
    its text can't be parsed, a timestamp is outside the years 1 to 9999, or its order attribute is
    null, NaN or outside the range of windows (:mod:`boxcars.model.order`).
    """
    if not frame.columns:
        frame = pl.DataFrame(schema={name: t.dtype for name, t in entity.fields.items()})
    reasons: list[pl.Expr] = []
    columns: list[pl.Expr] = []
    for name, type_ in entity.fields.items():
        if name not in frame.columns:
            raise Wrong(f"the data has no field '{name}'.{nearest(name, frame.columns)}")
        order = isinstance(entity, Input) and name == entity.ts
        column, reason = _column(frame, name, type_, "order attribute" if order else "timestamp")
        columns.append(column)
        reasons += reason
    if isinstance(entity, Input) and not entity.stamped:
        ts = dict(zip(entity.fields, columns, strict=True))[entity.ts]
        reasons += _order_reasons(entity, ts)
    if all(column.meta.is_column() for column in columns) and not _any(frame, reasons):
        return Conformed(frame.select(list(entity.fields)), dead_letters([]))
    whole = frame.with_columns(pl.coalesce(pl.lit(None, pl.String), *reasons).alias(_REASON))
    good = whole.filter(pl.col(_REASON).is_null()).select(columns)
    bad = whole.filter(pl.col(_REASON).is_not_null())
    return Conformed(good, letters_of(bad.select(list(entity.fields)), bad[_REASON]))


def _any(frame: pl.DataFrame, reasons: Iterable[pl.Expr]) -> bool:
    found = [frame.select(reason.is_not_null().any()).item() for reason in reasons]
    return any(found)


def _column(
    frame: pl.DataFrame, name: str, type_: Type, what: str
) -> tuple[pl.Expr, list[pl.Expr]]:
    """The column in its declared type, and expressions for the reasons why a row does not fit."""
    got = frame.schema[name]
    column = pl.col(name)
    if isinstance(got, pl.Datetime | pl.Date) and type_ is Type.TIMESTAMP:
        return _times(column, got, f"{name}: the {what} is not between {IN_WORDS}")
    if got == type_.dtype:
        return column, []
    if got == pl.Null():
        return column.cast(type_.dtype), []
    found = Type.of(got)
    if found is Type.STR and type_ not in (Type.STR, Type.BYTES):
        text = column.cast(pl.String)
        parsed = cast(Value(Type.STR, text, name), type_)
        failed = pl.when(text.is_not_null() & parsed.is_null())
        says = pl.concat_str(pl.lit(f"{name}: '"), text, pl.lit(f"' is not {a(type_)}"))
        return parsed.alias(name), [failed.then(says)]
    if found is not type_ and not (found is Type.INT and type_ is Type.FLOAT):
        raise Wrong(f"field '{name}' is {got} in the data, expected {a(type_)}.")
    return column.cast(type_.dtype), []


def _times(
    column: pl.Expr, got: pl.Datetime | pl.Date, reason: str
) -> tuple[pl.Expr, list[pl.Expr]]:
    """A column of times or dates as UTC timestamps; out of range they would fail to convert."""
    near = in_range(column, got)
    far: list[pl.Expr] = [pl.when(~near).then(pl.lit(reason))]
    if got == Type.TIMESTAMP.dtype:
        return column, far
    times: pl.Expr = pl.when(near).then(column)
    if isinstance(got, pl.Datetime) and got.time_zone:
        times = times.dt.convert_time_zone("UTC").dt.replace_time_zone(None)
    return times.cast(Type.TIMESTAMP.dtype), far


def _order_reasons(entity: Input, ts: pl.Expr) -> list[pl.Expr]:
    """Reasons why an order attribute is invalid; a far one would close all windows too early."""
    type_ = entity.order_type
    null = pl.lit(f"{entity.ts}: the order attribute is null")
    reasons: list[pl.Expr] = [pl.when(ts.is_null()).then(null)]
    if type_ is Type.FLOAT:
        nan = pl.lit(f"{entity.ts}: the order attribute is not a number")
        reasons.append(pl.when(ts.is_nan()).then(nan))
    if type_ is Type.TIMESTAMP:
        return reasons  # all timestamps are in the range of windows
    far = pl.lit(f"{entity.ts}: the order attribute is not between {in_words(type_)}")
    reasons.append(pl.when(~has_place(ts, type_)).then(far))
    return reasons


def letters_of(rows: pl.DataFrame, reasons: pl.Series | str) -> pl.DataFrame:
    """Rows as dead letters: each as JSON, with its own reason or a common one."""
    if isinstance(reasons, str):
        reasons = pl.repeat(reasons, rows.height, dtype=pl.String, eager=True)
    readable = rows.select(_readable(name, dtype) for name, dtype in rows.schema.items())
    fields = [_json_field(name, dtype) for name, dtype in readable.schema.items()]
    text = pl.concat_str(pl.lit("{"), pl.concat_str(fields, separator=","), pl.lit("}"))
    texts = readable.select(text.cast(pl.Binary)).to_series()
    return pl.DataFrame({"record": texts, "reason": reasons}, schema=dict(DEAD_LETTERS))


def _readable(name: str, dtype: pl.DataType) -> pl.Expr:
    """A column as JSON can represent it: bytes in base64, times out of range as counts."""
    column = pl.col(name)
    if dtype == pl.Binary():
        return column.bin.encode("base64")
    if not isinstance(dtype, pl.Datetime | pl.Date):
        return column
    unit = dtype.time_unit if isinstance(dtype, pl.Datetime) else "days"
    count = pl.concat_str(column.to_physical(), pl.lit(f" {unit} since 1970"))
    near = pl.when(in_range(column, dtype)).then(column)
    return near.cast(pl.String).fill_null(count)


def _json_field(name: str, dtype: pl.DataType) -> pl.Expr:
    """A field of a JSON object, such as ``"price":2.5``; infinities and NaN are texts."""
    field = pl.struct(name).struct.json_encode().str.slice(1).str.strip_suffix("}")
    if not dtype.is_float():
        return field
    column = pl.col(name)
    text = pl.concat_str(pl.lit(f"{json.dumps(name)}:"), pl.format('"{}"', column))
    return pl.when(column.is_finite() | column.is_null()).then(field).otherwise(text)


def first_line(error: BaseException) -> str:
    """The first line of an error message, without the details for developers."""
    return (str(error).strip().splitlines() or [type(error).__name__])[0]


def dead_letters(rows: list[tuple[bytes, str]]) -> pl.DataFrame:
    """A table of dead letters."""
    return pl.DataFrame(rows, schema=dict(DEAD_LETTERS), orient="row")
