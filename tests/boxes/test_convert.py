"""Decode and encode: the formats in a network. The formats themselves are in tests/convert."""

from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any

import pytest

import boxcars as bx
from boxcars.connectors.formats.registry import _FORMATS
from boxcars.model.stream import Stream
from tests.boxes.helper import network, problems, run, schema

CALL = {"caller": "str", "price": "float", "seconds": "int", "ok": "bool", "at": "timestamp"}
ROWS = [
    {
        "time": 1,
        "caller": "ann",
        "price": 0.5,
        "seconds": 60,
        "ok": True,
        "at": datetime(2026, 1, 2, 3, 4, 5),
    },
    {
        "time": 2,
        "caller": "bob",
        "price": -1.0,
        "seconds": 7,
        "ok": False,
        "at": datetime(1999, 1, 1),
    },
]
RAW = {"time": "int", "data": "bytes"}
FIELDS = {"time": "int", **CALL}


@pytest.fixture(autouse=True)
def _registry() -> Iterator[None]:
    before = dict(_FORMATS)
    yield
    _FORMATS.clear()
    _FORMATS.update(before)


def through(stream: Stream, format_: str, options: Mapping[str, Any]) -> Stream:
    """Encode the tuples and decode them again; the time is kept as order attribute."""
    packed = stream.encode(format=format_, options=options).named("pack")
    inside = {("sent" if name == "time" else name): type_ for name, type_ in FIELDS.items()}
    return packed.decode(format=format_, fields=inside, options=options).named("unpack")


@pytest.mark.parametrize("trains", [1, 2, 3])
@pytest.mark.parametrize(
    ("format_", "options"),
    [("csv", {}), ("csv", {"delimiter": ";"}), ("jsonl", {}), ("binary", {})],
)
def test_round_trip(format_: str, options: dict[str, Any], trains: int) -> None:
    if format_ == "jsonl":  # matched by name, not by position
        net = network(
            lambda calls: calls.encode(format="jsonl").decode(format="jsonl", fields=CALL), FIELDS
        )
    else:
        net = network(lambda calls: through(calls, format_, _sized(format_, options)), FIELDS)
    (rows,) = run(net, trains, calls=ROWS)
    assert [{name: row[name] for name in FIELDS} for row in rows] == ROWS


def _sized(format_: str, options: dict[str, Any]) -> dict[str, Any]:
    return {**options, "layout": {"caller": "S10"}} if format_ == "binary" else options


def test_xml_fields_are_matched_by_name() -> None:
    net = network(
        lambda calls: calls.encode(format="xml").decode(format="xml", fields=CALL), FIELDS
    )
    assert run(net, calls=ROWS) == [ROWS]


def test_one_value_may_hold_many_records() -> None:
    net = network(lambda raw: raw.decode(format="csv", fields={"n": "int"}), RAW)
    raw = {"time": [1, 2, 3], "data": [b"1\n2", None, b"3\nx\n4\n"]}
    assert schema(net) == "time*: int, n: int"
    for trains in (1, 3):
        (rows,) = run(net, trains, calls=raw)
        assert [(row["time"], row["n"]) for row in rows] == [(1, 1), (1, 2), (3, 3), (3, 4)]


class TestDeadLetters:
    raw: Mapping[str, Any] = {"time": [1, 2, 3], "data": [b"1\nx", b"y", b"3"]}

    @pytest.mark.parametrize("trains", [1, 3])
    def test_outputs_are_optional(self, trains: int) -> None:
        net = network(lambda raw: raw.decode(format="csv", fields={"n": "int"}).named("d"), RAW)
        result = bx.preview(net, {"calls": self.raw}, trains=trains)
        assert result["out0"]["n"].to_pylist() == [1, 3]
        assert result.dead.to_pylist() == [
            {"source": "d", "record": b"x", "reason": "n: 'x' is not an int"},
            {"source": "d", "record": b"y", "reason": "n: 'y' is not an int"},
        ]
        assert result.stats["d"].dead == 2

    def test_they_are_an_arc_like_any_other(self) -> None:
        net = bx.Network("n")
        decoded = net.input("calls", ts="time", fields=RAW).decode(
            format="csv", fields={"n": "int"}
        )
        net.output("good", decoded)
        net.output("bad", decoded.dead.filter("record = cast('y' as bytes)").named("y"))
        result = bx.preview(net, {"calls": self.raw}, trains=2)
        assert result["bad"].to_pylist() == [
            {"time": 2, "record": b"y", "reason": "n: 'y' is not an int"}
        ]
        assert result.dead.num_rows == 0

    def test_a_tuple_that_can_not_be_written(self) -> None:
        net = bx.Network("n")
        calls = net.input("calls", ts="time", fields={"time": "int", "who": "str"})
        packed = calls.encode(format="binary", options={"layout": {"who": "S3"}}).named("pack")
        net.output("data", packed)
        net.output("dead", packed.dead)
        rows = [{"time": 1, "who": "ann"}, {"time": 2, "who": "much too long"}]
        result = bx.preview(net, {"calls": rows}, trains=2)
        assert result["data"]["time"].to_pylist() == [1]
        assert result["dead"]["time"].to_pylist() == [2]
        assert "who" in result["dead"]["reason"][0].as_py()


