"""WSort compared with the oracle, for any split into trains."""

from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import boxcars as bx
from boxcars.boxes.wsort import WSort
from boxcars.kernels.contract import Frontier
from boxcars.model.schema import Schema
from tests import sort_oracle as oracle
from tests.boxes.helper import problems, schema
from tests.test_golden import VECTORS

EPOCH = datetime(1970, 1, 1)
DTYPES: dict[str, pl.DataType] = {
    "int": pl.Int64(),
    "float": pl.Float64(),
    "timestamp": pl.Datetime("us"),
}
TIMES: dict[str, Callable[[int], Any]] = {
    "int": lambda n: n,
    "float": lambda n: n / 4,
    "timestamp": lambda n: n * 250_000,  # microseconds
}


def sort(rows: list[dict[str, Any]], type_: str, by: list[str], timeout: float, trains: int) -> Any:
    net = bx.Network("n")
    fields = {"t": type_, "a": "int", "s": "str", "n": "int"}
    stream = net.input("i", ts="t", fields=fields).wsort(by=by, timeout=timeout)
    net.output("out", stream.named("w"))
    net.output("late", stream.late)
    dtypes = {"t": DTYPES[type_], "a": pl.Int64(), "s": pl.String(), "n": pl.Int64()}
    result = bx.preview(net, {"i": pl.DataFrame(rows, schema=dtypes)}, trains=trains)
    assert result.stats["w"].late == result["late"].num_rows
    return result["out"], result["late"]


def stream(type_: str) -> st.SearchStrategy[list[dict[str, Any]]]:
    row = st.tuples(
        st.integers(-30, 40), st.none() | st.integers(0, 5), st.none() | st.sampled_from("ab")
    )
    return st.lists(row, max_size=25).map(
        lambda rows: [
            {"t": TIMES[type_](t), "a": a, "s": s, "n": n}
            for n, (t, a, s) in enumerate(sorted(rows, key=lambda row: row[0]))
        ]
    )


def as_time(rows: list[dict[str, Any]], type_: str) -> list[dict[str, Any]]:
    if type_ != "timestamp":
        return rows
    return [{**row, "t": EPOCH + timedelta(microseconds=row["t"])} for row in rows]


@pytest.mark.parametrize("type_", DTYPES)
@given(st.data(), st.sampled_from([["a"], ["s", "a"], ["t"]]), st.integers(1, 9), st.integers(1, 9))
@settings(max_examples=80, deadline=None)
def test_against_the_oracle(
    type_: str, data: st.DataObject, by: list[str], timeout: int, trains: int
) -> None:
    rows = data.draw(stream(type_))
    end = rows[-1]["t"] if rows else None
    unit = 1_000_000 if type_ == "timestamp" else 1
    emitted, lost, rest = oracle.wsort(rows, by, timeout * unit, end)
    expected = emitted + [{**row, "t": end} for row in rest]
    out, late = sort(as_time(rows, type_), type_, by, timeout, trains)
    assert out.to_pylist() == as_time(expected, type_)
    assert late.to_pylist() == as_time(lost, type_)
    whole = sort(as_time(rows, type_), type_, by, timeout, 1)
    assert out.equals(whole[0])
    assert late.equals(whole[1])


@given(stream("int"), st.integers(1, 9), st.integers(1, 9))
@settings(deadline=None)
def test_invariants(rows: list[dict[str, Any]], timeout: int, trains: int) -> None:
    """The tuples of the golden vector wsort-01."""
    rows = [row for row in rows if row["a"] is not None]
    out, late = (table.to_pylist() for table in sort(rows, "int", ["a"], timeout, trains))
    values = [row["a"] for row in out]
    assert values == sorted(values), "output non-decreasing in A"
    assert [row["t"] for row in out] == sorted(row["t"] for row in out)
    arrival = {row["n"]: row["t"] for row in rows}
    end = rows[-1]["t"] if rows else 0
    left = {row["n"]: row["t"] for row in out}
    for moment in range(-35, 45):
        if moment % timeout == 0 and moment <= end:
            waited = [n for n in left if arrival[n] < moment <= left[n]]
            at_once = [n for n in left if left[n] == moment and arrival[n] < moment]
            assert not waited or at_once, "at least one tuple for each period"
    for row in late:
        before = [other["a"] for other in out if other["t"] <= row["t"]]
        assert max(before) > row["a"], "only what is smaller than the last emitted one is lost"
    assert sorted(row["n"] for row in [*out, *late]) == [row["n"] for row in rows]


SCHEMAS = (Schema.of({"t": "int", "A": "int"}, ts="t"),)


