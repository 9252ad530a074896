"""Resample compared with the oracle, for any split into trains."""

import math
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import boxcars as bx
from boxcars.boxes.resample import Resample
from boxcars.expr import Expr
from boxcars.kernels.contract import Frontier
from boxcars.model.ordered_map import Fields
from boxcars.model.schema import Schema
from tests import sort_oracle as oracle
from tests.boxes.helper import problems, run, schema

START = datetime(2026, 1, 1)
DTYPES: dict[str, pl.DataType] = {
    "int": pl.Int64(),
    "float": pl.Float64(),
    "timestamp": pl.Datetime("us"),
}
TIMES: dict[str, Callable[[int], Any]] = {
    "int": lambda n: n,
    "float": lambda n: n / 4,
    "timestamp": lambda n: START + timedelta(seconds=n / 4),
}
FUNCTIONS = {
    "c": ("count", "x"),
    "s": ("sum", "x"),
    "i": ("sum", "n"),
    "a": ("avg", "x"),
    "lo": ("min", "k"),
    "hi": ("max", "n"),
    "f": ("first", "k"),
    "l": ("last", "x"),
    "d": ("delta", "n"),
    "m": ("median", "x"),
    "v": ("variance", "x"),
    "u": ("count_distinct", "k"),
    "p": ("interpolate", "x"),
    "q": ("interpolate", "n"),
}


def resample(left: Any, right: Any, type_: str, size: float, trains: int) -> Any:
    net = bx.Network("n")
    times = net.input("l", ts="t", fields={"t": type_, "name": "int"})
    values = net.input("r", ts="t", fields={"t": type_, "k": "str", "x": "float", "n": "int"})
    calls = {name: f"{function}({field})" for name, (function, field) in FUNCTIONS.items()}
    net.output("o", times.resample(values, bx.time(size), calls))
    data = {
        "l": pl.DataFrame(left, schema={"t": DTYPES[type_], "name": pl.Int64()}),
        "r": pl.DataFrame(
            right,
            schema={"t": DTYPES[type_], "k": pl.String(), "x": pl.Float64(), "n": pl.Int64()},
        ),
    }
    return bx.preview(net, data, trains=trains)["o"]


def times(type_: str) -> st.SearchStrategy[list[Any]]:
    return st.lists(st.integers(-10, 50), max_size=20).map(
        lambda found: [TIMES[type_](n) for n in sorted(found)]
    )


row = st.fixed_dictionaries(
    {
        "k": st.none() | st.sampled_from(["a", "b", "ä", ""]),
        "x": st.none() | st.integers(-50, 50).map(lambda n: n / 4),
        "n": st.none() | st.integers(-(2**40), 2**40),
    }
)


def same(got: list[dict[str, Any]], expected: list[dict[str, Any]]) -> bool:
    def equal(a: Any, b: Any) -> bool:
        if isinstance(a, float) and b is not None:
            return math.isclose(a, b, rel_tol=1e-9, abs_tol=1e-9)
        return bool(a == b)

    return len(got) == len(expected) and all(
        list(a) == list(b) and all(equal(a[name], b[name]) for name in a)
        for a, b in zip(got, expected, strict=True)
    )


@pytest.mark.parametrize("type_", DTYPES)
@given(st.data(), st.integers(1, 12), st.integers(1, 9))
@settings(max_examples=80, deadline=None)
def test_against_the_oracle(type_: str, data: st.DataObject, size: int, trains: int) -> None:
    left = [{"t": t, "name": i} for i, t in enumerate(data.draw(times(type_)))]
    right = [{"t": t, **data.draw(row)} for t in data.draw(times(type_))]
    step: Any = timedelta(seconds=size) if type_ == "timestamp" else size
    got = resample(left, right, type_, size, trains)
    assert same(got.to_pylist(), oracle.resample(left, right, step, FUNCTIONS))
    assert got.equals(resample(left, right, type_, size, 1)), "bit by bit the same for any cut"


floats = st.lists(st.floats(0, 3), max_size=10).map(sorted)


@given(floats, floats, st.lists(st.floats(-1e3, 1e3), min_size=10, max_size=10))
@settings(max_examples=60, deadline=None)
def test_rounding_does_not_depend_on_the_split(
    left: list[float], right: list[float], values: list[float]
) -> None:
    clock = [{"t": t, "name": i} for i, t in enumerate(left)]
    rows = [{"t": t, "k": "", "x": x, "n": 0} for t, x in zip(right, values, strict=False)]
    whole = resample(clock, rows, "float", 0.7, 1)
    for trains in (2, 5, 9):
        assert resample(clock, rows, "float", 0.7, trains).equals(whole)


@pytest.mark.parametrize("trains", [1, 2, 4])
@pytest.mark.parametrize(
    ("right", "at", "expected"),
    [
        ([(0, 10.0), (4, 30.0)], 1, 15.0),
        ([(0, 10.0), (4, 30.0)], 4, 30.0),  # exactly at the time
        ([(4, 1.0), (4, 2.0), (6, 9.0)], 4, 2.0),  # of several, the last
        ([(4, 1.0), (4, None), (6, 9.0)], 4, 1.0),  # nulls are ignored
        ([(3, 1.0), (4, None), (5, 9.0)], 4, 5.0),
        ([(0, 10.0)], 1, None),  # nothing after
        ([(2, 10.0)], 1, None),  # nothing before
        ([(0, 10.0), (9, 30.0)], 4, None),  # 9 is 5 away: not less than 5
        ([(0, 10.0), (8, 30.0)], 4, 20.0),
        ([(-1, 10.0), (8, 30.0)], 4, None),
        ([], 4, None),
    ],
    ids=str,
)
def test_interpolation(
    right: list[tuple[int, float | None]], at: int, expected: float | None, trains: int
) -> None:
    rows = [{"t": t, "k": "", "x": x, "n": 0} for t, x in right]
    got = resample([{"t": at, "name": 0}], rows, "int", 5, trains)
    assert got["p"].to_pylist() == [expected]


