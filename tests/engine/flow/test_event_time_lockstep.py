"""Inputs in lockstep: the same steps, with the same tuples and frontiers, for any split."""

from datetime import datetime, timedelta
from typing import Any

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import boxcars as bx
from boxcars.engine.flow.event_time_lockstep import Lockstep
from boxcars.engine.flow.input_ordering import ordered_turns
from boxcars.model.entities import Input
from boxcars.model.schema import Schema
from tests.boxes.helper import problems

START = datetime(2026, 1, 1)


def steps(data: dict[str, list[Any]], type_: str, slack: float, trains: int) -> list[Any]:
    """The tuples, late tuples and frontier of each input in each step."""
    schema = Schema.of({"t": type_, "n": "int"}, ts="t")
    inputs = {name: Input(schema.fields, "t", slack) for name in data}
    feeds = {
        name: ordered_turns(
            pl.DataFrame({"t": times, "n": range(len(times))}, schema=schema.dtypes),
            inputs[name],
            trains,
        )
        for name, times in data.items()
    }
    lockstep = Lockstep(inputs)
    return [
        {name: (turn.train.rows(), turn.late.rows(), turn.frontier) for name, turn in step.items()}
        for _ in range(trains)
        for step in lockstep.steps({name: next(turns) for name, turns in feeds.items()})
    ]


def check(data: dict[str, list[Any]], type_: str, slack: float, trains: int) -> None:
    whole = steps(data, type_, slack, 1)
    assert steps(data, type_, slack, trains) == whole
    for name, times in data.items():
        promise: Any = None
        left = [row for step in whole for row in (*step[name][0], *step[name][1])]
        assert sorted(n for _, n in left) == list(range(len(times))), "none lost, none twice"
        for step in whole:
            train, _, frontier = step[name]
            assert len({t for t, _ in train}) <= 1, "one order value at a time"
            assert all(promise is None or t >= promise for t, _ in train), "a promise was broken"
            promise = frontier.value
    assert all(step[name][2].final == (step is whole[-1]) for step in whole for name in data)


small = st.lists(st.integers(-9, 9), max_size=12)


@given(small, small, st.integers(0, 5), st.integers(1, 9))
@settings(deadline=None)
def test_ints(left: list[int], right: list[int], slack: int, trains: int) -> None:
    check({"left": left, "right": right}, "int", slack, trains)


@given(
    st.lists(st.sampled_from([0.0, -0.0, 0.1, -1e300, float("inf")]), max_size=9),
    small,
    st.integers(1, 9),
)
@settings(deadline=None)
def test_floats(left: list[float], right: list[int], trains: int) -> None:
    check({"left": left, "right": [float(t) for t in right]}, "float", 0.5, trains)


@given(small, small, st.integers(1, 9))
@settings(deadline=None)
def test_timestamps(left: list[int], right: list[int], trains: int) -> None:
    data = {"left": left, "right": right}
    moments = {name: [START + timedelta(seconds=t) for t in times] for name, times in data.items()}
    check(moments, "timestamp", 2, trains)


@pytest.mark.parametrize("trains", [1, 3])
def test_the_last_order_value_there_is(trains: int) -> None:
    check({"i": [1, 2**62, 2**62]}, "int", 0, trains)
    check({"i": [START, datetime.max, datetime.max]}, "timestamp", 0, trains)


def sharing(**types: str) -> bx.Network:
    """Each input reads a table, and then inserts into it."""
    net = bx.Network("n")
    net.table("DB", fields={"k": "int"})
    for name, type_ in types.items():
        stream = net.input(name, ts="t", fields={"t": type_, "k": "int"})
        missing = stream.select("SELECT * FROM DB WHERE k = input.k").named(f"ask-{name}")[
            "missing"
        ]
        net.output(name, missing.insert("INSERT INTO DB VALUES (k)").named(f"add-{name}"))
    return net


