"""JSON lines: one object per line.

A timestamp is an ISO 8601 text or a number of seconds since 1970; bytes are base64. JSON has no
NaN or infinity: such floats are the texts ``"NaN"``, ``"inf"`` and ``"-inf"``.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping

import polars as pl
import pyarrow as pa
from pyarrow import json as arrow_json

from boxcars.connectors.formats.format import Decoded, Encoded, Format
from boxcars.connectors.formats.paths import Paths
from boxcars.connectors.formats.records import Reasons, Records, block_size, flat
from boxcars.connectors.formats.rows import checked, encoded
from boxcars.connectors.formats.texts import parse, quote, refusal, unwritten, write
from boxcars.model.timestamps import bounded
from boxcars.model.types import Type

FEW = 4096
"""Lines; a block with an error that is not larger is parsed line by line."""
PARTS = 16
"""Number of parts into which a larger block with an error is split."""
DEEP = 500
"""Brackets; lines with more are parsed one by one, because Python's parser may reject them."""
HUGE = 10**400
NON_FINITE = {"NaN": math.nan, "inf": math.inf, "-inf": -math.inf}

_LITERAL = r"[:,\[]\s*-?(?:NaN|Inf(?:inity)?)\s*[,\]}]"
_ESCAPES = {'"': '\\"', "\\": "\\\\"} | {chr(code): f"\\u{code:04x}" for code in range(0x20)}
_ARROW: dict[Type, pa.DataType] = {
    Type.STR: pa.large_string(),
    Type.INT: pa.int64(),
    Type.FLOAT: pa.float64(),
    Type.BOOL: pa.bool_(),
    Type.TIMESTAMP: pa.large_string(),
    Type.BYTES: pa.large_string(),
}

_PLAIN: dict[Type, tuple[type, ...]] = {
    Type.STR: (str, type(None)),
    Type.INT: (int, type(None)),
    Type.FLOAT: (float, int, type(None)),
    Type.BOOL: (bool, type(None)),
    Type.TIMESTAMP: (str, float, int, type(None)),
    Type.BYTES: (str, type(None)),
}


class _SlowError(Exception):
    """The lines must be parsed one by one."""