@pytest.mark.parametrize("trains", [1, 3])
def test_far_times(trains: int) -> None:
    far = 2**62
    left = [{"t": t, "name": 0} for t in (-far, 0, far)]
    right = [{"t": t, "k": "", "x": 1.0, "n": 0} for t in (-far + 1, 1, far - 1)]
    got = resample(left, right, "int", 5, trains)
    assert got["c"].to_pylist() == [1, 1, 1]


@pytest.mark.parametrize("trains", [1, 3])
def test_expressions_with_ints_and_floats(trains: int) -> None:
    net = bx.Network("n")
    left = net.input("l", ts="t", fields={"t": "float"})
    right = net.input("r", ts="u", fields={"u": "int", "x": "int"})
    net.output("o", left.resample(right, bx.time(1.5), n="count()", twice="sum(x * 2)"))
    got = run(net, trains, l={"t": [0.5, 2.0]}, r={"u": [1, 2, 4], "x": [1, 2, 3]})
    assert got == [[{"t": 0.5, "n": 1, "twice": 2}, {"t": 2.0, "n": 2, "twice": 6}]]


def test_a_tuple_waits_until_the_right_stream_has_passed_its_window() -> None:
    schemas = (Schema.of({"t": "int"}, ts="t"), Schema.of({"t": "int", "x": "int"}, ts="t"))
    box = Resample(bx.time(5), Fields({"n": Expr.of("count()")}))
    clock = pl.DataFrame({"t": [1, 4, 7]})
    values = pl.DataFrame({"t": [0, 2, 8], "x": [1, 1, 1]})
    nothing = (clock.clear(), values.clear())
    step = box.step(box.start(schemas), (clock, values), (Frontier(8), Frontier(9)), schemas)
    assert step.trains["0"].rows() == [(1, 2), (4, 3)]
    assert step.frontier == Frontier(7)
    assert step.state["values"]["t"].to_list() == [8]
    step = box.step(step.state, nothing, (Frontier(9, final=True), Frontier(11)), schemas)
    assert step.trains["0"].rows() == []
    assert step.frontier == Frontier(7)
    step = box.step(step.state, nothing, (Frontier(9, final=True), Frontier(12)), schemas)
    assert step.trains["0"].rows() == [(7, 1)]
    assert step.frontier == Frontier(9, final=True)
    assert step.state["values"].is_empty()


def drawn(
    window: bx.Window = bx.time(5),  # noqa: B008
    left: str = "int",
    ordered: bool = True,
    **fields: str,
) -> bx.Network:
    net = bx.Network("n")
    one = net.input("l", ts="t", fields={"t": left, "k": "int"})
    two = net.input("r", ts="u", fields={"u": "int", "x": "int", "s": "str"})
    two = two if ordered else two.map(u="-u", x="x", s="s")
    net.output("out0", one.resample(two, window, fields or {"y": "avg(x)"}).named("r1"))
    return net


def test_the_fields_of_the_left_input_then_the_functions() -> None:
    net = drawn(a="avg(x)", n="count()", s="last(s)", i="interpolate(x)")
    assert schema(net) == "t*: int, k: int, a: float, n: int, s: str, i: float"
    assert bx.loads(bx.dumps(net)) == net


@pytest.mark.parametrize(
    ("how", "message"),
    [
        ({"window": bx.tuples(5)}, "window: a resample needs a time window, got tuples."),
        (
            {"window": bx.time(5, advance=1)},
            "window.advance: the window of a resample takes only a size.",
        ),
        ({"window": bx.time(0)}, "window.size: a window needs a size above 0, got 0."),
        (
            {"a": "x + 1"},
            "fields.a: 'x + 1' is not an aggregate function. Write for example sum(price).",
        ),
        (
            {"a": "interpolat(x)"},
            "fields.a: 'interpolat(x)' is not an aggregate function. Did you mean 'interpolate'?",
        ),
        ({"a": "interpolate()"}, "fields.a: interpolate(x) takes 1 argument, got 0."),
        ({"a": "interpolate(s)"}, "fields.a: interpolate needs a number, got a str."),
        ({"a": "sum(k)"}, "fields.a: unknown field 'k'. There is: s, u, x."),
        ({"k": "sum(x)"}, "fields.k: there is already a field 'k'."),
        ({"__k": "sum(x)"}, "fields.__k: names that start with __ belong to Boxcars."),
        (
            {"left": "timestamp"},
            "in: the order attributes differ: 't' is a timestamp, 'u' is an int.",
        ),
        (
            {"ordered": False},
            (
                "in[1]: the order attribute 'u' was recomputed, so this input is not in order: "
                "sort it first, with bsort."
            ),
        ),
    ],
    ids=str,
)
def test_mistakes(how: dict[str, Any], message: str) -> None:
    assert problems(drawn(**how)) == [f"box 'r1', {message}"]


def test_at_least_one_function() -> None:
    net = bx.Network("n")
    stream = net.input("i", ts="t", fields={"t": "int"})
    net.output("out", stream.resample(stream, bx.time(5)).named("r"))
    assert problems(net) == ["box 'r', fields: a resample needs at least one function."]