class Pairs(bx.RecordFormat):
    """``ann=1``"""

    def decode_record(self, record: bytes) -> Mapping[str, object]:
        name, equals, count = record.decode().partition("=")
        if not equals:
            raise ValueError("no = in it")
        return {"name": name, "count": int(count)}

    def encode_record(self, row: Mapping[str, object]) -> bytes:
        return f"{row['name']}={row['count']}".encode()


def test_a_user_defined_converter() -> None:
    bx.converter("pairs")(Pairs)
    fields = {"name": "str", "count": "int"}
    net = network(lambda raw: raw.decode(format="pairs", fields=fields).named("d"), RAW)
    result = bx.preview(net, {"calls": {"time": [1, 2], "data": [b"ann=1", b"bob"]}})
    assert result["out0"].to_pylist() == [{"time": 1, "name": "ann", "count": 1}]
    assert result.dead["reason"].to_pylist() == ["no = in it"]
    back = network(lambda calls: calls.encode(format="pairs"), {"time": "int", **fields})
    row = {"time": 1, "name": "ann", "count": 1}
    assert run(back, calls=[row]) == [[{"time": 1, "data": b"ann=1"}]]


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"format": "cvs"}, "format: unknown format 'cvs'. Did you mean 'csv'?"),
        (
            {"options": {"delimeter": ";"}},
            "format: unknown option 'delimeter' of format 'csv'. Did",
        ),
        ({"options": {"header": "yes"}}, "format: option 'header' of format 'csv' must be true or"),
        ({"field": "date"}, "field: unknown field 'date'. Did you mean 'data'?"),
        ({"field": "time"}, "field: expected bytes, 'time' is an int."),
        ({"fields": {"time": "int"}}, "fields.time: 'time' is taken by the order attribute of the"),
        ({"fields": {"__pos": "int"}}, "fields.__pos: names that start with __ belong to Boxcars."),
        ({"fields": {}}, "format: a format needs at least one field."),
    ],
    ids=str,
)
def test_mistakes_of_decode(given: dict[str, Any], words: str) -> None:
    known: dict[str, Any] = {"format": "csv", "fields": {"n": "int"}}
    net = network(lambda raw: raw.decode(**(known | given)).named("d"), RAW)
    assert any(problem.startswith(f"box 'd', {words}") for problem in problems(net)), problems(net)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"format": "jsnl"}, "format: unknown format 'jsnl'. Did you mean 'jsonl'?"),
        ({"field": "time"}, "field: 'time' is the order attribute; choose another name."),
        ({"field": "__data"}, "field: names that start with __ belong to Boxcars."),
        ({"options": {"x": 1}}, "format: unknown option 'x' of format 'jsonl'."),
    ],
    ids=str,
)
def test_mistakes_of_encode(given: dict[str, Any], words: str) -> None:
    net = network(lambda raw: raw.encode(**({"format": "jsonl"} | given)).named("e"), RAW)
    assert any(problem.startswith(f"box 'e', {words}") for problem in problems(net)), problems(net)


@pytest.mark.parametrize("name", ["record", "reason"])
def test_the_order_attribute_must_not_be_named_like_a_dead_letter_field(name: str) -> None:
    fields = {name: "int", "data": "bytes"}
    drawings = [
        lambda raw: raw.decode(format="csv", fields={"n": "int"}).named("c"),
        lambda raw: raw.encode(format="jsonl").named("c"),
    ]
    for draw in drawings:
        (problem,) = problems(network(draw, fields, ts=name))
        assert problem.startswith("box 'c', in: the order attribute can't be named ")
        assert problem.endswith(f"'{name}': that is a field of dead letters.")


def test_types_may_be_given_as_types() -> None:
    net = network(lambda raw: raw.decode(format="csv", fields={"n": bx.Type.INT}), RAW)  # type: ignore[dict-item]
    assert schema(net) == "time*: int, n: int"
