"""The text representation of values that csv, jsonl and xml share.

An int is decimal; a float has its shortest digits, or is ``NaN``, ``inf`` or ``-inf``; a bool is
``true`` or ``false``; a timestamp is ISO 8601 in UTC with microseconds; bytes are base64.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import UTC, datetime

import polars as pl

from boxcars.connectors.formats.records import Reasons
from boxcars.model.timestamps import bounded_series
from boxcars.model.types import Type

A_TYPE: dict[Type, str] = {
    Type.STR: "a str",
    Type.INT: "an int",
    Type.FLOAT: "a float",
    Type.BOOL: "a bool",
    Type.TIMESTAMP: "a timestamp",
    Type.BYTES: "base64 bytes",
}
SHOWN = 40
"""Maximum characters of a bad value that a reason quotes."""

_ISO = (
    r"^[0-9]{4}-[0-9]{2}-[0-9]{2}"
    r"(?:[T ][0-9]{2}:[0-9]{2}:[0-5][0-9](?:\.[0-9]{1,9})?(?:Z|[+-][0-9]{2}:?[0-9]{2})?)?$"
)
_ZONE = r"(?:Z|[+-][0-9]{2}:?[0-9]{2})$"
_PLAIN = "%Y-%m-%dT%H:%M:%S%.f"


def parse(text: pl.Series, type_: Type) -> pl.Series:
    """Parse a String series; null where it is null or not of that type.

    >>> parse(pl.Series(["7", "x"]), Type.INT).to_list()
    [7, None]
    """
    match type_:
        case Type.STR:
            return text
        case Type.FLOAT:
            return _floats(text)
        case Type.BOOL:
            return _bools(text)
        case Type.TIMESTAMP:
            return bounded_series(_timestamps(text))
        case Type.BYTES:
            return text.cast(pl.Binary).bin.decode("base64", strict=False)
        case _:
            return text.cast(type_.dtype, strict=False)


def parse_fields(texts: pl.DataFrame, fields: Mapping[str, Type]) -> tuple[pl.DataFrame, Reasons]:
    """Parse columns of text, with a reason for each invalid row.

    >>> parse_fields(pl.DataFrame({"n": ["7", "x"]}), {"n": Type.INT})[1]
    {1: "n: 'x' is not an int"}
    """
    reasons: Reasons = {}
    columns = []
    for name, type_ in fields.items():
        text = texts[name]
        value = parse(text, type_)
        columns.append(value.alias(name))
        if value.null_count() > text.null_count():
            for row in (value.is_null() & text.is_not_null()).arg_true():
                reasons.setdefault(row, f"{name}: {refusal(text[row], type_)}")
    return pl.DataFrame(columns), reasons


def refusal(text: str, type_: Type) -> str:
    """Return the reason why a text can't be parsed as that type.

    >>> refusal("9223372036854775808", Type.INT)
    "'9223372036854775808' is out of range for an int"
    """
    quoted = quote(text)
    digits = text.lstrip("+-")
    if type_ is Type.INT and digits.isascii() and digits.isdigit():
        return f"{quoted} is out of range for an int"
    if type_ is Type.FLOAT and digits[:1].isdigit() and _is_float(text):
        return f"{quoted} is out of range for a float"
    return f"{quoted} is not {A_TYPE[type_]}"


def quote(value: object) -> str:
    """Format a value for a reason, truncated if it is long.

    >>> quote("x" * 99)
    "'xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx...'"
    """
    if isinstance(value, str):
        return repr(value if len(value) <= SHOWN else value[:SHOWN] + "...")
    text = repr(value)
    return text if len(text) <= SHOWN else text[:SHOWN] + "..."


def shown(values: pl.Series, row: int) -> str:
    """Format a value of a column for a reason, even a timestamp out of Python's range.

    >>> shown(pl.Series([2**60]).cast(pl.Datetime("us")), 0)
    '+38504-08-17 21:30:06.846976'
    """
    if values.dtype == Type.TIMESTAMP.dtype:
        return str(values.slice(row, 1).cast(pl.String)[0])
    return quote(values[row])


def write(values: pl.Series, type_: Type) -> pl.Series:
    """Return the text of each value; null where it is null, or a timestamp after the year 9999.

    >>> write(pl.Series([1.0, 5e-324, float("inf")]), Type.FLOAT).to_list()
    ['1.0', '5e-324', 'inf']
    """
    match type_:
        case Type.TIMESTAMP:
            years = values.dt.year()
            writable = (years >= 0) & (years <= 9999)
            return where(writable, values).dt.strftime("%Y-%m-%dT%H:%M:%S%.6fZ")
        case Type.BYTES:
            return values.bin.encode("base64")
        case _:
            return values.cast(pl.String)


def unwritten(train: pl.DataFrame, texts: pl.DataFrame) -> Iterator[tuple[int, str]]:
    """Yield the rows of a train with a value that ``write`` can't represent, with the reason.

    >>> list(unwritten(pl.DataFrame({"t": [5]}), pl.DataFrame({"t": [None]})))
    [(0, "t: 5 can't be written as text")]
    """
    for name in train.columns:
        values, text = train[name], texts[name]
        if text.null_count() > values.null_count():
            for row in (text.is_null() & values.is_not_null()).arg_true():
                yield row, f"{name}: {shown(values, row)} can't be written as text"


def _floats(text: pl.Series) -> pl.Series:
    values = text.cast(pl.Float64, strict=False)
    if not values.is_infinite().any():
        return values
    overflowed = values.is_infinite() & ~text.str.contains("(?i)inf")
    return where(~overflowed, values)


def _bools(text: pl.Series) -> pl.Series:
    true = text == "true"
    if (true | (text == "false")).all():
        return true
    lower = text.str.to_lowercase()
    return where(lower.is_in(["true", "false"]), lower == "true")


def _timestamps(text: pl.Series) -> pl.Series:
    """Parse timestamps: one pass for those in UTC or without a zone, another for the rest."""
    iso = where(text.str.contains(_ISO), text)
    plain = iso.str.strip_suffix("Z").str.to_datetime(_PLAIN, time_unit="us", strict=False)
    rest = (plain.is_null() & iso.is_not_null()).arg_true()
    if not len(rest):
        return plain
    full = iso.gather(rest).str.replace(" ", "T", literal=True)
    full = pl.select(
        pl.when(full.str.len_bytes() == len("2024-01-31"))
        .then(full + "T00:00:00Z")
        .when(full.str.contains(_ZONE))
        .then(full)
        .otherwise(full + "Z")
    ).to_series()
    zoned = full.str.to_datetime(_PLAIN + "%#z", time_unit="us", time_zone="UTC", strict=False)
    return plain.scatter(rest, zoned.dt.replace_time_zone(None))


def where(mask: pl.Series, values: pl.Series) -> pl.Series:
    """Return the values where the mask is true, and null elsewhere."""
    return pl.select(pl.when(mask).then(values)).to_series()


def _is_float(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return "_" not in text


def utc(moment: datetime) -> datetime:
    """Convert a datetime to UTC without a zone; one without a zone is taken as UTC.

    >>> utc(datetime.fromisoformat("2024-01-31T01:00:00+01:00"))
    datetime.datetime(2024, 1, 31, 0, 0)
    """
    return moment.astimezone(UTC).replace(tzinfo=None) if moment.tzinfo else moment
