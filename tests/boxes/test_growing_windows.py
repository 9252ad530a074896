"""Early-firing windows compared with the oracle, for any split into trains."""

from functools import partial
from typing import Any

import polars as pl
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import boxcars as bx
from tests.boxes.test_aggregate_windows import FUNCTIONS, groups, rows, run, same
from tests.growing_oracle import Kind, Oracle

emits: st.SearchStrategy[dict[str, Any]] = st.one_of(
    st.just({"emit": "change"}),
    st.builds(
        lambda every, by: {"emit": "every", "every": every, "every_by": by},
        st.integers(1, 7),
        st.sampled_from(["tuples", "time"]),
    ),
)


def window_of(kind: Kind) -> bx.Window:
    emit: Any = kind.emit
    if kind.emit == "every":
        emit = {"every": kind.every, "by": kind.every_by}
    more = {"emit": emit, "flush": kind.flush}
    if kind.by == "time":
        return bx.time(kind.size, kind.advance, **more)
    if kind.by == "tuples":
        return bx.tuples(kind.size, kind.advance, timeout=kind.timeout, **more)
    if kind.by == "value":
        return bx.value(kind.field, kind.size, kind.advance, **more)
    return bx.runs(**more) if kind.by == "runs" else bx.landmark(**more)


def check(kind: Kind, by: list[str], data: list[dict[str, Any]], trains: int) -> None:
    window = window_of(kind)
    got = run(window, by, data, trains)
    expected, late = Oracle(kind, by, FUNCTIONS).run(data)
    assert same(got["o"].to_pylist(), expected)
    assert got["late"].to_pylist() == late
    assert got["o"].equals(run(window, by, data, 1)["o"]), "bit by bit the same for any cut"


few = settings(max_examples=70, deadline=None, suppress_health_check=[HealthCheck.too_slow])


@given(rows, emits, groups, st.booleans(), st.integers(1, 9))
@few
def test_landmark(
    data: list[dict[str, Any]], emit: dict[str, Any], by: list[str], flush: bool, trains: int
) -> None:
    check(Kind("landmark", **emit, flush=flush), by, data, trains)


@given(rows, groups, st.integers(1, 9))
@few
def test_a_landmark_at_the_end_only(data: list[dict[str, Any]], by: list[str], trains: int) -> None:
    check(Kind("landmark", emit="close", flush=True), by, data, trains)


@given(
    rows, emits, st.integers(1, 20), st.integers(1, 25), groups, st.booleans(), st.integers(1, 9)
)
@few
def test_time(
    data: list[dict[str, Any]],
    emit: dict[str, Any],
    size: int,
    advance: int,
    by: list[str],
    flush: bool,
    trains: int,
) -> None:
    check(Kind("time", size, advance, **emit, flush=flush), by, data, trains)


@given(
    rows,
    emits,
    st.integers(1, 6),
    st.integers(1, 8),
    groups,
    st.booleans(),
    st.none() | st.integers(0, 9),
    st.integers(1, 9),
)
@few
def test_tuples(
    data: list[dict[str, Any]],
    emit: dict[str, Any],
    size: int,
    advance: int,
    by: list[str],
    flush: bool,
    timeout: int | None,
    trains: int,
) -> None:
    kind = Kind("tuples", size, advance, timeout=timeout, **emit, flush=flush)
    check(kind, by, data, trains)


@given(
    rows, emits, st.integers(1, 12), st.integers(1, 15), groups, st.booleans(), st.integers(1, 9)
)
@few
def test_value(
    data: list[dict[str, Any]],
    emit: dict[str, Any],
    size: int,
    advance: int,
    by: list[str],
    flush: bool,
    trains: int,
) -> None:
    for number, row in enumerate(data):
        row["n"] = None if number % 5 == 4 else (row["n"] or 0) % 7 + number
    check(Kind("value", size, advance, "n", **emit, flush=flush), by, data, trains)


@given(rows, emits, st.sampled_from([["k"], ["k", "j"]]), st.booleans(), st.integers(1, 9))
@few
def test_runs(
    data: list[dict[str, Any]], emit: dict[str, Any], by: list[str], flush: bool, trains: int
) -> None:
    check(Kind("runs", **emit, flush=flush), by, data, trains)


def test_time_passes_before_the_tuple_that_ends_a_value_window() -> None:
    """A result that is due at the time of that tuple precedes it, however trains are split."""
    data = [{"t": t, "k": None, "j": None, "x": None, "n": n} for n, t in enumerate([0, 0, 0, 1])]
    kind = Kind("value", 2, 1, "n", emit="every", every=1, every_by="time")
    for trains in (1, 2, 4):
        check(kind, [], data, trains)


@given(
    st.lists(st.tuples(st.integers(0, 2), st.none() | st.integers(0, 4)), max_size=60),
    emits,
    st.sampled_from([bx.landmark, partial(bx.time, 7, 3), partial(bx.tuples, 5, 2)]),
    st.integers(1, 9),
)
@few
def test_distinct_values_alone(
    data: list[tuple[int, int | None]], emit: dict[str, Any], window: Any, trains: int
) -> None:
    """Only distinct values are retained, and the counts are those of all tuples."""
    emitted: Any = emit["emit"]
    if emitted == "every":
        emitted = {"every": emit["every"], "by": emit["every_by"]}
    rows = [{"t": n, "k": k, "x": x} for n, (k, x) in enumerate(data)]

    def found(function: str, trains: int) -> list[tuple[int, int, Any]]:
        net = bx.Network("n")
        stream = net.input("r", ts="t", fields={"t": "int", "k": "int", "x": "int"})
        net.output("o", stream.aggregate(window(emit=emitted), by="k", f=function))
        table = bx.preview(net, {"r": rows}, trains=trains)["o"]
        return [(row["k"], row["t"], row["f"]) for row in table.to_pylist()]

    texts = found("concat(CAST(x AS str), ',')", 1)  # which needs every tuple
    expected = [(k, t, len({x for x in text.split(",") if x})) for k, t, text in texts]
    assert found("count_distinct(x)", trains) == expected


def test_retained_distinct_values() -> None:
    schema = bx.Schema.of({"t": "int", "x": "int"}, ts="t")
    window = bx.landmark(emit="change")
    box: Any = bx.box_types()["aggregate"].build(window, d="count_distinct(x)")
    state = box.start((schema,))
    for first in range(0, 1000, 100):
        times = range(first, first + 100)
        train = pl.DataFrame({"t": times, "x": [n % 3 for n in times]})
        step = box.step(state, (train,), (bx.Frontier(first + 99),), (schema,))
        state = step.state
    kept = {name: frame.height for name, frame in state.items()}
    assert max(kept.values()) < 20, kept
    assert step.trains["0"]["d"][-1] == 3
