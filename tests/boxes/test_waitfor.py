"""WaitFor compared with the oracle, for any split into trains."""

import math
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import boxcars as bx
from boxcars.boxes.waitfor import WaitFor
from boxcars.expr import Expr
from boxcars.kernels.contract import Frontier
from boxcars.model.schema import Schema
from tests import sort_oracle as oracle
from tests.boxes.helper import problems, run, schema
from tests.test_golden import VECTORS

START = datetime(2026, 1, 1)
DTYPES: dict[str, pl.DataType] = {
    "int": pl.Int64(),
    "float": pl.Float64(),
    "timestamp": pl.Datetime("us"),
}


def equal(one: Any, two: Any) -> bool:
    return one is not None and one == two


ON: dict[str, Callable[[Any, Any], bool]] = {
    "left.k = right.k": lambda a, b: equal(a["k"], b["k"]),
    "left.k = right.k AND left.s = right.s": lambda a, b: (
        equal(a["k"], b["k"]) and equal(a["s"], b["s"])
    ),
    "left.k <= right.k": lambda a, b: (
        a["k"] is not None and b["k"] is not None and a["k"] <= b["k"]
    ),
    "left.k = right.k AND left.n < right.n": lambda a, b: equal(a["k"], b["k"]) and a["n"] < b["n"],
    "true": lambda _a, _b: True,
}
TIMES: dict[str, Callable[[int], Any]] = {
    "int": lambda n: n,
    "float": lambda n: n / 4,
    "timestamp": lambda n: START + timedelta(seconds=n / 4),
}


def wait(left: Any, right: Any, type_: str, on: str, timeout: float, trains: int) -> list[Any]:
    net = bx.Network("n")
    fields = {"t": type_, "k": "int", "s": "str", "n": "int"}
    streams = [net.input(name, ts="t", fields=fields) for name in ("l", "r")]
    for port, stream in enumerate(streams[0].waitfor(streams[1], on=on, timeout=timeout)):
        net.output(f"out{port}", stream)
    dtypes = {"t": DTYPES[type_], "k": pl.Int64(), "s": pl.String(), "n": pl.Int64()}
    data = {n: pl.DataFrame(rows, schema=dtypes) for n, rows in (("l", left), ("r", right))}
    return list(bx.preview(net, data, trains=trains).values())


def stream(type_: str) -> st.SearchStrategy[list[dict[str, Any]]]:
    row = st.tuples(
        st.integers(-5, 40), st.none() | st.integers(0, 3), st.none() | st.sampled_from("ab")
    )
    return st.lists(row, max_size=20).map(
        lambda rows: [
            {"t": TIMES[type_](t), "k": k, "s": s, "n": n}
            for n, (t, k, s) in enumerate(sorted(rows, key=lambda row: row[0]))
        ]
    )


@pytest.mark.parametrize("type_", DTYPES)
@given(st.data(), st.sampled_from(list(ON)), st.integers(1, 15), st.integers(1, 9))
@settings(max_examples=80, deadline=None)
def test_against_the_oracle(
    type_: str, data: st.DataObject, on: str, timeout: int, trains: int
) -> None:
    left, right = data.draw(stream(type_)), data.draw(stream(type_))
    step: Any = timedelta(seconds=timeout) if type_ == "timestamp" else timeout
    got = wait(left, right, type_, on, timeout, trains)
    assert tuple(t.to_pylist() for t in got) == oracle.waitfor(left, right, ON[on], step)
    whole = wait(left, right, type_, on, timeout, 1)
    assert all(one.equals(two) for one, two in zip(got, whole, strict=True))
    assert sum(table.num_rows for table in got) == len(left)


@given(st.lists(st.floats(0, 3), max_size=8), st.lists(st.floats(0, 3), max_size=8))
@settings(max_examples=80, deadline=None)
def test_rounding_does_not_depend_on_the_split(left: list[float], right: list[float]) -> None:
    rows = [
        [{"t": t, "k": 0, "s": "", "n": n} for n, t in enumerate(sorted(times))]
        for times in (left, right)
    ]
    whole = wait(rows[0], rows[1], "float", "true", 0.7, 1)
    for trains in (2, 5, 9):
        got = wait(rows[0], rows[1], "float", "true", 0.7, trains)
        assert all(one.equals(two) for one, two in zip(got, whole, strict=True))


@pytest.mark.parametrize("trains", [1, 2, 3])
def test_golden(trains: int) -> None:
    vector = VECTORS["op-07-aurora-update-read-waitfor"]
    sides: dict[str, list[dict[str, int]]] = {"l": [], "r": []}
    for side, time, row in vector["input"]["events"]:
        sides[side].append({"t": time, **row})
    net = bx.Network("n")
    left, right = (net.input(s, ts="t", fields={"t": "int", "k": "int"}) for s in sides)
    released, discarded = left.waitfor(
        right, on="left.k = right.k", timeout=vector["parameters"]["timeout"]
    )
    net.output("released", released)
    net.output("discarded", discarded)
    result = bx.preview(net, sides, trains=trains)
    for name, table in result.items():
        assert [{"k": row["k"], "at": row["t"]} for row in table.to_pylist()] == vector["expected"][
            name
        ]


