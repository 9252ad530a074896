"""Properties of every format, for arbitrary tuples and bytes."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from datetime import datetime

import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from boxcars.connectors.formats import Decoded, Format, make_format
from boxcars.connectors.formats.jsonl import Jsonl
from boxcars.connectors.formats.xml import _FORBIDDEN
from boxcars.model.types import FIELD_TYPES, Type

NAMES = ("time", "caller", "größe", "x_1", "b")
LENGTH = 12
INTS = st.integers(-(2**63), 2**63 - 1)
VALUES: dict[Type, st.SearchStrategy[object]] = {
    Type.STR: st.text(max_size=LENGTH)
    | st.sampled_from(['"', "a,b", "", " ", "null", "\\", "NaN"]),
    Type.INT: INTS | st.sampled_from([0, -(2**63), 2**63 - 1]),
    Type.FLOAT: st.floats() | st.sampled_from([5e-324, 1.7976931348623157e308, -0.0, 0.1 + 0.2]),
    Type.BOOL: st.booleans(),
    Type.TIMESTAMP: st.datetimes(datetime(1970, 1, 1), datetime(2100, 1, 1)),
    Type.BYTES: st.binary(max_size=LENGTH),
}
FORMATS = ("csv", "jsonl", "xml", "binary")
CALL = {"caller": Type.STR, "time": Type.INT}


def options(name: str, fields: Mapping[str, Type]) -> dict[str, object]:
    if name != "binary":
        return {}
    sized = {n: f"S{4 * LENGTH}" for n, t in fields.items() if t in (Type.STR, Type.BYTES)}
    return {"layout": sized}


def writable(name: str, value: object, width: int) -> bool:
    """Whether a format guarantees a round trip of this value."""
    if name == "csv":
        broken = isinstance(value, str) and ("\n" in value or "\r" in value)
        return not broken and not (value is None and width == 1)
    if name == "xml" and isinstance(value, str):
        return not pl.Series([value]).str.contains(_FORBIDDEN).item()
    if name == "binary":
        end = value[-1:] if isinstance(value, str | bytes) else ""
        return value is not None and end not in ("\0", b"\0")
    return True


@st.composite
def trains(draw: st.DrawFn) -> tuple[dict[str, Type], pl.DataFrame]:
    names = draw(st.lists(st.sampled_from(NAMES), min_size=1, unique=True))
    fields = {name: draw(st.sampled_from(FIELD_TYPES)) for name in names}
    row = st.tuples(*(st.none() | VALUES[type_] for type_ in fields.values()))
    rows = draw(st.lists(row, max_size=12))
    schema = {name: type_.dtype for name, type_ in fields.items()}
    return fields, pl.DataFrame(rows, schema=schema, orient="row")


def same(left: pl.DataFrame, right: pl.DataFrame) -> bool:
    """Equal to the last bit: NaN is NaN and -0.0 is not 0.0."""
    return left.schema == right.schema and repr(left.rows()) == repr(right.rows())


def check_shape(format_: Format, decoded: Decoded) -> None:
    assert decoded.tuples.schema == pl.Schema(format_.dtypes)
    assert decoded.origin.dtype == pl.UInt32
    assert decoded.origin.is_sorted()
    assert len(decoded.origin) == len(decoded.tuples)
    assert decoded.dead.schema == {"origin": pl.UInt32, "record": pl.Binary, "reason": pl.String}
    assert decoded.dead["origin"].is_sorted()
    assert decoded.dead.null_count().sum_horizontal().item() == 0


@pytest.mark.parametrize("name", FORMATS)
@given(drawn=trains())
@settings(max_examples=80, deadline=None)
def test_round_trip(name: str, drawn: tuple[dict[str, Type], pl.DataFrame]) -> None:
    fields, train = drawn
    format_ = make_format(name, fields, options(name, fields))
    good = [all(writable(name, v, len(fields)) for v in row) for row in train.rows()]
    encoded = format_.encode(train)
    assert encoded.data.dtype == pl.Binary
    assert len(encoded.data) == len(train)
    if name != "xml":  # XML writes what it can't hold as U+FFFD
        assert encoded.data.is_not_null().to_list() == good
        assert encoded.dead["origin"].to_list() == [n for n, ok in enumerate(good) if not ok]
    for record in encoded.dead["record"]:
        assert set(json.loads(record)) == set(fields)
    decoded = format_.decode(encoded.data)
    check_shape(format_, decoded)
    assert decoded.dead.is_empty()
    kept = pl.Series(good, dtype=pl.Boolean)
    if name == "xml":
        assert same(decoded.tuples.filter(kept), train.filter(kept))
    else:
        assert same(decoded.tuples, train.filter(kept))
        assert decoded.origin.to_list() == [n for n, ok in enumerate(good) if ok]


BINARY = {"layout": {"caller": "S9", "time": "<u8"}}
CORRUPT: dict[str, tuple[bytes, ...]] = {
    "csv": (b"x,y", b"1", b"a,b,c", b'"open,1', b"\xff,1", b'a"b,1', b",9223372036854775808"),
    "jsonl": (b"x", b"[]", b'{"time":1.5}', b'{"caller":1}', b'{"time":1}{}', b"\xff", b"}", b"{"),
    "xml": (b'<record time="x"/>', b"<record><time>1</time><time>2</time></record>"),
    "binary": (b"\xff" + bytes(16), bytes(9) + b"\xff" * 8),
}
GOOD: dict[str, Callable[[str, int], bytes]] = {
    "csv": lambda who, time: f"{who},{time}".encode(),
    "jsonl": lambda who, time: f'{{"caller":"{who}","time":{time}}}'.encode(),
    "xml": lambda who, time: f"<record caller='{who}'><time>{time}</time></record>".encode(),
    "binary": lambda who, time: who.encode().ljust(9, b"\0") + time.to_bytes(8, "little"),
}
JOIN = {"csv": b"\n", "jsonl": b"\r\n", "xml": b"<!-- , -->", "binary": b""}


@pytest.mark.parametrize("name", FORMATS)
@given(data=st.data())
@settings(max_examples=80, deadline=None)
def test_each_record_comes_out_once(name: str, data: st.DataObject) -> None:
    good = st.tuples(st.text("abc", min_size=1, max_size=9), st.integers(0, 2**63 - 1))
    bad = st.sampled_from(CORRUPT[name])
    values = data.draw(st.lists(st.none() | st.lists(good | bad, max_size=6), max_size=6))
    series = pl.Series([_value(name, value) for value in values], dtype=pl.Binary)
    every = [(n, record) for n, value in enumerate(values) for record in value or ()]
    tuples = [(n, record) for n, record in every if isinstance(record, tuple)]
    dead = [(n, record) for n, record in every if isinstance(record, bytes)]
    format_ = make_format(name, CALL, BINARY if name == "binary" else {})
    decoded = format_.decode(series)
    check_shape(format_, decoded)
    assert list(zip(decoded.origin, decoded.tuples.rows(), strict=True)) == tuples
    assert decoded.dead.select("origin", "record").rows() == dead

    cut = data.draw(st.integers(0, len(values)))
    parts = format_.decode(series[:cut]), format_.decode(series[cut:])
    assert pl.concat([part.tuples for part in parts]).equals(decoded.tuples)
    assert [*parts[0].origin, *(parts[1].origin + cut)] == decoded.origin.to_list()
    shifted = parts[1].dead.with_columns(pl.col("origin") + cut)
    assert pl.concat([parts[0].dead, shifted]).equals(decoded.dead)


def _value(name: str, records: list[tuple[str, int] | bytes] | None) -> bytes | None:
    if records is None:
        return None
    write = GOOD[name]
    return JOIN[name].join(write(*r) if isinstance(r, tuple) else r for r in records)


@pytest.mark.parametrize("name", FORMATS)
@given(values=st.lists(st.none() | st.binary(max_size=40), max_size=5))
@settings(max_examples=100, deadline=None)
def test_no_bytes_fail_a_stream(name: str, values: list[bytes | None]) -> None:
    format_ = make_format(name, CALL, BINARY if name == "binary" else {})
    decoded = format_.decode(pl.Series(values, dtype=pl.Binary))
    check_shape(format_, decoded)
    for origin, record, _ in decoded.dead.rows():
        assert record in (values[origin] or b"")
    if name in ("csv", "jsonl"):
        lines = [line for value in values for line in (value or b"").split(b"\n")]
        full = [line for line in lines if line.removesuffix(b"\r")]
        assert len(decoded.tuples) + len(decoded.dead) == len(full)


ALL = dict(zip("sifbty", FIELD_TYPES, strict=True))
SCALARS = (
    st.none()
    | st.booleans()
    | st.integers(-(2**70), 2**70)
    | st.floats()
    | st.text(max_size=5)
    | st.sampled_from(["2024-01-31", "2024-01-31T01:02:03+01:00", "aGk=", "NaN", "inf", 1.7e9])
)
JSON = st.recursive(SCALARS, lambda inner: st.lists(inner, max_size=2), max_leaves=4)
OBJECTS = st.dictionaries(st.sampled_from([*ALL, "x"]), JSON, max_size=4).map(json.dumps)
LINES = OBJECTS | st.sampled_from(
    [
        '{"i":1,"i":2}',
        '{"i":1}{"i":2}',
        '{"x":NaN}',
        '{"x":Inf}',
        '{"f":1e400}',
        '{"f":-1e-400}',
        f'{{"f":{"1" * 400}}}',
        f'{{"x":{"1" * 5000}}}',
        f'{{"x":{"[" * 3000}{"]" * 3000}}}',
        '{"s":"\\ud800"}',
        '{"x":"\\udc00"}',
        '{"s":"\\ud83d\\ude00"}',
        ' {"i":-0}\t',
        '{"t":1e300}',
        '{"t":-1.0000005}',
        '{"i":1e2}',
        '{"x":{}',
        '{"x":[{}',
        "{}",
        "\ufeff{}",
    ]
)


class SlowJsonl(Jsonl):
    """Parses every line on its own."""

    def _all_at_once(self, lines: pl.Series) -> pl.DataFrame:
        if len(lines):
            raise pa.ArrowInvalid
        return super()._all_at_once(lines)


@given(lines=st.lists(LINES, max_size=6))
@settings(max_examples=250, deadline=None)
def test_jsonl_bulk_and_line_parsers_agree(lines: list[str]) -> None:
    series = pl.Series([line.encode() for line in lines], dtype=pl.Binary)
    fast, slow = Jsonl(ALL).decode(series), SlowJsonl(ALL).decode(series)
    assert same(fast.tuples, slow.tuples)
    assert fast.origin.equals(slow.origin)
    assert fast.dead.equals(slow.dead)
    for number, line in enumerate(series):
        alone = Jsonl(ALL).decode(pl.Series([line]))
        assert same(alone.tuples, slow.tuples.filter(slow.origin == number))


@pytest.mark.parametrize("name", FORMATS)
def test_empty_series(name: str) -> None:
    format_ = make_format(name, CALL, BINARY if name == "binary" else {})
    for values in ([], [None], [b""], [None, b"", None]):
        decoded = format_.decode(pl.Series(values, dtype=pl.Binary))
        check_shape(format_, decoded)
        assert decoded.tuples.is_empty()
        assert decoded.dead.is_empty()
    encoded = format_.encode(pl.DataFrame(schema=format_.dtypes))
    assert encoded.data.dtype == pl.Binary
    assert encoded.data.is_empty()
    assert encoded.dead.is_empty()


@pytest.mark.parametrize("name", FORMATS)
def test_pieces_and_slices_of_a_series(name: str) -> None:
    format_ = make_format(name, CALL, BINARY if name == "binary" else {})
    one = pl.Series([GOOD[name]("a", 1), GOOD[name]("b", 2), GOOD[name]("c", 3)])
    decoded = format_.decode(one[1:].append(one[:1]))
    assert decoded.tuples.rows() == [("b", 2), ("c", 3), ("a", 1)]
