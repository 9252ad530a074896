"""Schemas, types, and descriptions of networks."""

import polars as pl
import pytest

import boxcars as bx
from boxcars.model.ordered_map import Fields
from boxcars.model.problem import a
from boxcars.model.schema import UNKNOWN_SCHEMA, Schema, name_problem
from boxcars.model.types import FIELD_TYPES, Type


def test_a_schema_tells_its_order_attribute() -> None:
    schema = Schema.of({"t": "int", "x": "float"}, ts="t")
    assert str(schema) == "t*: int, x: float"
    assert str(Schema(schema.fields, "t", ordered=False)) == "t?: int, x: float"
    assert "x" in schema
    assert schema["x"] is Type.FLOAT
    assert schema.empty().schema == pl.Schema({"t": pl.Int64, "x": pl.Float64})
    assert schema.known
    assert not UNKNOWN_SCHEMA.known


@pytest.mark.parametrize("name", ["__pos", "__", "*", "", "^x$", "^.*$"])
def test_names_that_a_field_can_not_have(name: str) -> None:
    assert name_problem(name)
    net = bx.Network("n")
    net.output("out", net.input("calls", ts="t", fields={"t": "int", name: "int"}))
    net.table("table", fields={name: "int"})
    assert len(net.check().problems) == 2


@pytest.mark.parametrize("name", ["x", "_x", "two words", "a*", "^", "$", "x$", "^x", "ä", "1"])
def test_names_that_it_can(name: str) -> None:
    net = bx.Network("n")
    calls = net.input("calls", ts="t", fields={"t": "int", name: "int"})
    net.output("out", calls.map({"t": "t", name: f'"{name}" + 1'}).named("m"))
    result = bx.preview(net, {"calls": {"t": [1], name: [5]}})
    assert result["out"].to_pylist() == [{"t": 1, name: 6}]


@pytest.mark.parametrize(
    ("dtype", "type_"),
    [
        *[(type_.dtype, type_) for type_ in FIELD_TYPES],
        (pl.Int8(), Type.INT),
        (pl.UInt32(), Type.INT),
        (pl.UInt64(), None),
        (pl.Int128(), None),
        (pl.Float32(), Type.FLOAT),
        (pl.Decimal(10, 2), Type.FLOAT),
        (pl.Date(), Type.TIMESTAMP),
        (pl.Datetime("ns", "UTC"), Type.TIMESTAMP),
        (pl.Categorical(), Type.STR),
        (pl.Enum(["a"]), Type.STR),
        (pl.Time(), None),
        (pl.Duration(), None),
        (pl.List(pl.Int64), None),
        (pl.Struct({"a": pl.Int64}), None),
    ],
    ids=str,
)
def test_types_of_polars(dtype: pl.DataType, type_: Type | None) -> None:
    assert Type.of(dtype) is type_


def test_which_type_goes_where() -> None:
    goes = {(w.value, g.value) for w in FIELD_TYPES for g in FIELD_TYPES if w.accepts(g)}
    assert goes == {(t.value, t.value) for t in FIELD_TYPES} | {("float", "int")}
    assert all(t.accepts(Type.UNKNOWN) and Type.UNKNOWN.accepts(t) for t in Type)
    assert [t.value for t in Type if t.numeric] == ["int", "float", "unknown"]


def test_articles() -> None:
    assert [a(t) for t in FIELD_TYPES] == [
        "a str",
        "an int",
        "a float",
        "a bool",
        "a timestamp",
        "bytes",
    ]


def test_fields_are_a_value() -> None:
    fields = Fields({"a": 1, "b": 2})
    assert fields == Fields([("a", 1), ("b", 2)])
    assert hash(fields) == hash(Fields({"a": 1, "b": 2}))
    assert fields != Fields({"b": 2, "a": 1})
    assert (fields == {"a": 1, "b": 2}) is False
    with pytest.raises(TypeError):
        fields["a"] = 5  # type: ignore[index]


def test_describe() -> None:
    body = bx.Network("alarm")
    feed = body.input("feed", ts="t", fields={"t": "int"})
    body.output("high", feed.filter("t > $limit").named("cut"))
    net = bx.Network("n")
    net.superbox(body, limit=5)
    calls = net.input("calls", ts="t", fields={"t": "int"}, slack=2)
    net.table("seen", fields={"k": "str"}, key="k")
    high = calls.use("alarm", limit=7).named("alarms").in_group("g")
    net.output("out", high, qos={"latency": [[0, 1]]})
    calls.connection_point("recent", time=60)
    assert net.describe("calls").splitlines() == [
        "input calls",
        "  ts: t",
        "  slack: 2",
        "  fields: t: int",
        "  gives calls (t*: int) -> alarms",
        "  gives calls.late (t?: int)",
    ]
    assert net.describe("seen") == "table seen\n  fields: k: str\n  key: [k]"
    assert net.describe("recent") == "connection point recent\n  arc: calls\n  time: 60"
    assert net.describe("out") == ("output out\n  from: alarms\n  qos: latency: [[0.0, 1.0]]")
    assert net.describe("alarms").splitlines()[:4] == [
        "box alarms",
        "  type: alarm",
        "  in: calls",
        "  group: g",
    ]
    assert net.describe("alarm").splitlines()[:2] == ["superbox alarm", "  params: limit: 5"]


def test_streams_know_what_they_can_not_do() -> None:
    net = bx.Network("n")
    calls = net.input("calls", ts="t", fields={"t": "int"})
    with pytest.raises(bx.BoxcarsError, match="'calls' is an input, only boxes have a group"):
        calls.in_group("g")
    for port in (1, -1, "x"):
        with pytest.raises(bx.BoxcarsError, match=f"'calls' has no output '{port}'"):
            calls[port]
