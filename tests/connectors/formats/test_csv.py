from __future__ import annotations

from datetime import datetime

import polars as pl
import pytest

from boxcars.connectors.formats.csv import BLANK, BROKEN, MISQUOTED, Csv
from boxcars.model.problem import Wrong
from boxcars.model.types import Type

CALL = {"caller": Type.STR, "time": Type.INT}
T = {"t": Type.TIMESTAMP, "n": Type.INT}


def reasons(format_: Csv, *values: bytes) -> list[str]:
    return format_.decode(pl.Series(values)).dead["reason"].to_list()


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        (b"a,12x", "time: '12x' is not an int"),
        (b"a, 7", "time: ' 7' is not an int"),
        (b"a,9223372036854775808", "time: '9223372036854775808' is out of range for an int"),
        (b"a", "1 values instead of 2"),
        (b"a,1,2", "3 values instead of 2"),
        (b'"a,1', MISQUOTED),
        (b'a"b,"1', MISQUOTED),
        (b"a\rb,1", BROKEN),
        (b"a\xff,1", "not UTF-8"),
    ],
)
def test_reasons(line: bytes, reason: str) -> None:
    assert reasons(Csv(CALL), b"good,1\n" + line + b"\nfine,2") == [reason]


@pytest.mark.parametrize(
    ("type_", "text", "reason"),
    [
        (Type.FLOAT, "1,5", "'1,5' is not a float"),
        (Type.FLOAT, "1e400", "'1e400' is out of range for a float"),
        (Type.BOOL, "yes", "'yes' is not a bool"),
        (Type.TIMESTAMP, "2024-02-30T00:00:00", "'2024-02-30T00:00:00' is not a timestamp"),
        (Type.TIMESTAMP, "2024-1-1", "'2024-1-1' is not a timestamp"),
        (Type.BYTES, "*", "'*' is not base64 bytes"),
        (Type.INT, "x" * 99, f"'{'x' * 40}...' is not an int"),
    ],
)
def test_reasons_by_type(type_: Type, text: str, reason: str) -> None:
    assert reasons(Csv({"v": type_}, delimiter=";"), text.encode()) == [f"v: {reason}"]


@pytest.mark.parametrize(
    ("text", "moment"),
    [
        ("2024-01-31", datetime(2024, 1, 31)),
        ("2024-01-31 01:02:03", datetime(2024, 1, 31, 1, 2, 3)),
        ("2024-01-31T01:02:03.5Z", datetime(2024, 1, 31, 1, 2, 3, 500_000)),
        ("2024-01-31T01:02:03+01:00", datetime(2024, 1, 31, 0, 2, 3)),
        ("2024-01-31T01:02:03.000001-0130", datetime(2024, 1, 31, 2, 32, 3, 1)),
    ],
)
def test_timestamps_are_iso_8601(text: str, moment: datetime) -> None:
    decoded = Csv(T).decode(pl.Series([f"2024-01-31T00:00:00,1\n{text},2\n".encode()]))
    assert decoded.tuples["t"].to_list() == [datetime(2024, 1, 31), moment]


def test_null_and_empty_differ() -> None:
    decoded = Csv(CALL).decode(pl.Series([b',\n"",""\n\r\n"a ""b""",7\r\n']))
    assert decoded.tuples.rows() == [(None, None), ("", None), ('a "b"', 7)]


def test_a_text_for_null() -> None:
    format_ = Csv(CALL, null="NA")
    decoded = format_.decode(pl.Series([b"NA,NA\na,\na,7"]))
    assert decoded.tuples.rows() == [("NA", None), ("a", 7)]
    assert decoded.dead["reason"].to_list() == ["time: '' is not an int"]
    assert format_.encode(decoded.tuples).data.to_list() == [b"NA,NA\n", b"a,7\n"]


def test_other_marks() -> None:
    format_ = Csv({"x": Type.FLOAT, "s": Type.STR}, delimiter=".", quote="'")
    encoded = format_.encode(pl.DataFrame({"x": [1.5], "s": ["it's"]}))
    assert encoded.data.to_list() == [b"'1.5'.'it''s'\n"]
    assert format_.decode(encoded.data).tuples.rows() == [(1.5, "it's")]


