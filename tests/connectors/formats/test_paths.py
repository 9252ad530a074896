"""Fields with dots in their names are paths into JSON objects."""

from datetime import datetime

import polars as pl
import pytest

import boxcars as bx
from boxcars.connectors.formats.jsonl import Jsonl
from boxcars.model.types import Type

FIELDS = {"bid.auction": Type.INT, "bid.at.time": Type.TIMESTAMP, "name": Type.STR}
GOOD = b'{"name": "a", "bid": {"auction": 7, "x": [1], "at": {"time": 60}}, "more": {"auction": 9}}'
ROW = (7, datetime(1970, 1, 1, 0, 1), "a")


@pytest.mark.parametrize(
    ("line", "row"),
    [
        (GOOD, ROW),
        (b'{"bid": {"auction": 7}}', (7, None, None)),
        (b'{"bid": null, "name": "b"}', (None, None, "b")),
        (b'{"bid": {}}', (None, None, None)),
        (b'{"bid.auction": 8, "bid": {"auction": 7}}', (8, None, None)),
        (b'{"bid.auction": null, "bid": {"auction": 7}}', (7, None, None)),
        (b'{"bid.auction": 8}', (8, None, None)),
    ],
)
@pytest.mark.parametrize("others", [b"", b"{\n", b'{"name": 1}\n'])
def test_path_leads_into_objects(line: bytes, row: tuple[object, ...], others: bytes) -> None:
    """Bulk, line by line and mixed parsing agree."""
    decoded = Jsonl(FIELDS).decode(pl.Series([others + line + b"\n" + GOOD + b"\n"]))
    assert decoded.tuples.rows() == [row, ROW]
    assert decoded.dead.height == bool(others)


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        (b'{"bid": 5}', "bid: expected an object, got 5"),
        (b'{"bid": {"at": "x"}}', "bid.at: expected an object, got 'x'"),
        (b'{"bid": {"auction": "x"}}', "bid.auction: expected an int, got 'x'"),
    ],
)
def test_a_non_object_is_a_dead_letter(line: bytes, reason: str) -> None:
    decoded = Jsonl(FIELDS).decode(pl.Series([GOOD + b"\n" + line + b"\n"]))
    assert decoded.tuples.rows() == [ROW]
    assert decoded.dead["reason"].to_list() == [reason]


def test_a_plain_name_if_the_object_is_a_field() -> None:
    format_ = Jsonl({"bid": Type.STR, "bid.auction": Type.INT})
    lines = [b'{"bid": "x", "bid.auction": 1}', b'{"bid": {"auction": 7}}']
    decoded = format_.decode(pl.Series(lines))
    assert decoded.tuples.rows() == [("x", 1)]
    assert decoded.dead["reason"].to_list() == ["bid: expected a str, got {'auction': 7}"]


def test_round_trip() -> None:
    train = pl.DataFrame(
        {"bid.auction": [7, None], "bid.at.time": [ROW[1], None], "name": ["a", None]}
    )
    format_ = Jsonl(FIELDS)
    assert format_.decode(format_.encode(train).data).tuples.rows() == train.rows()


def test_decode_box_reads_a_path() -> None:
    net = bx.Network("n")
    raw = net.input("raw", ts="at", fields={"at": "int", "data": "bytes"})
    bids = raw.decode(format="jsonl", fields={"bid.auction": "int"})
    net.output("out", bids.map(at="at", auction='"bid.auction" + 1'))
    found = bx.preview(net, {"raw": {"at": [1], "data": [b'{"bid": {"auction": 7}}']}})
    assert found["out"].to_pylist() == [{"at": 1, "auction": 8}]