class Jsonl(Format):
    r"""Objects, one per line; a missing name is null, and names that are not fields are ignored.

    A field ``bid.auction`` is ``auction`` of the object ``bid``, or a name that contains the dot.

    Lines are parsed in bulk; only if that fails they are parsed one by one, to find the corrupt
    ones. Both ways have the same result.

    >>> format = Jsonl({"caller": Type.STR, "time": Type.INT})
    >>> decoded = format.decode(pl.Series([b'{"time": 7}\n{"time": "x"}\n']))
    >>> decoded.tuples.rows(), decoded.dead["reason"].to_list()
    ([(None, 7)], ["time: expected an int, got 'x'"])
    >>> format.encode(decoded.tuples).data.to_list()
    [b'{"caller":null,"time":7}\n']
    """

    name = "jsonl"

    def check(self) -> None:
        """Determine which fields are paths."""
        self._paths = Paths(self.fields)

    def decode(self, data: pl.Series) -> Decoded:
        """Return the tuples in lines of JSON."""
        records = Records.lines(data)
        reasons: Reasons = {}
        text = records.text(reasons)
        rows = text.is_not_null().arg_true()
        wrong: Reasons = {}
        parts = self._read(text.drop_nulls(), 0, wrong)
        reasons.update({rows[row]: reason for row, reason in wrong.items()})
        return records.decoded(pl.concat(parts), rows, reasons)

    def encode(self, train: pl.DataFrame) -> Encoded:
        """Return an object on a line for each row."""
        texts = pl.DataFrame([write(train[name], t).alias(name) for name, t in self.fields.items()])
        names = (json.dumps(name, ensure_ascii=False) for name in self.fields)
        pairs = [
            pl.concat_str(pl.lit(name + ":"), _json(pl.col(field), type_))
            for name, (field, type_) in zip(names, self.fields.items(), strict=True)
        ]
        line = pl.concat_str(pl.lit("{"), pl.concat_str(pairs, separator=","), pl.lit("}\n"))
        return encoded(train, texts.select(line).to_series(), dict(unwritten(train, texts)))

    def _read(self, lines: pl.Series, start: int, reasons: Reasons) -> list[pl.DataFrame]:
        """Return a row for each line; the row of a corrupt line is meaningless."""
        try:
            return [self._all_at_once(lines)]
        except (_SlowError, pa.ArrowInvalid):
            if len(lines) <= FEW:
                return [self._sorted_out(lines, start, reasons)]
        size = -(-len(lines) // PARTS)
        found = []
        for at in range(0, len(lines), size):
            found += self._read(lines.slice(at, size), start + at, reasons)
        return found

    def _all_at_once(self, lines: pl.Series) -> pl.DataFrame:
        """Parse all lines in bulk; raises if one is corrupt."""
        if not len(lines):
            return pl.DataFrame(schema=self.dtypes)
        block = _block(lines)
        schema = _schema(self.fields, self._paths, lines[0])
        table = arrow_json.read_json(
            pa.BufferReader(block),
            read_options=arrow_json.ReadOptions(use_threads=False, block_size=block_size(lines)),
            parse_options=arrow_json.ParseOptions(
                explicit_schema=schema, unexpected_field_behavior="ignore"
            ),
        )
        if len(table) != len(lines):
            raise _SlowError
        raw = pl.DataFrame(table).select(map(self._paths.column, self.fields))
        return pl.DataFrame([_column(raw[name], t) for name, t in self.fields.items()])

    def _sorted_out(self, lines: pl.Series, start: int, reasons: Reasons) -> pl.DataFrame:
        """Parse lines of which some are corrupt: the plain ones in bulk, the others one by one."""
        plain = pl.Series([self._is_plain(line) for line in lines], dtype=pl.Boolean)
        try:
            good = self._all_at_once(lines.filter(plain))
        except (_SlowError, pa.ArrowInvalid):
            return self._one_by_one(lines, start, reasons)
        wrong: Reasons = {}
        rest = self._one_by_one(lines.filter(~plain), 0, wrong)
        rows = (~plain).arg_true()
        reasons.update({start + rows[row]: reason for row, reason in wrong.items()})
        return pl.concat([good, rest])[pl.concat([plain.arg_true(), rows]).arg_sort()]

    def _is_plain(self, line: str) -> bool:
        """Whether a line looks valid; a bulk parse may still reject it."""
        try:
            row = _load(line)
            return isinstance(row, dict) and all(
                type(self._paths.find(row, name)) in _PLAIN[type_]
                for name, type_ in self.fields.items()
            )
        except ValueError:
            return False

    def _one_by_one(self, lines: pl.Series, start: int, reasons: Reasons) -> pl.DataFrame:
        """Parse lines one by one, with a reason for each corrupt one."""
        rows: list[Mapping[str, object]] = []
        for number, line in enumerate(lines, start):
            try:
                rows.append(self._row(line))
            except ValueError as error:
                reasons[number] = str(error)
                rows.append({})
        columns = []
        for name, type_ in self.fields.items():
            values = [row.get(name) for row in rows]
            column = _converted(values, type_).alias(name)
            for row in column.is_null().arg_true():
                if (value := values[row]) is not None:
                    why = refusal(value, type_) if isinstance(value, str) else _late(value)
                    reasons.setdefault(start + row, f"{name}: {why}")
            columns.append(column)
        return pl.DataFrame(columns)

    def _row(self, line: str) -> Mapping[str, object]:
        found = _load(line)
        if not isinstance(found, dict):
            raise ValueError("not an object")
        return {
            name: _value(name, t, self._paths.find(found, name)) for name, t in self.fields.items()
        }


def _load(line: str) -> object:
    try:
        return _DECODER.decode(line)
    except json.JSONDecodeError as error:
        raise ValueError(f"not JSON: {error.msg} at column {error.colno}") from None
    except RecursionError:
        raise ValueError("not JSON: nested too deeply") from None


def _int(digits: str) -> int:
    """Parse an int; one of 400 digits or more is HUGE, without parsing it."""
    if len(digits) < 400:
        return int(digits)
    return -HUGE if digits.startswith("-") else HUGE


def _constant(literal: str) -> object:
    raise ValueError(f"not JSON: {literal} is not a value")


_DECODER = json.JSONDecoder(parse_int=_int, parse_constant=_constant)


def _value(name: str, type_: Type, value: object) -> object:
    """Check the kind of a value; timestamps and bytes are converted later."""
    if type_ is Type.FLOAT and isinstance(value, str) and value in NON_FINITE:
        return NON_FINITE[value]
    if type_ is Type.BYTES or (type_ is Type.TIMESTAMP and isinstance(value, str)):
        return checked(name, Type.STR, value)
    number = checked(name, Type.FLOAT if type_ is Type.TIMESTAMP else type_, value)
    if isinstance(number, float) and not math.isfinite(number):
        raise ValueError(f"{name}: the number is out of range for a float")
    return number


def _converted(values: list[object], type_: Type) -> pl.Series:
    """Return a column of values; null where a timestamp or bytes can't be parsed."""
    if type_ is not Type.TIMESTAMP and type_ is not Type.BYTES:
        return pl.Series(values, dtype=type_.dtype)
    texts = pl.Series([v if isinstance(v, str) else None for v in values], dtype=pl.String)
    column = parse(texts, type_)
    if type_ is Type.BYTES:
        return column
    seconds = [v if isinstance(v, float) else None for v in values]
    return column.fill_null(_moments(pl.Series(seconds, dtype=pl.Float64)))


def _late(value: object) -> str:
    return f"{quote(value)} is out of range for a timestamp"


def _moments(seconds: pl.Series) -> pl.Series:
    """Convert seconds since 1970 to timestamps; null where a number is out of range."""
    micros = (seconds * 1e6).round().cast(pl.Int64, strict=False)
    return micros.to_frame("t").select(bounded(pl.col("t"))).to_series()


def _block(lines: pl.Series) -> pa.Buffer:
    """Return the lines as one buffer for Arrow; raises if Python might parse them differently.

    Arrow accepts several objects on a line and one on several lines. Both are detected if each line
    starts and ends with a brace, and there are as many objects as lines.
    """
    bare = lines.str.strip_chars(" \t")
    braced = bare.str.starts_with("{") & bare.str.ends_with("}")
    long = lines.filter(lines.str.len_bytes() > 2 * DEEP)
    deep = long.str.count_matches(r"[\[{]") > DEEP
    odd = lines.filter(lines.str.contains_any(["NaN", "Inf"])).str.contains(_LITERAL)
    if not braced.all() or deep.any() or odd.any():
        raise _SlowError
    return flat((lines + "\n").cast(pl.Binary))[0]


def _schema(fields: Mapping[str, Type], paths: Paths, first: str) -> pa.Schema:
    """Return the schema for Arrow; the first line decides if a timestamp is text or a number."""
    kinds = {name: _ARROW[type_] for name, type_ in fields.items()}
    try:
        row = _load(first)
        for name, type_ in fields.items():
            if type_ is Type.TIMESTAMP and isinstance(row, dict):
                number = isinstance(paths.find(row, name), int | float)
                kinds[name] = pa.float64() if number else kinds[name]
    except ValueError:
        raise _SlowError from None
    return paths.schema(kinds)


def _column(raw: pl.Series, type_: Type) -> pl.Series:
    """Convert a column that Arrow has read; raises if a value is invalid."""
    column = raw
    if type_ is Type.TIMESTAMP and raw.dtype == pl.Float64:
        column = _moments(raw)
    elif type_ is Type.TIMESTAMP or type_ is Type.BYTES:
        column = parse(raw, type_)
    if column.null_count() > raw.null_count() or not _finite(raw):
        raise _SlowError
    return column.alias(raw.name)


def _finite(raw: pl.Series) -> bool:
    return raw.dtype != pl.Float64 or raw.is_finite().all()


def _json(text: pl.Expr, type_: Type) -> pl.Expr:
    """Return the JSON of a value from its text."""
    if type_ is Type.STR:
        text = text.str.replace_many(_ESCAPES)
    quoted = pl.concat_str(pl.lit('"'), text, pl.lit('"'))
    if type_ is Type.FLOAT:
        text = pl.when(text.is_in(list(NON_FINITE))).then(quoted).otherwise(text)
    elif type_ in (Type.STR, Type.TIMESTAMP, Type.BYTES):
        text = quoted
    return text.fill_null("null")
