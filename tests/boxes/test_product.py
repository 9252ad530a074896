"""Product: the figures of the thesis, and the oracle."""

from typing import Any

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import boxcars as bx
from boxcars.model.schema import Schema
from tests.boxes.test_join import VECTORS, Case
from tests.boxes.test_join_types import texts

FIELDS = {"ts": "int", "Caller": "str", "Callee": "str"}


@given(st.data())
@settings(max_examples=100, deadline=None)
def test_runner_and_oracle_agree_for_any_split(data: st.DataObject) -> None:
    case = Case(data.draw, keyed=False)
    assert case.preview(data.draw(st.integers(1, 9))) == case.expected


def product(events: list[list[Any]], on: str, trains: int, slack: int = 0) -> list[list[Any]]:
    """The pairs of figures 3.5 and 3.6, where a tuple is written as Caller and Callee."""
    net = bx.Network("n")
    left, right = (net.input(side, ts="ts", fields=FIELDS, slack=slack) for side in ("l", "r"))
    net.output("out", left.product(right, on=on, window=bx.time(3)))
    rows = {
        side: pl.DataFrame(
            [(ts, *names) for port, ts, names in events if port == side],
            schema=Schema.of(FIELDS, "ts").dtypes,
            orient="row",
        )
        for side in ("l", "r")
    }
    found = bx.preview(net, rows, trains=trains)["out"].to_pylist()
    return [
        [r["left_Caller"] + r["left_Callee"], r["right_Caller"] + r["right_Callee"], r["ts"]]
        for r in found
    ]


@pytest.mark.parametrize("trains", [1, 2, 5])
def test_figure_3_5(trains: int) -> None:
    """C10: the printed output lacks the pairs of the term L.Caller = R.Callee."""
    vector = VECTORS["cp-01-fig3.5-centralized"]
    stated = vector["parameters"]["predicate"].replace("L.", "left.").replace("R.", "right.")
    less = stated.replace("left.Caller=right.Callee OR ", "")
    events = vector["input"]["events"]
    assert product(events, stated, trains) == vector["expected"]["predicate_as_stated_purge_ge"]
    assert product(events, less, trains) == vector["expected"]["printed"]


@pytest.mark.parametrize("trains", [1, 2, 3])
def test_figure_3_6(trains: int) -> None:
    """C11: order is restored before the box, so a late BC still finds AB."""
    vector = VECTORS["cp-03-fig3.6-order-hazard"]
    on = "left.Callee = right.Caller"
    expected = vector["expected"]["order_a"]["output"]
    assert product(vector["input"]["order_a"], on, trains) == expected
    assert product(vector["input"]["order_b"], on, trains, slack=1) == expected
    assert expected == vector["expected"]["order_b_with_input_merger"]["output"]


def test_any_predicate_will_do() -> None:
    net = bx.Network("n")
    left, right = (net.input(n, ts="t", fields={"t": "int", "x": "float"}) for n in ("l", "r"))
    net.output("near", left.product(right, on="abs(left.x - right.x) < 5", window=bx.time(2)))
    net.output("all", left.product(right, on="true", window=bx.tuples(1)))
    net.output("none", left.product(right, on="null::bool", window=bx.tuples(1)))
    result = bx.preview(
        net,
        {"l": {"t": [0, 1], "x": [0.0, 10.0]}, "r": {"t": [1, 3], "x": [4.0, 7.0]}},
        trains=2,
    )
    assert result["near"].to_pylist() == [
        {"t": 1, "left_t": 0, "left_x": 0.0, "right_t": 1, "right_x": 4.0}
    ]
    assert result["all"]["left_t"].to_pylist() == [1, 1]
    assert result["none"].num_rows == 0


def test_the_type_rule() -> None:
    net = bx.Network("n")
    one = net.input("l", ts="t", fields={"t": "int"})
    net.output("a", one.product(one, on="left.t", window=bx.time(5)).named("a"))
    net.output("b", one.product(one, on="true", window=bx.value("t", 5)).named("b"))
    assert texts(net) == [
        "box 'a', on: expected a bool, got an int.",
        "box 'b', window: a product needs a time or tuples window, got value.",
    ]
