from typing import Any

import polars as pl
import pytest

import boxcars as bx
from tests.boxes.helper import CALLS, network, problems, run, schema

DATA = {"time": [1, 2, 3], "caller": ["a", None, "c"], "price": [1.5, 2.5, None]}
EMPTY = pl.DataFrame(schema={"time": pl.Int64, "caller": pl.String, "price": pl.Float64})


@pytest.mark.parametrize(
    ("given", "expected", "first"),
    [
        ({"time": "time", "who": "upper(caller)"}, "time*: int, who: str", {"time": 1, "who": "A"}),
        (
            {"price": "price * 2", "keep": True},
            "time*: int, caller: str, price: float",
            {"time": 1, "caller": "a", "price": 3.0},
        ),
        (
            {"rename": {"caller": "who"}},
            "time*: int, who: str, price: float",
            {"time": 1, "who": "a", "price": 1.5},
        ),
        (
            {"rename": {"caller": "price", "price": "caller"}},
            "time*: int, price: str, caller: float",
            {"time": 1, "price": "a", "caller": 1.5},
        ),
        (
            {"rename": {"caller": "price"}, "drop": "price"},
            "time*: int, price: str",
            {"time": 1, "price": "a"},
        ),
        ({"drop": ["caller", "price"]}, "time*: int", {"time": 1}),
        (
            {"drop": "price", "more": "price"},
            "time*: int, caller: str, more: float",
            {"time": 1, "caller": "a", "more": 1.5},
        ),
        ({"time": "time", "self": "1", "type_": 2.5, "cls": True}, None, None),
        ({"time": "time", "twice": pl.col("price") * 2}, "time*: int, twice: float", None),
    ],
)
def test_fields(given: dict[str, Any], expected: str | None, first: dict[str, Any] | None) -> None:
    net = network(lambda calls: calls.map(**given))
    (rows,) = run(net, calls=DATA)
    assert len(rows) == 3
    assert expected is None or schema(net) == expected
    assert first is None or rows[0] == first


class TestOrderAttribute:
    """It may be renamed, copied and computed, but not lost."""

    @pytest.mark.parametrize(
        ("given", "expected"),
        [
            ({"rename": {"time": "at"}}, "at*: int, caller: str, price: float"),
            ({"at": "time"}, "at*: int"),
            ({"x": "price", "at": "time", "to": "time"}, "x: float, at*: int, to: int"),
            ({"time": "time", "at": "time"}, "time*: int, at: int"),
            ({"time": "time + 5"}, "time*: int"),
            ({"time": "time // 60"}, "time*: int"),
            ({"time": "2 * (time - 3) / 4"}, "time*: float"),
            ({"time": "cast(floor(time) as int)"}, "time*: int"),
            ({"time": "-time"}, "time?: int"),
            ({"time": "time * -1"}, "time?: int"),
            ({"time": "price"}, "time?: float"),
            ({"time": "1"}, "time?: int"),
            ({"time": "time % 2"}, "time?: int"),
        ],
    )
    def test_is_known(self, given: dict[str, Any], expected: str) -> None:
        assert schema(network(lambda calls: calls.map(**given))) == expected

    @pytest.mark.parametrize("given", [{"who": "caller"}, {"drop": "time"}, {"at": "time + 1"}])
    def test_order_attribute_is_not_lost(self, given: dict[str, Any]) -> None:
        net = network(lambda calls: calls.map(**given).named("m"))
        assert problems(net) == [
            "box 'm', fields: the order attribute 'time' is lost: add time: time."
        ]

    @pytest.mark.parametrize("trains", [1, 2, 5, 30])
    @pytest.mark.parametrize("expression", ["time + 5", "time // 3", "time * 2 - 7", "time / 2"])
    def test_a_union_after_an_increasing_map_works_for_any_split(
        self, expression: str, trains: int
    ) -> None:
        net = bx.Network("n")
        calls = net.input("calls", ts="time", fields={"time": "int", "n": "int"}, slack=3)
        one = calls.map(time=expression, n="n").named("one")
        two = calls.filter("n % 2 = 0").map(time=expression, n="-n").named("two")
        net.output("both", one | two)
        times = [4, 2, 2, 5, 3, 9, 7, 12, 12, 11, 15]
        data = {"time": times, "n": list(range(len(times)))}
        both = bx.preview(net, {"calls": data}, trains=trains)["both"].to_pylist()
        assert both == bx.preview(net, {"calls": data})["both"].to_pylist()
        assert len(both) == 11 + 6
        order = [row["time"] for row in both]
        assert order == sorted(order)

    @pytest.mark.parametrize("trains", [1, 2, 3, 6])
    def test_the_frontier_is_computed_like_the_tuples(self, trains: int) -> None:
        """Another input that runs ahead must wait for what the map may still emit."""
        net = bx.Network("n")
        slow = net.input("slow", ts="time", fields={"time": "int"})
        fast = net.input("fast", ts="time", fields={"time": "int"})
        net.output("both", slow.map(time="time // 10").named("tens") | fast)
        data = {"slow": [10, 20, 30, 40, 50, 60], "fast": [5, 50, 50, 50, 50, 50]}
        sources = {name: {"time": times} for name, times in data.items()}
        both = bx.preview(net, sources, trains=trains)["both"]["time"].to_pylist()
        assert both == [1, 2, 3, 4, 5, 5, 6, 50, 50, 50, 50, 50]

    def test_a_recomputed_order_can_not_be_merged(self) -> None:
        net = network(lambda calls: (m := calls.map(time="-time").named("m")).union(m).named("u"))
        assert [words.partition(": ")[0] for words in problems(net)] == [
            "box 'u', in[0]",
            "box 'u', in[1]",
        ]