@pytest.mark.parametrize(
    ("left", "right", "released", "discarded"),
    [
        ([1], [5], [5], []),  # just in time
        ([1], [6], [], [6]),  # exactly the timeout is late
        ([1], [1], [1], []),  # left comes first
        ([2], [1], [], [7]),  # a right tuple does not wait
        ([1, 2], [3, 4], [3, 3], []),  # one releases many, once
        ([1, 9], [], [], [6, 14]),
        ([], [1], [], []),
    ],
    ids=str,
)
def test_ticks(
    left: list[int], right: list[int], released: list[int], discarded: list[int]
) -> None:
    rows = [[{"t": t, "k": 0, "s": "", "n": 0} for t in times] for times in (left, right)]
    for trains in (1, 2, 4):
        got = wait(rows[0], rows[1], "int", "true", 5, trains)
        assert [table["t"].to_pylist() for table in got] == [released, discarded]


def test_times_at_the_end_of_the_range() -> None:
    end = 2**62
    rows = [{"t": end, "k": 0, "s": "", "n": 0}]
    assert [t["t"].to_pylist() for t in wait(rows, [], "int", "true", 5, 1)] == [[], [end + 5]]
    rows = [{**rows[0], "t": datetime.max}]
    got = wait(rows, [], "timestamp", "true", 5, 1)
    assert [t["t"].to_pylist() for t in got] == [[], [datetime.max]]


def test_int_and_float_keys_match() -> None:
    net = bx.Network("n")
    left = net.input("l", ts="t", fields={"t": "float"})
    right = net.input("r", ts="u", fields={"u": "int"})
    net.output("out0", left.waitfor(right, on="left.t < right.u", timeout=2.5))
    for trains in (1, 2):
        got = run(net, trains, l={"t": [0.5, 2.0]}, r={"u": [1, 2, 4]})
        assert got == [[{"t": 1.0}, {"t": 4.0}]]


def test_the_frontier() -> None:
    """The frontier of both inputs; at the end that of the last timeout."""
    schemas = (Schema.of({"t": "int"}, ts="t"),) * 2
    box = WaitFor(Expr.of("false"), 5)
    nothing = schemas[0].empty()
    trains = (pl.DataFrame({"t": [1, 3]}), nothing)
    step = box.step(box.start(schemas), trains, (Frontier(7), Frontier(6)), schemas)
    assert step.trains["timeout"]["t"].to_list() == [6]
    assert step.frontier == Frontier(6)
    final = (Frontier(7, final=True), Frontier(6, final=True))
    step = box.step(step.state, (nothing, nothing), final, schemas)
    assert step.trains["timeout"]["t"].to_list() == [8]
    assert step.frontier == Frontier(8, final=True)


def drawn(left: str = "int", ordered: bool = True, **how: Any) -> bx.Network:
    net = bx.Network("n")
    one = net.input("l", ts="t", fields={"t": left, "k": "int"})
    two = net.input("r", ts="u", fields={"u": "int", "k": "int"})
    two = two if ordered else two.map(u="-u", k="k")
    stream = one.waitfor(two, **{"on": "left.k = right.k", "timeout": 5, **how}).named("w")
    net.output("out0", stream)
    net.output("out1", stream["timeout"])
    return net


def test_both_outputs_have_the_fields_of_the_left_input() -> None:
    net = drawn()
    assert [schema(net, name) for name in ("out0", "out1")] == ["t*: int, k: int"] * 2
    assert bx.loads(bx.dumps(net)) == net


@pytest.mark.parametrize(
    ("how", "message"),
    [
        ({"on": "left.k + right.k"}, "on: expected a bool, got an int."),
        ({"on": "left.x = 1"}, "on: unknown field 'left.x'. Did you mean 'left.t'?"),
        ({"timeout": 0}, "timeout: expected a number above 0, got 0."),
        ({"timeout": math.nan}, "timeout: expected a number above 0, got nan."),
        ({"timeout": 1.5}, "timeout: timeout counts the int 't', so it must be a whole number."),
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
    assert problems(drawn(**how)) == [f"box 'w', {message}"]


def test_an_idle_key_costs_nothing() -> None:
    """Few tuples are released among many that wait, which stay the same frame."""
    schema = bx.Schema.of({"t": "int", "k": "int"}, ts="t")
    schemas = (schema, schema)
    box = WaitFor(bx.Expr.of("left.k = right.k"), timeout=60)
    many = pl.DataFrame({"t": [0] * 10_000, "k": range(10_000)})
    frontiers = (bx.Frontier(1), bx.Frontier(1))
    step = box.step(box.start(schemas), (many, many.clear()), frontiers, schemas)
    large = step.state["held.0"]
    for time in range(1, 50):
        right = pl.DataFrame({"t": [time], "k": [100 * time]})
        frontiers = (bx.Frontier(time + 1), bx.Frontier(time + 1))
        step = box.step(step.state, (many.clear(), right), frontiers, schemas)
        assert step.trains["0"].rows() == [(time, 100 * time)]
        assert any(frame is large for frame in step.state.values())
    frontiers = (bx.Frontier(60), bx.Frontier(60))
    step = box.step(step.state, (many.clear(), many.clear()), frontiers, schemas)
    assert step.trains["timeout"]["k"].to_list() == [
        k for k in range(10_000) if k == 0 or k % 100 or k > 4900
    ]