@pytest.mark.parametrize("trains", [1, 2, 7])
def test_a_later_tuple_sees_what_an_earlier_one_stored(trains: int) -> None:
    net = sharing(a="int", b="int")
    sources = {
        "a": {"t": [1, 2, 5, 9], "k": [7, 8, 7, 5]},
        "b": {"t": [1, 2, 4, 4, 8], "k": [7, 9, 8, 5, 6]},
    }
    result = bx.preview(net, sources, trains=trains)
    assert [tuple(r.values()) for r in result["a"].to_pylist()] == [(1, 7), (2, 8)]
    assert [tuple(r.values()) for r in result["b"].to_pylist()] == [(2, 9), (4, 5), (8, 6)]
    assert result.stored["DB"]["k"].to_pylist() == [5, 6, 7, 8, 9]


@pytest.mark.parametrize("trains", [1, 2, 7])
def test_a_union_adds_no_lag(trains: int) -> None:
    """Rows stored downstream of a union are visible at the same order value, not one later."""
    net = bx.Network("n")
    net.table("DB", fields={"k": "int"})
    a, b = (net.input(name, ts="t", fields={"t": "int"}) for name in "ab")
    (a | b).insert("INSERT INTO DB VALUES (t)").named("add")
    net.output("seen", a.read("SELECT count(*) AS n, max(k) AS last FROM DB").named("ask"))
    result = bx.preview(net, {"a": {"t": [1, 4, 6]}, "b": {"t": [1, 2, 9]}}, trains=trains)
    seen = [tuple(row.values()) for row in result["seen"].to_pylist()]
    assert seen == [(1, 2, 1), (4, 4, 4), (6, 5, 6)]


def test_at_one_order_value_all_ask_before_any_adds() -> None:
    """The select sees all tuples of an order value before the insert downstream runs."""
    result = bx.preview(sharing(a="int"), {"a": {"t": [1, 1, 2], "k": [7, 7, 7]}})
    assert result["a"]["t"].to_pylist() == [1, 1]


@given(st.lists(st.tuples(st.integers(0, 9), st.integers(0, 4)), max_size=14), st.integers(2, 9))
@settings(deadline=None, max_examples=40)
def test_late_tuples_and_windows(rows: list[tuple[int, int]], trains: int) -> None:
    """Late tuples, window results and re-sorted tuples come at the same step, too."""
    net = bx.Network("n")
    net.table("DB", fields={"k": "int", "t": "int"})
    stream = net.input("i", ts="t", fields={"t": "int", "k": "int"}, slack=1)
    again = stream.late.bsort(tuples=2).named("again")
    sums = stream.aggregate(bx.time(3), k="sum(k)").named("sums").map(t="t", k="k")
    for name, one in {"again": again, "sums": sums, "tuples": stream}.items():
        seen = one.read("SELECT count(*) AS n, max(k) AS top FROM DB").named(f"read-{name}")
        net.output(name, seen)
        one.insert("INSERT INTO DB VALUES (k, t)").named(f"insert-{name}")
    source = {"t": [t for t, _ in rows], "k": [k for _, k in rows]}
    data = {"i": pl.DataFrame(source, schema={"t": pl.Int64, "k": pl.Int64})}
    whole, cut = (bx.preview(net, data, trains=n) for n in (1, trains))
    assert {n: t.to_pylist() for n, t in whole.items()} == {
        n: t.to_pylist() for n, t in cut.items()
    }
    assert whole.stored["DB"] == cut.stored["DB"]


def test_order_attributes_must_compare() -> None:
    (problem,) = problems(sharing(a="int", b="timestamp"))
    assert problem == (
        "table 'DB': the boxes ask-a, add-a, ask-b, add-b share it, so all inputs need an order "
        "attribute of the same type: that of 'a' is an int, that of 'b' is a timestamp."
    )


def test_boxes_downstream_of_the_shared_ones_see_whole_trains() -> None:
    net = sharing(a="int")
    net.output("more", net.stream("add-a").filter("k > 0").named("behind"))
    result = bx.preview(net, {"a": {"t": list(range(50)), "k": list(range(50))}}, trains=2)
    assert result.stats["ask-a"].trains == 51
    assert result.stats["behind"].trains == 2
    assert result["more"].num_rows == 49