@pytest.mark.parametrize("trains", [1, 2, 5])
@pytest.mark.parametrize(
    "given",
    [{"time": "time", "one": "1"}, {"time": "1", "one": "1"}, {"time": "2 - 1", "one": 1}],
    ids=str,
)
def test_a_constant_is_repeated_for_every_tuple(given: dict[str, Any], trains: int) -> None:
    net = network(lambda calls: calls.map(**given))
    (rows,) = run(net, trains, calls=DATA)
    assert [row["one"] for row in rows] == [1, 1, 1]
    assert run(net, trains, calls=EMPTY) == [[]]


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({}, "fields: a map needs at least one field."),
        (
            {"rename": {"coller": "x"}},
            "rename.coller: unknown field 'coller'. Did you mean 'caller'",
        ),
        ({"rename": {"caller": "price"}}, "rename.caller: there is already a field 'price'."),
        ({"rename": {"caller": "x", "price": "x"}}, "rename.price: there is already a field 'x'."),
        ({"rename": {"price": "__x"}}, "rename.price: names that start with __ belong to Boxcars."),
        ({"drop": "prise"}, "drop[0]: unknown field 'prise'. Did you mean 'price'?"),
        ({"__x": "1"}, "fields.__x: names that start with __ belong to Boxcars."),
        ({"*": "1"}, "fields.*: a field can't be called '*'."),
        ({"x": "y"}, "fields.x: unknown field 'y'."),
    ],
    ids=str,
)
def test_mistakes(given: dict[str, Any], words: str) -> None:
    found = problems(network(lambda calls: calls.map(**given).named("m")))
    assert any(problem.startswith(f"box 'm', {words}") for problem in found), found


def test_names_that_are_no_keywords() -> None:
    net = network(lambda calls: calls.map({"time": "time", "two words": "price", "keep": "1"}))
    assert schema(net) == "time*: int, two words: float, keep: int"
    assert run(net, calls=DATA)[0][0] == {"time": 1, "two words": 1.5, "keep": 1}


def test_undeclared_input_fields_are_dropped() -> None:
    net = network(lambda calls: calls.map(keep=True, one="1"))
    assert list(run(net, calls={**DATA, "more": [1, 2, 3]})[0][0]) == [*CALLS, "one"]
