from typing import Any

import pytest

import boxcars as bx
from boxcars.boxes.union import Union
from tests.boxes.helper import problems

FIELDS = {"time": "int", "who": "str"}


def merge(inputs: dict[str, list[int]], trains: int = 1, slack: int = 0) -> list[str]:
    """Merge inputs of these times; each tuple is named by input and number, like ``a0``."""
    net = bx.Network("n")
    first, *others = [net.input(n, ts="time", fields=FIELDS, slack=slack) for n in inputs]
    net.output("out", first.union(*others))
    sources: dict[str, Any] = {
        name: {"time": times, "who": [f"{name}{i}" for i in range(len(times))]}
        for name, times in inputs.items()
    }
    # An empty list has no type of its own.
    sources = {n: s if s["time"] else [] for n, s in sources.items()}
    table = bx.preview(net, sources, trains=trains)["out"]
    assert table["time"].to_pylist() == sorted(table["time"].to_pylist())
    return list(table["who"].to_pylist())


@pytest.mark.parametrize("trains", [1, 2, 3, 11])
@pytest.mark.parametrize(
    ("inputs", "expected"),
    [
        ({"a": [1, 3], "b": [2, 4]}, "a0 b0 a1 b1"),
        ({"a": [1, 1], "b": [1, 1]}, "a0 a1 b0 b1"),
        ({"b": [1, 1], "a": [1, 1]}, "b0 b1 a0 a1"),
        ({"a": [], "b": [1, 2]}, "b0 b1"),
        ({"a": [1, 2], "b": []}, "a0 a1"),
        ({"a": [], "b": []}, ""),
        ({"a": [1, 2], "b": [100, 200]}, "a0 a1 b0 b1"),
        ({"a": [100, 200], "b": [1, 2, 3]}, "b0 b1 b2 a0 a1"),
        ({"a": [5], "b": [1, 5, 9], "c": [5, 5]}, "b0 a0 b1 c0 c1 b2"),
        ({"a": [1], "b": [1], "c": [1], "d": [1]}, "a0 b0 c0 d0"),
        ({"a": [-(2**62), 2**62], "b": [0]}, "a0 b0 a1"),
    ],
    ids=str,
)
def test_in_order_and_ties_by_input(
    inputs: dict[str, list[int]], expected: str, trains: int
) -> None:
    assert " ".join(merge(inputs, trains)) == expected


@pytest.mark.parametrize("trains", [1, 2, 3, 6])
def test_tuples_that_are_out_of_order_within_the_slack(trains: int) -> None:
    inputs = {"a": [3, 1, 2, 6, 5], "b": [2, 4, 3, 6]}
    assert merge(inputs, trains, slack=2) == ["a1", "a2", "b0", "a0", "b2", "b1", "a4", "a3", "b3"]


@pytest.mark.parametrize("trains", [1, 3])
def test_the_order_of_fields_does_not_matter(trains: int) -> None:
    net = bx.Network("n")
    one = net.input("one", ts="time", fields={"time": "int", "who": "str", "x": "int"})
    two = net.input("two", ts="time", fields={"x": "int", "time": "int", "who": "str"})
    net.output("out", one | two)
    row = {"time": 1, "who": "a", "x": 5}
    rows = [row, {**row, "time": 3}]
    out = bx.preview(net, {"one": rows, "two": [{**row, "time": 2, "x": 6}]}, trains=trains)["out"]
    assert out.column_names == ["time", "who", "x"]
    assert out["x"].to_pylist() == [5, 6, 5]


@pytest.mark.parametrize("trains", [1, 2])
def test_a_stream_may_be_merged_with_itself(trains: int) -> None:
    net = bx.Network("n")
    calls = net.input("calls", ts="time", fields={"time": "int"})
    net.output("out", calls | calls)
    out = bx.preview(net, {"calls": {"time": [1, 2]}}, trains=trains)["out"]
    assert out["time"].to_pylist() == [1, 1, 2, 2]


def test_a_tuple_waits_no_longer_than_needed() -> None:
    """The kernel itself: with frontiers at 5 and 3, all tuples before 3 are emitted."""
    from boxcars.kernels.contract import Frontier
    from boxcars.model.schema import Schema

    union = Union()
    schema = Schema.of({"t": "int"}, ts="t")
    trains = tuple(schema.empty().vstack(_frame(times)) for times in ([1, 4], [2, 3]))
    step = union.step(
        union.start((schema, schema)), trains, (Frontier(5), Frontier(3)), (schema, schema)
    )
    assert step.trains["0"]["t"].to_list() == [1, 2]
    assert step.frontier == Frontier(3)
    nothing = (schema.empty(), schema.empty())
    step = union.step(step.state, nothing, (Frontier(9), Frontier(3, final=True)), (schema, schema))
    assert step.trains["0"]["t"].to_list() == [3, 4]


def _frame(times: list[int]) -> Any:
    import polars as pl

    return pl.DataFrame({"t": times})


@pytest.mark.parametrize(
    ("fields", "ts", "words"),
    [
        ({"time": "int"}, "time", "a union needs equal fields, got (time*: int, who: str) and"),
        ({"time": "int", "who": "int"}, "time", "a union needs equal fields"),
        (
            {"time": "int", "who": "str", "x": "int"},
            "x",
            "a union needs equal fields",
        ),
    ],
)
def test_mistakes(fields: dict[str, str], ts: str, words: str) -> None:
    net = bx.Network("n")
    one = net.input("one", ts="time", fields=FIELDS)
    net.output("out", one.union(net.input("two", ts=ts, fields=fields)).named("u"))
    assert problems(net)[0].startswith(f"box 'u', in[1]: {words}")


def test_one_order_attribute() -> None:
    net = bx.Network("n")
    fields = {"time": "int", "at": "int"}
    one = net.input("one", ts="time", fields=fields)
    net.output("out", one.union(net.input("two", ts="at", fields=fields)).named("u"))
    assert problems(net) == [
        "box 'u', in[1]: a union needs one order attribute, got 'time' and 'at'."
    ]
