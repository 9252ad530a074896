from __future__ import annotations

import struct
from datetime import datetime

import polars as pl
import pytest

from boxcars.connectors.formats.binary import Binary
from boxcars.model.problem import Wrong
from boxcars.model.types import Type


def test_defaults_by_type() -> None:
    fields = {"i": Type.INT, "f": Type.FLOAT, "b": Type.BOOL, "t": Type.TIMESTAMP}
    row = (-2, 1.5, True, datetime(1970, 1, 1, 0, 0, 1))
    for order, mark in (("little", "<"), ("big", ">")):
        record = struct.pack(f"{mark}qd?q", -2, 1.5, True, 1_000_000)
        format_ = Binary(fields, byteorder=order)
        decoded = format_.decode(pl.Series([record * 2]))
        assert decoded.tuples.rows() == [row, row]
        assert format_.encode(decoded.tuples).data.to_list() == [record, record]


def test_an_incomplete_record_is_a_dead_letter() -> None:
    decoded = Binary({"i": Type.INT}, layout={"i": "<i2"}).decode(
        pl.Series([b"\1\0\2\0x", b"y", b"\3\0"])
    )
    assert decoded.tuples["i"].to_list() == [1, 2, 3]
    assert decoded.origin.to_list() == [0, 0, 2]
    reason = "1 bytes instead of 2"
    assert decoded.dead.rows() == [(0, b"x", reason), (1, b"y", reason)]


@pytest.mark.parametrize(
    ("type_", "code", "record", "reason"),
    [
        (Type.STR, "S2", b"\xff\0", "v: not UTF-8"),
        (Type.BOOL, "?", b"\2", "v: 2 is not a bool"),
        (Type.INT, "<u8", b"\xff" * 8, "v: 18446744073709551615 is out of range for an int"),
        (
            Type.TIMESTAMP,
            "<M8[s]",
            struct.pack("<q", 2**60),
            "v: 1152921504606846976 is out of range for a timestamp",
        ),
    ],
)
def test_reasons_to_refuse_bytes(type_: Type, code: str, record: bytes, reason: str) -> None:
    dead = Binary({"v": type_}, layout={"v": code}).decode(pl.Series([record])).dead
    assert dead["record"].to_list() == [record]
    assert dead["reason"].to_list() == [reason]


@pytest.mark.parametrize(
    ("type_", "code", "value", "reason"),
    [
        (Type.STR, "S2", "äh", "v: 'äh' is longer than 2 bytes"),
        (Type.BYTES, "S2", b"a\0", "v: b'a\\x00' ends with NUL, which is padding"),
        (Type.INT, "<i2", 40_000, "v: 40000 is out of range for <i2"),
        (Type.INT, ">u8", -1, "v: -1 is out of range for >u8"),
        (Type.FLOAT, "<f4", 1e300, "v: 1e+300 is out of range for <f4"),
        (Type.BOOL, "?", None, "v: a binary record can't hold null"),
        (Type.TIMESTAMP, "<i8", None, "v: a binary record can't hold null"),
    ],
)
def test_reasons_to_refuse_a_value(type_: Type, code: str, value: object, reason: str) -> None:
    train = pl.DataFrame({"v": [value]}, schema={"v": type_.dtype})
    encoded = Binary({"v": type_}, layout={"v": code}).encode(train)
    assert encoded.data.to_list() == [None]
    assert encoded.dead["reason"].to_list() == [reason]


@pytest.mark.parametrize("unit", ["s", "ms", "us", "ns"])
@pytest.mark.parametrize("order", "<>")
def test_datetimes_have_null(unit: str, order: str) -> None:
    format_ = Binary({"t": Type.TIMESTAMP}, layout={"t": f"{order}M8[{unit}]"})
    train = pl.DataFrame(
        {"t": [datetime(2024, 1, 31), None, datetime(1969, 1, 1)]}, schema=format_.dtypes
    )
    assert format_.decode(format_.encode(train).data).tuples.equals(train)


@pytest.mark.parametrize(
    ("fields", "options", "message"),
    [
        ({"s": Type.STR}, {}, "field 's' is a str: give its length in the layout, as in 'S9'."),
        ({"i": Type.INT}, {"layout": {"j": "<i4"}}, "layout: unknown field 'j'. There is: i."),
        ({"i": Type.INT}, {"layout": {"i": "<f4"}}, "layout of field 'i': '<f4' can't hold int."),
        (
            {"i": Type.INT},
            {"layout": {"i": "<q9"}},
            "layout of field 'i': '<q9' is not a NumPy type.",
        ),
        ({"i": Type.INT}, {"layout": {"i": 4}}, "layout of field 'i': 4 is not a NumPy type."),
        ({"s": Type.STR}, {"layout": {"s": "S"}}, "layout of field 's': 'S' can't hold str."),
        (
            {"t": Type.TIMESTAMP},
            {"layout": {"t": "<i4"}},
            "layout of field 't': '<i4' can't hold timestamp.",
        ),
        (
            {"t": Type.TIMESTAMP},
            {"layout": {"t": "M8[D]"}},
            "layout of field 't': 'M8[D]' can't hold timestamp.",
        ),
        (
            {"i": Type.INT},
            {"byteorder": "middle"},
            "option 'byteorder' must be little or big, got 'middle'.",
        ),
        (
            {"i": Type.INT},
            {"layout": "<i4"},
            "option 'layout' of format 'binary' must be a mapping, got '<i4'.",
        ),
    ],
)
def test_mistakes(fields: dict[str, Type], options: dict[str, object], message: str) -> None:
    with pytest.raises(Wrong) as caught:
        Binary(fields, **options)
    assert str(caught.value) == message
