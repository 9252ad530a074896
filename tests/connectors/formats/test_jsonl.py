from __future__ import annotations

import json
import math
from datetime import datetime

import polars as pl
import pytest

from boxcars.connectors.formats.jsonl import Jsonl
from boxcars.model.types import Type

FIELDS = {
    "time": Type.INT,
    "speed": Type.FLOAT,
    "who": Type.STR,
    "on": Type.BOOL,
    "at": Type.TIMESTAMP,
    "raw": Type.BYTES,
}


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        (b'{"time": "x"}', "time: expected an int, got 'x'"),
        (b'{"time": 1.0}', "time: expected an int, got 1.0"),
        (b'{"time": true}', "time: expected an int, got True"),
        (b'{"time": 9223372036854775808}', "time: 9223372036854775808 is out of range for an int"),
        (b'{"speed": "5"}', "speed: expected a float, got '5'"),
        (b'{"speed": 1e400}', "speed: the number is out of range for a float"),
        (b'{"speed": NaN}', "not JSON: NaN is not a value"),
        (b'{"who": 5}', "who: expected a str, got 5"),
        (b'{"who": "\\ud800"}', "who: '\\ud800' is not valid Unicode"),
        (b'{"on": 1}', "on: expected a bool, got 1"),
        (b'{"at": "soon"}', "at: 'soon' is not a timestamp"),
        (b'{"at": 1e300}', "at: 1e+300 is out of range for a timestamp"),
        (b'{"at": [1]}', "at: expected a float, got [1]"),
        (b'{"raw": "*"}', "raw: '*' is not base64 bytes"),
        (b"[1]", "not an object"),
        (b"7", "not an object"),
        (b'{"time": 1', "not JSON: Expecting ',' delimiter at column 11"),
        (b'{"time": 1} {}', "not JSON: Extra data at column 13"),
        (b"time", "not JSON: Expecting value at column 1"),
        (b'{"who": "\xff"}', "not UTF-8"),
        (b'{"x": ' + b"[" * 90_000, "not JSON: nested too deeply"),
    ],
)
def test_reasons(line: bytes, reason: str) -> None:
    good = b'{"time": 1}\n'
    decoded = Jsonl(FIELDS).decode(pl.Series([good * 100, line, good]))
    assert decoded.dead.rows() == [(1, line, reason)]
    assert decoded.origin.to_list() == [0] * 100 + [2]
    assert decoded.tuples["time"].to_list() == [1] * 101


@pytest.mark.parametrize(
    "at", ['"2024-01-31T01:00:00+01:00"', '"2024-01-31T00:00:00Z"', '"2024-01-31"', "1706659200"]
)
def test_ways_to_write_a_timestamp(at: str) -> None:
    decoded = Jsonl(FIELDS).decode(pl.Series([f'{{"at": {at}}}'.encode()]))
    assert decoded.tuples["at"].to_list() == [datetime(2024, 1, 31)]


def test_timestamps_may_be_texts_and_numbers_by_turns() -> None:
    decoded = Jsonl(FIELDS).decode(pl.Series([b'{"at": 1.5}\n{"at": "1970-01-01"}\n{"at": null}']))
    assert decoded.tuples["at"].to_list() == [
        datetime(1970, 1, 1, 0, 0, 1, 500_000),
        datetime(1970, 1, 1),
        None,
    ]


def test_more_and_fewer_names() -> None:
    lines = b'{"x": {"y": [1]}, "speed": 5, "who": ""}\n\n{}\n'
    decoded = Jsonl(FIELDS).decode(pl.Series([lines]))
    assert decoded.tuples.rows() == [(None, 5.0, "", None, None, None), (None,) * 6]


def test_non_finite_floats_are_valid_json() -> None:
    train = pl.DataFrame(
        {"f": [math.nan, math.inf, -math.inf, None], "s": ['"\n', "\\", "\0é", ""]}
    )
    format_ = Jsonl({"f": Type.FLOAT, "s": Type.STR})
    encoded = format_.encode(train)
    assert [json.loads(line)["f"] for line in encoded.data] == ["NaN", "inf", "-inf", None]
    assert encoded.data[2] == '{"f":"-inf","s":"\\u0000é"}\n'.encode()
    assert format_.decode(encoded.data).tuples.equals(train)


def test_a_few_corrupt_lines_among_many() -> None:
    lines = [b'{"time":%d}' % n if n % 1000 else b"?" for n in range(20_000)]
    decoded = Jsonl(FIELDS).decode(pl.Series([b"\n".join(lines)]))
    assert decoded.tuples["time"].to_list() == [n for n in range(20_000) if n % 1000]
    assert len(decoded.dead) == 20


def test_objects_across_lines() -> None:
    lines = [b'{"time":0}', b'{"time":1}{"time":2}', b'{"x":', b"1}"]
    decoded = Jsonl(FIELDS).decode(pl.Series([b"\n".join(lines)]))
    assert decoded.dead["record"].to_list() == lines[1:]
    assert decoded.tuples["time"].to_list() == [0]


def test_arrow_extensions_are_rejected() -> None:
    lines = [b'{"time":1}', b'{"x":NaN}', b'{"x":[1, -Inf]}']
    decoded = Jsonl(FIELDS).decode(pl.Series([b"\n".join(lines)]))
    assert decoded.dead["record"].to_list() == lines[1:]
    assert decoded.tuples["time"].to_list() == [1]
