"""Aggregates over random windows and data, compared with the oracle, for any split."""

import math
from typing import Any

import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import boxcars as bx
from tests import aggregate_oracle as oracle
from tests.sort_oracle import bsort_slack, bsort_tuples

FIELDS = {"t": "int", "k": "str", "j": "int", "x": "float", "n": "int"}
TYPES = {"t": pl.Int64, "k": pl.String, "j": pl.Int64, "x": pl.Float64, "n": pl.Int64}
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
}


def in_order(found: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return sorted(found, key=lambda row: row["t"])


rows: st.SearchStrategy[list[dict[str, Any]]] = st.lists(
    st.fixed_dictionaries(
        {
            "t": st.integers(-5, 40),
            "k": st.none() | st.sampled_from(["a", "b", "ä", ""]),
            "j": st.none() | st.integers(0, 2),
            "x": st.none() | st.integers(-50, 50).map(lambda n: n / 4),
            "n": st.none() | st.integers(-(2**40), 2**40),
        }
    ),
    max_size=40,
).map(in_order)
groups = st.sampled_from([[], ["k"], ["k", "j"]])


def run(window: bx.Window, by: list[str], data: list[dict[str, Any]], trains: int) -> Any:
    net = bx.Network("n")
    stream = net.input("i", ts="t", fields=FIELDS)
    calls = {name: f"{function}({field})" for name, (function, field) in FUNCTIONS.items()}
    drawn = stream.aggregate(window, by=by, fields=calls).named("a")
    net.output("o", drawn)
    net.output("late", drawn.late)
    frame = pl.DataFrame(data, schema=TYPES, orient="row")
    return bx.preview(net, {"i": frame}, trains=trains)


def same(got: list[dict[str, Any]], expected: list[dict[str, Any]]) -> bool:
    def equal(a: Any, b: Any) -> bool:
        if isinstance(a, float) and b is not None:
            return math.isclose(a, b, rel_tol=1e-9, abs_tol=1e-9)
        return bool(a == b)

    return len(got) == len(expected) and all(
        list(a) == list(b) and all(equal(a[name], b[name]) for name in a)
        for a, b in zip(got, expected, strict=True)
    )


@given(rows, st.integers(1, 20), st.integers(1, 25), groups, st.booleans(), st.integers(1, 9))
@settings(max_examples=80, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_time_windows(
    data: list[dict[str, Any]], size: int, advance: int, by: list[str], flush: bool, trains: int
) -> None:
    window = bx.time(size, advance, flush=flush)
    got = run(window, by, data, trains)["o"]
    expected = oracle.time_windows(data, size, advance, by, FUNCTIONS, flush)
    assert same(got.to_pylist(), expected)
    assert got.equals(run(window, by, data, 1)["o"]), "bit by bit the same for any cut"


@given(
    rows,
    st.integers(1, 6),
    st.integers(0, 8),
    groups,
    st.booleans(),
    st.none() | st.integers(0, 9),
    st.integers(1, 9),
)
@settings(max_examples=80, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_tuple_windows(
    data: list[dict[str, Any]],
    size: int,
    advance: int,
    by: list[str],
    flush: bool,
    timeout: int | None,
    trains: int,
) -> None:
    window = bx.tuples(size, advance, flush=flush, timeout=timeout)
    got = run(window, by, data, trains)["o"]
    expected = oracle.tuple_windows(data, size, advance, by, FUNCTIONS, flush, timeout)
    assert same(got.to_pylist(), expected)
    assert got.equals(run(window, by, data, 1)["o"]), "bit by bit the same for any cut"


@given(rows, st.integers(1, 12), st.integers(1, 15), groups, st.booleans(), st.integers(1, 9))
@settings(max_examples=80, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_value_windows(
    data: list[dict[str, Any]], size: int, advance: int, by: list[str], flush: bool, trains: int
) -> None:
    for number, row in enumerate(data):
        row["n"] = None if number % 5 == 4 else (row["n"] or 0) % 7 + number
    window = bx.value("n", size, advance, flush=flush)
    result = run(window, by, data, trains)
    expected, late = oracle.value_windows(data, "n", size, advance, by, FUNCTIONS, flush)
    assert same(result["o"].to_pylist(), expected)
    assert result["late"].to_pylist() == late
    assert result["o"].equals(run(window, by, data, 1)["o"]), "bit by bit the same for any cut"


@given(rows, st.sampled_from([["k"], ["k", "j"]]), st.booleans(), st.integers(1, 9))
@settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_runs(data: list[dict[str, Any]], by: list[str], flush: bool, trains: int) -> None:
    window = bx.runs(flush=flush)
    got = run(window, by, data, trains)["o"]
    assert same(got.to_pylist(), oracle.run_windows(data, by, FUNCTIONS, flush))
    assert got.equals(run(window, by, data, 1)["o"]), "bit by bit the same for any cut"


@given(rows, st.integers(1, 20), groups, st.booleans(), st.integers(1, 9))
@settings(max_examples=80, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_windows_with_advance_0(
    data: list[dict[str, Any]], size: int, by: list[str], by_value: bool, trains: int
) -> None:
    for number, row in enumerate(data):
        row["n"] = None if number % 5 == 4 else (row["n"] or 0) % 7 + number
    window = bx.value("n", size, 0) if by_value else bx.time(size, 0)
    result = run(window, by, data, trains)
    expected, late = oracle.moving_windows(data, "n" if by_value else "t", size, by, FUNCTIONS)
    assert same(result["o"].to_pylist(), expected)
    assert result["late"].to_pylist() == late
    assert result["o"].equals(run(window, by, data, 1)["o"]), "bit by bit the same for any cut"


@given(rows, st.integers(1, 12), st.integers(1, 15), st.integers(0, 9), groups, st.integers(1, 9))
@settings(max_examples=80, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_obsolete_time_windows_are_dropped(
    data: list[dict[str, Any]], size: int, advance: int, timeout: int, by: list[str], trains: int
) -> None:
    window = bx.time(size, advance, timeout=timeout, obsolete="drop")
    got = run(window, by, data, trains)["o"]
    expected = oracle.dropped_windows(data, size, advance, timeout, by, FUNCTIONS)
    assert same(got.to_pylist(), expected)
    assert got.equals(run(window, by, data, 1)["o"]), "bit by bit the same for any cut"


@given(rows, st.integers(1, 6), st.integers(1, 8), st.integers(0, 9), groups, st.integers(1, 9))
@settings(max_examples=80, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_obsolete_tuple_windows_are_dropped(
    data: list[dict[str, Any]], size: int, advance: int, timeout: int, by: list[str], trains: int
) -> None:
    window = bx.tuples(size, advance, timeout=timeout, obsolete="drop")
    got = run(window, by, data, trains)["o"]
    expected = oracle.dropped_tuple_windows(data, size, advance, timeout, by, FUNCTIONS)
    assert same(got.to_pylist(), expected)
    assert got.equals(run(window, by, data, 1)["o"]), "bit by bit the same for any cut"


@given(rows, st.randoms(use_true_random=False), st.integers(1, 6), st.booleans(), st.integers(1, 9))
@settings(max_examples=80, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_slack_sorts_the_input_first(
    data: list[dict[str, Any]], random: Any, slack: int, in_time: bool, trains: int
) -> None:
    moments = [row["t"] for row in data]
    random.shuffle(moments)
    for row, moment in zip(data, moments, strict=True):
        row["j"] = moment
    window = bx.tuples(3, 2, slack={"time": slack} if in_time else slack)
    net = bx.Network("n")
    stream = net.input("i", ts="t", fields=FIELDS).map(t="j", k="k", x="x")
    calls = {"s": "sum(x)", "f": "first(x)", "l": "last(x)"}
    drawn = stream.aggregate(window, by="k", fields=calls)
    net.output("o", drawn)
    net.output("late", drawn.late)
    frame = pl.DataFrame(data, schema=TYPES, orient="row")
    got = bx.preview(net, {"i": frame}, trains=trains)
    disordered = [{"t": row["j"], "k": row["k"], "x": row["x"]} for row in data]
    sort = bsort_slack if in_time else bsort_tuples
    ordered, late = sort(disordered, "t", slack)
    functions = {"s": ("sum", "x"), "f": ("first", "x"), "l": ("last", "x")}
    assert same(got["o"].to_pylist(), oracle.tuple_windows(ordered, 3, 2, ["k"], functions))
    assert got["late"].to_pylist() == late


@pytest.mark.parametrize("strange", [math.inf, -math.inf, math.nan])
def test_the_median_with_nan(strange: float) -> None:
    net = bx.Network("n")
    rows = net.input("rows", ts="t", fields={"t": "int", "x": "float"})
    net.output("out", rows.aggregate(bx.tuples(3), m="median(x)"))
    data = {"t": [1, 2, 3], "x": [1.0, 2.0, strange]}
    expected = 1.0 if strange == -math.inf else 2.0
    assert bx.preview(net, {"rows": data})["out"]["m"].to_pylist() == [expected]


@pytest.mark.parametrize("trains", [1, 3])
def test_time_may_jump(trains: int) -> None:
    """Empty windows cost nothing, however many there are."""
    net = bx.Network("n")
    rows = net.input("rows", ts="t", fields={"t": "int", "k": "str"})
    net.output("out", rows.aggregate(bx.time(10, 5), by="k", n="count()"))
    times = [0, 3, 2**40, 2**40 + 7, 2**50, 2**61]
    data = {"t": times, "k": ["a", "b", "a", "a", "b", "a"]}
    found = bx.preview(net, {"rows": data}, trains=trains)["out"].to_pylist()
    windows = [(t // 5 - 1) * 5 for t in times[:-1]] + [t // 5 * 5 for t in times[:-1]]
    assert sorted({row["t"] for row in found}) == sorted({w for w in windows if w >= 0})
    assert sum(row["n"] for row in found) == sum(2 if t >= 5 else 1 for t in times[:-1])
