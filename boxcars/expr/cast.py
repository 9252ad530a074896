"""Type conversions; a value that can't be converted becomes null.

An int or float becomes a timestamp as seconds since 1970; a timestamp becomes whole seconds
(rounded down) or seconds with their fraction. A text becomes a timestamp by ISO 8601; an offset is
converted to UTC. A timestamp outside the years 1 to 9999 is null.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime

import polars as pl

from boxcars.expr.division import divide
from boxcars.expr.value import Value, per_value
from boxcars.model.problem import Wrong, nearest
from boxcars.model.timestamps import FIRST, LAST, bounded
from boxcars.model.types import Type

_NAMES = {
    Type.STR: ("str", "varchar", "text", "string"),
    Type.INT: ("int", "bigint", "integer", "long"),
    Type.FLOAT: ("float", "double", "real"),
    Type.BOOL: ("bool", "boolean"),
    Type.TIMESTAMP: ("timestamp", "datetime"),
    Type.BYTES: ("bytes", "blob", "binary"),
}
_BY_NAME = {name: type_ for type_, names in _NAMES.items() for name in names}

_MICROS = 1_000_000
_ISO = (
    r"^\s*(?<date>\d{4}-\d{2}-\d{2})"
    r"(?:[Tt ](?<minute>\d{2}:\d{2})(?<second>:\d{2}(?:\.\d{1,9})?)?)?"
    r"\s*(?:(?<zulu>[Zz])|(?<sign>[+-])(?<hours>\d{2}):?(?<minutes>\d{2})?)?\s*$"
)


def type_named(name: str) -> Type:
    """Return the type for its SQL name.

    >>> type_named("VARCHAR")
    <Type.STR: 'str'>
    """
    if name.lower() not in _BY_NAME:
        raise Wrong(f"unknown type '{name}'.{nearest(name, _BY_NAME)}")
    return _BY_NAME[name.lower()]


def cast(value: Value, to: Type) -> pl.Expr:
    """Return the value converted to a type."""
    if value.type in (to, Type.UNKNOWN):
        return value.expr.cast(to.dtype)
    rule = _RULES.get((value.type, to))
    if rule is None:
        raise Wrong(f"can't cast {value} to {to}.")
    return rule(value.expr)


def timestamp_of(text: str) -> datetime | None:
    """Return the timestamp of an ISO 8601 text."""
    found: datetime | None = pl.select(parse_iso(pl.lit(text))).item()
    return found


def micros(seconds: pl.Expr) -> pl.Expr:
    """Seconds (int or float) as whole microseconds; null if out of range."""
    limit = (LAST - FIRST) // _MICROS
    small = pl.when(seconds.is_between(-limit, limit)).then(seconds)
    return (small * _MICROS).round().cast(pl.Int64, strict=False)


def to_seconds(time: pl.Expr) -> pl.Expr:
    """Return a timestamp as seconds since 1970 with their fraction."""
    return divide(time.cast(pl.Int64).cast(pl.Float64), pl.lit(float(_MICROS)))


def parse_iso(text: pl.Expr) -> pl.Expr:
    """Parse a text as an ISO 8601 timestamp."""
    parts = text.str.extract_groups(_ISO).struct
    moment = pl.concat_str(
        parts["date"],
        pl.lit(" "),
        parts["minute"].fill_null("00:00"),
        parts["second"].fill_null(":00"),
    )
    local = moment.str.to_datetime("%Y-%m-%d %H:%M:%S%.f", time_unit="us", strict=False)
    hours = parts["hours"].cast(pl.Int64, strict=False).fill_null(0)
    minutes = parts["minutes"].cast(pl.Int64, strict=False).fill_null(0)
    east = pl.when(parts["sign"] == "-").then(-1).otherwise(1)
    return bounded(local.cast(pl.Int64) - east * (hours * 60 + minutes) * 60 * _MICROS)


def _decode(data: bytes) -> str | None:
    try:
        return data.decode()
    except UnicodeDecodeError:
        return None


def _to_bool(text: pl.Expr) -> pl.Expr:
    word = text.str.strip_chars().str.to_lowercase()
    yes, no = word.is_in(["true", "1"]), word.is_in(["false", "0"])
    return pl.when(yes).then(True).when(no).then(False)


def _plain(to: Type) -> Callable[[pl.Expr], pl.Expr]:
    return lambda expr: expr.cast(to.dtype, strict=False)


_RULES: dict[tuple[Type, Type], Callable[[pl.Expr], pl.Expr]] = {
    **{
        (a, b): _plain(b)
        for a in (Type.INT, Type.FLOAT, Type.BOOL)
        for b in (Type.INT, Type.FLOAT, Type.BOOL, Type.STR)
    },
    (Type.STR, Type.INT): lambda x: x.str.strip_chars().cast(pl.Int64, strict=False),
    (Type.STR, Type.FLOAT): lambda x: x.str.strip_chars().cast(pl.Float64, strict=False),
    (Type.STR, Type.BOOL): _to_bool,
    (Type.STR, Type.TIMESTAMP): parse_iso,
    (Type.STR, Type.BYTES): _plain(Type.BYTES),
    (Type.BYTES, Type.STR): lambda x: per_value(_decode, x, returns=Type.STR),
    (Type.INT, Type.TIMESTAMP): lambda x: bounded(micros(x)),
    (Type.FLOAT, Type.TIMESTAMP): lambda x: bounded(micros(x)),
    (Type.TIMESTAMP, Type.INT): lambda x: x.cast(pl.Int64) // _MICROS,
    (Type.TIMESTAMP, Type.FLOAT): to_seconds,
    (Type.TIMESTAMP, Type.STR): lambda x: x.dt.strftime("%Y-%m-%dT%H:%M:%S%.f"),
}