def test_what_cannot_be_encoded() -> None:
    train = pl.DataFrame({"caller": ["a\nb", "c"], "time": [1, 2]})
    encoded = Csv(CALL).encode(train)
    assert encoded.data.to_list() == [None, b"c,2\n"]
    assert encoded.dead.rows() == [(0, b'{"caller": "a\\nb", "time": 1}', f"caller: {BROKEN}")]
    only = Csv({"n": Type.INT}).encode(pl.DataFrame({"n": [None, 1]}, schema={"n": pl.Int64}))
    assert only.dead["reason"].to_list() == [BLANK]
    zero = Csv(CALL, null="0").encode(pl.DataFrame({"caller": ["0"], "time": [0]}))
    assert zero.dead["reason"].to_list() == ["time: its text is '0', which means null"]
    late = pl.DataFrame({"t": [2**60], "n": [1]}).cast({"t": pl.Datetime("us")})
    assert Csv(T).encode(late).data.to_list() == [None]


def test_headers_say_which_column_is_which() -> None:
    format_ = Csv(CALL, header=True)
    values = [
        b"time,other,caller\n7,x,ann\n8,,bob\n",
        b"\xef\xbb\xbfcaller,time\r\ncy,9\r\ncy\r\n",
        b"caller,time",
        b"time,other,caller\n1,x,dan\n",
        b"caller\nann\nbob\n",
        b"caller,time,time\nann,1,2\n",
        b'"caller,time\nann,1\n',
    ]
    decoded = format_.decode(pl.Series(values))
    assert decoded.tuples.rows() == [("ann", 7), ("bob", 8), ("cy", 9), ("dan", 1)]
    assert decoded.origin.to_list() == [0, 0, 1, 3]
    assert decoded.dead.rows() == [
        (1, b"cy", "1 values instead of 2"),
        (4, b"ann", "time: the header has no such column"),
        (4, b"bob", "time: the header has no such column"),
        (5, b"ann,1,2", "time: the header has more than one such column"),
        (6, b"ann,1", "the header is not a line of CSV: unexpected end of data"),
    ]
    encoded = format_.encode(decoded.tuples)
    assert encoded.data[0] == b"caller,time\nann,7\n"
    assert format_.decode(encoded.data).tuples.equals(decoded.tuples)


def test_a_line_longer_than_a_block_and_many_corrupt_ones() -> None:
    lines = [b"x" * (1 << 23) + b",1", *(b"a,%d" % n if n % 3 else b"a" for n in range(300_000))]
    decoded = Csv(CALL).decode(pl.Series([b"\n".join(lines)]))
    assert len(decoded.tuples) == 200_001
    assert decoded.tuples["time"][-1] == 299_999
    assert len(decoded.dead) == 100_000


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            {"delimeter": ";"},
            "unknown option 'delimeter' of format 'csv'. Did you mean 'delimiter'?",
        ),
        ({"header": "yes"}, "option 'header' of format 'csv' must be true or false, got 'yes'."),
        ({"delimiter": 7}, "option 'delimiter' of format 'csv' must be a text, got 7."),
        (
            {"delimiter": ";;"},
            "option 'delimiter' of format 'csv' must be one character, got ';;'.",
        ),
        ({"quote": ","}, "options 'delimiter' and 'quote' of format 'csv' must differ."),
        ({"null": "\n"}, "option 'null' of format 'csv' can't hold a line break."),
    ],
)
def test_mistakes_in_options(options: dict[str, object], message: str) -> None:
    with pytest.raises(Wrong) as caught:
        Csv(CALL, **options)
    assert str(caught.value) == message


@pytest.mark.parametrize(
    "value",
    [
        b"time,caller\r1,ann\r2,bob\r",
        b"time,caller\r1,ann\r2,bob",
        b"time,caller\r1,ann\r2,bob\r\n",
    ],
)
def test_line_ends_of_old_macs(value: bytes) -> None:
    format_ = Csv({"caller": Type.STR, "time": Type.INT}, header=True)
    decoded = format_.decode(pl.Series([b"time,caller\r\n7,al\r\n", value, b"time,caller\r\n"]))
    assert decoded.tuples.rows() == [("al", 7), ("ann", 1), ("bob", 2)]
    assert decoded.dead.is_empty()