@pytest.mark.parametrize("cut", range(6))
def test_golden(cut: int) -> None:
    """The stream continues until 20, without further tuples."""
    vector = VECTORS["wsort-01-semantics"]
    box = WSort(tuple(vector["parameters"]["sort"]), vector["parameters"]["timeout_s"])
    rows = vector["input"]["arrivals"]
    state, emitted, dropped = box.start(SCHEMAS), [], []
    for part, frontier in ((rows[:cut], rows[min(cut, 4)][0]), (rows[cut:], 20)):
        train = pl.DataFrame(part, schema=SCHEMAS[0].dtypes, orient="row")
        step = box.step(state, (train,), (Frontier(frontier),), SCHEMAS)
        state = step.state
        assert step.frontier == Frontier(frontier)
        emitted += [list(row) for row in step.trains["0"].rows()]
        dropped += [list(row) for row in step.trains["late"].rows()]
    assert emitted == vector["expected"]["emitted"]
    assert dropped == vector["expected"]["dropped"]


@pytest.mark.parametrize("trains", [1, 2, 5])
def test_golden_when_the_input_ends(trains: int) -> None:
    """The input ends at 7: the rest need not wait for the timeouts at 10, 15 and 20."""
    vector = VECTORS["wsort-01-semantics"]
    rows = [
        {"t": t, "a": a, "s": "", "n": n} for n, (t, a) in enumerate(vector["input"]["arrivals"])
    ]
    out, late = sort(rows, "int", ["a"], 5, trains)
    assert [[row["t"], row["a"]] for row in out.to_pylist()] == [[5, 1], [7, 1], [7, 2], [7, 3]]
    assert [[row["t"], row["a"]] for row in late.to_pylist()] == vector["expected"]["dropped"]


@pytest.mark.parametrize("trains", [1, 2])
def test_a_timeout_does_not_see_tuples_at_its_own_time(trains: int) -> None:
    rows = [{"t": t, "a": a, "s": "", "n": 0} for t, a in ((4, 2), (5, 1), (11, 3))]
    out, late = sort(rows, "int", ["a"], 5, trains)
    assert [[row["t"], row["a"]] for row in out.to_pylist()] == [[5, 2], [11, 3]]
    assert late["a"].to_pylist() == [1]


@pytest.mark.parametrize("trains", [1, 3])
def test_far_times(trains: int) -> None:
    rows = [{"t": t, "a": 0, "s": "", "n": n} for n, t in enumerate((-(2**62), 0, 2**62))]
    out, _ = sort(rows, "int", ["a"], 10**18, trains)
    assert out["t"].to_pylist() == [-4 * 10**18, 10**18, 2**62]
    rows = [{**row, "t": t} for row, t in zip(rows, (-(2.0**53), 0.0, 2.0**53), strict=True)]
    out, _ = sort(rows, "float", ["a"], 0.1, trains)
    assert out["n"].to_pylist() == [0, 1, 2]


@pytest.mark.parametrize("trains", [1, 3])
def test_minus_zero_is_zero(trains: int) -> None:
    net = bx.Network("n")
    stream = net.input("i", ts="t", fields={"t": "int", "x": "float"})
    net.output("late", stream.wsort(by="x", timeout=1).late)
    data = {"t": [0, 1, 2, 3], "x": [0.0, -0.0, 0.0, -0.0]}
    assert bx.preview(net, {"i": data}, trains=trains)["late"].num_rows == 0


def drawn(ordered: bool = True, **how: Any) -> bx.Network:
    net = bx.Network("n")
    stream = net.input("i", ts="t", fields={"t": "int", "a": "int"})
    stream = stream if ordered else stream.map(t="-t", a="a")
    stream = stream.wsort(**{"by": ["a"], "timeout": 5, **how}).named("w")
    net.output("out0", stream)
    net.output("out1", stream.late)
    return net


def test_both_outputs_have_the_fields_of_the_input() -> None:
    net = drawn()
    assert [schema(net, name) for name in ("out0", "out1")] == ["t*: int, a: int"] * 2
    assert bx.loads(bx.dumps(net)) == net


@pytest.mark.parametrize(
    ("how", "message"),
    [
        ({"by": []}, "by: a wsort needs at least one field to sort by."),
        ({"by": ["a", "b"]}, "by[1]: unknown field 'b'. There is: a, t."),
        ({"timeout": -1}, "timeout: expected a number above 0, got -1."),
        ({"timeout": 0.5}, "timeout: timeout counts the int 't', so it must be a whole number."),
        (
            {"ordered": False},
            (
                "in: the order attribute 't' was recomputed, so this input is not in order: "
                "sort it first, with bsort."
            ),
        ),
    ],
    ids=str,
)
def test_mistakes(how: dict[str, Any], message: str) -> None:
    assert problems(drawn(**how)) == [f"box 'w', {message}"]
