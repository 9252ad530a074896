"""BSort compared with the oracle, for any split into trains."""

import math
from datetime import datetime, timedelta
from typing import Any

import polars as pl
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import boxcars as bx
from boxcars.boxes.bsort import BSort
from boxcars.kernels.contract import Frontier
from boxcars.model.schema import Schema
from tests import sort_oracle as oracle
from tests.boxes.helper import problems, run, schema

START = datetime(2026, 1, 1)
DTYPES: dict[str, pl.DataType] = {
    "int": pl.Int64(),
    "float": pl.Float64(),
    "timestamp": pl.Datetime("us"),
}


def sort(values: list[Any], type_: str, trains: int, **how: Any) -> tuple[Any, Any]:
    """Arrow tables of the ordered and the late tuples; ``n`` numbers the arrivals."""
    net = bx.Network("n")
    stream = net.input("i", ts="n", fields={"n": "int", "x": type_}).bsort(by="x", **how)
    net.output("out", stream.named("b"))
    net.output("late", stream.late)
    frame = pl.DataFrame(
        {"n": range(len(values)), "x": values}, schema={"n": pl.Int64(), "x": DTYPES[type_]}
    )
    result = bx.preview(net, {"i": frame}, trains=trains)
    assert result.stats["b"].late == result["late"].num_rows
    return result["out"], result["late"]


def rows_of(values: list[Any]) -> list[dict[str, Any]]:
    return [{"n": n, "x": x} for n, x in enumerate(values)]


def check(values: list[Any], type_: str, trains: int, expected: Any, **how: Any) -> None:
    out, late = sort(values, type_, trains, **how)
    assert (out.to_pylist(), late.to_pylist()) == expected
    whole = sort(values, type_, 1, **how)
    assert out.equals(whole[0])
    assert late.equals(whole[1])


ints = st.none() | st.integers(-20, 20)
cuts = st.integers(1, 9)


@given(st.lists(ints, max_size=30), st.sampled_from([0, 1, 4, 4.5, 50]), cuts)
@settings(deadline=None)
def test_slack_of_ints(values: list[Any], slack: float, trains: int) -> None:
    expected = oracle.bsort_slack(rows_of(values), "x", slack)
    check(values, "int", trains, expected, slack=slack)


@given(st.lists(st.none() | st.floats(-5, 5), max_size=20), st.floats(0, 4), cuts)
@example([0.2980274888466029, -0.3323105447815215], 0.6303380336281244, 2)
@settings(deadline=None)
def test_slack_of_floats(values: list[Any], slack: float, trains: int) -> None:
    expected = oracle.bsort_slack(rows_of(values), "x", slack)
    check(values, "float", trains, expected, slack=slack)


moments = st.none() | st.integers(0, 20).map(lambda s: START + timedelta(seconds=s / 2))


@given(st.lists(moments, max_size=20), st.sampled_from([0, 0.5, 3]), cuts)
@settings(deadline=None)
def test_slack_of_timestamps_is_in_seconds(values: list[Any], slack: float, trains: int) -> None:
    expected = oracle.bsort_slack(rows_of(values), "x", timedelta(seconds=slack))
    check(values, "timestamp", trains, expected, slack=slack)


@given(
    st.one_of(
        st.tuples(st.just("int"), st.lists(ints, max_size=30)),
        st.tuples(st.just("float"), st.lists(st.none() | st.floats(-5, 5), max_size=30)),
        st.tuples(st.just("timestamp"), st.lists(moments, max_size=30)),
    ),
    st.integers(0, 12),
    cuts,
)
@settings(deadline=None)
def test_slack_in_tuples(data: tuple[str, list[Any]], tuples: int, trains: int) -> None:
    type_, values = data
    expected = oracle.bsort_tuples(rows_of(values), "x", tuples)
    check(values, type_, trains, expected, tuples=tuples)


@pytest.mark.parametrize("trains", [1, 2, 5])
@pytest.mark.parametrize(
    ("how", "out", "late"),
    [
        ({}, [3, 4, 9], [2, 1]),
        ({"slack": 2}, [2, 3, 4, 9], [1]),
        ({"slack": 3}, [1, 2, 3, 4, 9], []),
        ({"tuples": 0}, [3, 4, 9], [2, 1]),
        ({"tuples": 1}, [3, 4, 9], [2, 1]),
        ({"tuples": 2}, [2, 3, 4, 9], [1]),
        ({"tuples": 3}, [1, 2, 3, 4, 9], []),
    ],
    ids=str,
)
def test_late_tuples(how: dict[str, Any], out: list[int], late: list[int], trains: int) -> None:
    got = sort([3, 4, 2, 1, 9], "int", trains, **how)
    assert [table["x"].to_pylist() for table in got] == [out, late]


