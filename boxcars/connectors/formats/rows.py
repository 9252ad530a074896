"""Encoding of rows, and the base of formats that work on one record at a time."""

from __future__ import annotations

import json
from abc import abstractmethod
from collections.abc import Iterable, Mapping
from datetime import datetime

import polars as pl

from boxcars.connectors.formats.format import Decoded, Encoded, Format, letters
from boxcars.connectors.formats.records import Reasons
from boxcars.connectors.formats.texts import A_TYPE, quote, shown, utc, where
from boxcars.model.types import Type

Row = Mapping[str, object]

_CLASSES: dict[Type, type] = {
    Type.STR: str,
    Type.INT: int,
    Type.FLOAT: float,
    Type.BOOL: bool,
    Type.TIMESTAMP: datetime,
    Type.BYTES: bytes,
}


class RecordFormat(Format):
    r"""A format that consists of two small methods, for use cases without high throughput.

    ``decode_record`` is called with each value of a series, and returns one or more mappings of
    fields. A missing field is null, and names that are not fields are ignored. An exception makes
    the whole value a dead letter, with its text as the reason.

    >>> from boxcars.connectors.formats import converter, formats, make_format
    >>> @converter("pairs")
    ... class Pairs(RecordFormat):
    ...     def decode_record(self, record):
    ...         name, _, count = record.decode().partition("=")
    ...         return {"name": name, "count": int(count)}
    ...     def encode_record(self, row):
    ...         return f"{row['name']}={row['count']}".encode()
    >>> pairs = make_format("pairs", {"name": Type.STR, "count": Type.INT}, {})
    >>> decoded = pairs.decode(pl.Series([b"ann=1", b"bob=x"]))
    >>> decoded.tuples.rows(), decoded.dead["reason"].to_list()
    ([('ann', 1)], ["invalid literal for int() with base 10: 'x'"])
    >>> pairs.encode(decoded.tuples).data.to_list()
    [b'ann=1']
    """

    @abstractmethod
    def decode_record(self, record: bytes) -> Row | Iterable[Row]:
        """Return the fields of a record. Raises ``ValueError("reason")`` for a corrupt one."""

    @abstractmethod
    def encode_record(self, row: Row) -> bytes:
        """Return the record of a row. Raises ``ValueError("reason")`` if it can't be encoded."""

    def decode(self, data: pl.Series) -> Decoded:
        """Return the tuples in records."""
        rows: list[tuple[object, ...]] = []
        origin: list[int] = []
        dead: list[tuple[int, bytes, str]] = []
        for number, record in enumerate(data):
            if record is None:
                continue
            try:
                found = self._rows(record)
            except Exception as error:
                dead.append((number, record, _text(error)))
            else:
                rows += found
                origin += [number] * len(found)
        tuples = pl.DataFrame(rows, schema=self.dtypes, orient="row")
        return Decoded(tuples, pl.Series("origin", origin, pl.UInt32), _letters(dead))

    def encode(self, train: pl.DataFrame) -> Encoded:
        """Return the record of each row."""
        data: list[bytes | None] = []
        near, reasons = _without_far_moments(train)
        for number, row in enumerate(near.iter_rows(named=True)):
            try:
                if number in reasons:
                    raise ValueError(reasons[number])
                record = self.encode_record(row)
                if not isinstance(record, bytes):
                    raise TypeError(f"encode_record returned {quote(record)} instead of bytes")
            except Exception as error:
                reasons[number] = _text(error)
                data.append(None)
            else:
                data.append(record)
        return encoded(train, pl.Series(data, dtype=pl.Binary), reasons)

    def _rows(self, record: bytes) -> list[tuple[object, ...]]:
        found = self.decode_record(record)
        each = [found] if isinstance(found, Mapping) else list(found)
        return [self._checked(row) for row in each]

    def _checked(self, row: Row) -> tuple[object, ...]:
        if not isinstance(row, Mapping):
            raise TypeError(f"decode_record returned {quote(row)} instead of a mapping")
        return tuple(checked(name, type_, row.get(name)) for name, type_ in self.fields.items())


def checked(name: str, type_: Type, value: object) -> object:
    """Return a value in its declared type. Raises ``ValueError`` if it has another type.

    >>> checked("speed", Type.FLOAT, 5), checked("speed", Type.FLOAT, None)
    (5.0, None)
    >>> checked("time", Type.INT, True)
    Traceback (most recent call last):
    ValueError: time: expected an int, got True
    """
    if value is None:
        return None
    if type_ is Type.FLOAT and type(value) is int:
        try:
            return float(value)
        except OverflowError:
            raise ValueError(f"{name}: {quote(value)} is out of range for a float") from None
    if not isinstance(value, _CLASSES[type_]) or (type_ is Type.INT and isinstance(value, bool)):
        wanted = "bytes" if type_ is Type.BYTES else A_TYPE[type_]
        raise ValueError(f"{name}: expected {wanted}, got {quote(value)}")
    if isinstance(value, int) and not -(2**63) <= value < 2**63:
        raise ValueError(f"{name}: {quote(value)} is out of range for an int")
    if isinstance(value, str) and not _is_unicode(value):
        raise ValueError(f"{name}: {quote(value)} is not valid Unicode")
    return utc(value) if isinstance(value, datetime) else value


def encoded(train: pl.DataFrame, data: pl.Series, reasons: Reasons) -> Encoded:
    """Return the bytes of the rows without a reason, and dead letters for the others."""
    data = data.cast(pl.Binary).alias("data")
    if not reasons:
        return Encoded(data, letters([], [], []))
    dead = sorted(reasons)
    readable = train[dead].with_columns(pl.col(Type.TIMESTAMP.dtype).cast(pl.String))
    rows = (as_json(row) for row in readable.iter_rows(named=True))
    return Encoded(data.scatter(dead, None), letters(dead, list(rows), [reasons[n] for n in dead]))


def _without_far_moments(train: pl.DataFrame) -> tuple[pl.DataFrame, Reasons]:
    """Return a train without timestamps that Python can't represent, and reasons for them."""
    reasons: Reasons = {}
    for column in train.select(pl.col(Type.TIMESTAMP.dtype)):
        near = column.dt.year().is_between(1, 9999)
        for row in (~near).fill_null(value=False).arg_true():
            reasons.setdefault(row, f"{column.name}: {shown(column, row)} is out of range")
        train = train.with_columns(where(near, column).alias(column.name))
    return train, reasons


def as_json(row: Row) -> bytes:
    """Return a row as readable JSON.

    >>> as_json({"who": "ann", "raw": b"a"})
    b'{"who": "ann", "raw": "a"}'
    """
    return json.dumps(row, default=_shown, ensure_ascii=False).encode()


def _shown(value: object) -> str:
    return value.decode(errors="backslashreplace") if isinstance(value, bytes) else str(value)


def _letters(dead: list[tuple[int, bytes, str]]) -> pl.DataFrame:
    return letters([n for n, _, _ in dead], [r for _, r, _ in dead], [w for _, _, w in dead])


def _text(error: Exception) -> str:
    return str(error) or type(error).__name__


def _is_unicode(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True
