"""Custom formats, and the registry."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime, timedelta, timezone
from typing import ClassVar, cast

import polars as pl
import pytest

from boxcars.connectors.formats import Format, RecordFormat, converter, formats, make_format
from boxcars.connectors.formats.registry import _FORMATS
from boxcars.model.problem import Wrong
from boxcars.model.types import Type

FIELDS = {"talker": Type.STR, "speed": Type.FLOAT, "count": Type.INT}


class Nmea(RecordFormat):
    """Sentences such as ``$GP,5.5,3``; several of them with blanks between."""

    defaults: ClassVar[Mapping[str, object]] = {"mark": "$"}

    def decode_record(self, record: bytes) -> Iterable[Mapping[str, object]]:
        for sentence in record.decode().split():
            if not sentence.startswith(self.options["mark"]):
                raise ValueError(f"no {self.options['mark']} at the start")
            talker, speed, count = sentence[1:].split(",")
            yield {"talker": talker, "speed": float(speed), "count": int(count), "more": 1}

    def encode_record(self, row: Mapping[str, object]) -> bytes:
        if row["talker"] is None:
            raise ValueError("a sentence has a talker")
        return f"{self.options['mark']}{row['talker']},{row['speed']},{row['count']}".encode()


class Given(RecordFormat):
    """Returns what the test wants, whatever the bytes."""

    value: object = None

    def decode_record(self, record: bytes) -> Mapping[str, object]:
        return {"v": self.value} if record else {}

    def encode_record(self, row: Mapping[str, object]) -> bytes:
        return cast(bytes, row["v"])


@pytest.fixture(autouse=True)
def _registry() -> Iterator[None]:
    before = dict(_FORMATS)
    yield
    _FORMATS.clear()
    _FORMATS.update(before)


def test_an_own_format() -> None:
    converter("nmea")(Nmea)
    format_ = make_format("nmea", FIELDS, {"mark": "!"})
    values = [b"!GP,5.5,3 !GL,1,2", b"", None, b"!GP,1,1 $GP,2,2", b"!GP,1", b"\xff"]
    decoded = format_.decode(pl.Series(values))
    assert decoded.tuples.rows() == [("GP", 5.5, 3), ("GL", 1.0, 2)]
    assert decoded.origin.to_list() == [0, 0]
    assert decoded.dead.rows() == [
        (3, b"!GP,1,1 $GP,2,2", "no ! at the start"),
        (4, b"!GP,1", "not enough values to unpack (expected 3, got 2)"),
        (5, b"\xff", "'utf-8' codec can't decode byte 0xff in position 0: invalid start byte"),
    ]
    train = pl.DataFrame([("GP", 5.5, 3), (None, 1.0, 2)], schema=format_.dtypes, orient="row")
    encoded = format_.encode(train)
    assert encoded.data.to_list() == [b"!GP,5.5,3", None]
    row = b'{"talker": null, "speed": 1.0, "count": 2}'
    assert encoded.dead.rows() == [(1, row, "a sentence has a talker")]


@pytest.mark.parametrize(
    ("type_", "value", "expected"),
    [
        (Type.FLOAT, 5, 5.0),
        (Type.INT, None, None),
        (
            Type.TIMESTAMP,
            datetime(2024, 1, 31, 1, tzinfo=timezone(timedelta(hours=1))),
            datetime(2024, 1, 31),
        ),
        (Type.TIMESTAMP, datetime(2024, 1, 31, tzinfo=UTC), datetime(2024, 1, 31)),
        (Type.BYTES, b"\xff", b"\xff"),
    ],
)
def test_values_that_fit(type_: Type, value: object, expected: object) -> None:
    format_ = Given({"v": type_})
    format_.value = value
    assert format_.decode(pl.Series([b"x", b""])).tuples["v"].to_list() == [expected, None]


@pytest.mark.parametrize(
    ("type_", "value", "reason"),
    [
        (Type.INT, True, "v: expected an int, got True"),
        (Type.INT, 1.0, "v: expected an int, got 1.0"),
        (Type.INT, 2**63, "v: 9223372036854775808 is out of range for an int"),
        (Type.FLOAT, "1", "v: expected a float, got '1'"),
        (Type.FLOAT, False, "v: expected a float, got False"),
        (Type.BOOL, 1, "v: expected a bool, got 1"),
        (Type.STR, b"x", "v: expected a str, got b'x'"),
        (Type.STR, "\ud800", "v: '\\ud800' is not valid Unicode"),
        (Type.BYTES, "x", "v: expected bytes, got 'x'"),
        (Type.TIMESTAMP, 5, "v: expected a timestamp, got 5"),
    ],
)
def test_values_that_do_not(type_: Type, value: object, reason: str) -> None:
    format_ = Given({"v": type_})
    format_.value = value
    decoded = format_.decode(pl.Series([b"x"]))
    assert decoded.tuples.is_empty()
    assert decoded.dead["reason"].to_list() == [reason]


def test_encode_record_must_give_bytes() -> None:
    encoded = Given({"v": Type.STR}).encode(pl.DataFrame({"v": ["x"]}))
    assert encoded.dead["reason"].to_list() == ["encode_record returned 'x' instead of bytes"]


def test_a_timestamp_out_of_range() -> None:
    train = pl.DataFrame({"v": [2**60, None]}).cast(pl.Datetime("us"))
    encoded = Given({"v": Type.TIMESTAMP}).encode(train)
    assert encoded.dead["reason"].to_list() == [
        "v: +38504-08-17 21:30:06.846976 is out of range",
        "encode_record returned None instead of bytes",
    ]


def test_names() -> None:
    assert list(formats())[:4] == ["csv", "jsonl", "xml", "binary"]
    with pytest.raises(Wrong, match=r"^format 'csv' is built in; choose another name\.$"):
        converter("csv")(Nmea)
    converter("own")(Nmea)
    converter("own")(Nmea)
    assert list(formats())[-1] == "own"
    with pytest.raises(Wrong, match=r"^there are two formats 'own': .*Nmea and .*Given\.$"):
        converter("own")(Given)
    with pytest.raises(Wrong, match=r"^unknown format 'cvs'\. Did you mean 'csv'\?$"):
        make_format("cvs", FIELDS, {})


@pytest.mark.parametrize("format_", list(formats().values()))
def test_fields_are_needed(format_: type[Format]) -> None:
    with pytest.raises(Wrong, match=r"^a format needs at least one field\.$"):
        format_({})
    with pytest.raises(Wrong, match=r"^field 'a' has no type that a format can represent\.$"):
        format_({"a": Type.UNKNOWN})
    with pytest.raises(Wrong, match=r"^unknown option 'colour'"):
        format_({"a": Type.INT}, colour="red")


def test_a_format_without_options() -> None:
    with pytest.raises(Wrong) as caught:
        make_format("jsonl", FIELDS, {"header": True})
    assert str(caught.value) == "unknown option 'header' of format 'jsonl'. It has no options."