@pytest.mark.parametrize("trains", [1, 4])
@pytest.mark.parametrize("how", [{"slack": 9}, {"tuples": 3}])
def test_tuples_without_a_valid_order_value_are_late(how: dict[str, Any], trains: int) -> None:
    got, late = sort([2.0, math.nan, 1.0, None], "float", trains, **how)
    assert got["x"].to_pylist() == [1.0, 2.0]
    assert late["n"].to_pylist() == [1, 3]


@pytest.mark.parametrize("trains", [1, 3])
def test_an_input_with_a_recomputed_order_is_sorted(trains: int) -> None:
    net = bx.Network("n")
    stream = net.input("i", ts="t", fields={"t": "int"}).map(t="t % 3")
    net.output("out0", stream.bsort(slack=2).aggregate(bx.time(1, flush=True), n="count()"))
    rows = [{"t": t} for t in range(7)]
    assert run(net, trains, i=rows) == [[{"t": 0, "n": 3}, {"t": 1, "n": 2}, {"t": 2, "n": 2}]]


@pytest.mark.parametrize("trains", [1, 3])
def test_late_tuples_can_be_sorted_again(trains: int) -> None:
    net = bx.Network("n")
    stream = net.input("i", ts="n", fields={"n": "int", "x": "int"}).bsort(by="x")
    net.output("out0", stream.late.bsort(tuples=9))
    rows = [{"n": n, "x": x} for n, x in enumerate([9, 3, 1, 2])]
    assert [row["x"] for row in run(net, trains, i=rows)[0]] == [1, 2, 3]


@pytest.mark.parametrize("trains", [1, 3])
def test_hidden_columns_travel_along(trains: int) -> None:
    net = bx.Network("n")
    stream = net.input("i", ts="n", fields={"n": "int", "x": "int"})
    net.output("out0", stream.bsort(by="x", slack=99).drop(rate=0.5, seed=1))
    net.output("out1", stream.drop(rate=0.5, seed=1))
    rows = [{"n": n, "x": (n * 7) % 20} for n in range(20)]
    late, early = run(net, trains, i=rows)
    assert sorted(late, key=lambda row: row["n"]) == early
    assert early


def frame(*values: int) -> pl.DataFrame:
    return pl.DataFrame({"t": [0] * len(values), "x": values})


def test_the_frontier() -> None:
    schemas = (Schema.of({"t": "int", "x": "int"}, ts="t"),)
    for box, out, promise in (
        (BSort("x", slack=3), [4], 6),
        (BSort("x", tuples=1), [4, 8], 8),
        (BSort("x", tuples=5), [], None),
    ):
        step = box.step(box.start(schemas), (frame(4, 9, 8),), (Frontier(5),), schemas)
        assert step.trains["0"]["x"].to_list() == out
        assert step.frontier == Frontier(promise)
        step = box.step(step.state, (frame(),), (Frontier(7, final=True),), schemas)
        assert step.frontier == Frontier(9, final=True)


def test_in_order_already() -> None:
    """No tuple waits, and the frontier of the input is passed on."""
    schemas = (Schema.of({"t": "int", "x": "int"}, ts="t"),)
    box = BSort(slack=3)
    step = box.step(box.start(schemas), (frame(4),), (Frontier(5),), schemas)
    assert step.trains["0"]["x"].to_list() == [4]
    assert step.frontier == Frontier(5)


def test_the_field_is_the_order_attribute() -> None:
    net = bx.Network("n")
    stream = net.input("i", ts="n", fields={"n": "int", "x": "float"}).bsort(by="x")
    net.output("out0", stream)
    net.output("out1", stream.late)
    assert schema(net) == "n: int, x*: float"
    assert schema(net, "out1") == "n: int, x?: float"
    assert bx.loads(bx.dumps(net)) == net


@pytest.mark.parametrize(
    ("how", "message"),
    [
        ({"by": "y"}, "by: unknown field 'y'. There is: n, s, x."),
        (
            {"by": "s"},
            "by: an order attribute is an int, a float or a timestamp, 's' is a str.",
        ),
        ({"slack": -1}, "slack: expected 0 or more, got -1."),
        ({"slack": math.inf}, "slack: expected 0 or more, got inf."),
        ({"tuples": -1}, "tuples: expected 0 or more, got -1."),
        (
            {"tuples": 1, "slack": 1},
            "tuples: give either slack or tuples, not both.",
        ),
    ],
    ids=str,
)
def test_mistakes(how: dict[str, Any], message: str) -> None:
    net = bx.Network("n")
    stream = net.input("i", ts="n", fields={"n": "int", "x": "int", "s": "str"})
    net.output("out", stream.bsort(**how).named("b"))
    assert problems(net) == [f"box 'b', {message}"]
