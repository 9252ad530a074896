"""Aggregates in two halves: which are split, and which are not."""

from typing import Any

import polars as pl
import pytest

import boxcars as bx
from boxcars.boxes.condense import Condense
from boxcars.model.network import Network
from boxcars.plan.partial_aggregation import FRONT, find_halves, split_boxes

FIELDS = {"t": "int", "k": "str", "n": "int", "x": "float"}


def counting(**functions: Any) -> tuple[Network, bx.Stream]:
    net = bx.Network("counting")
    calls = net.input("calls", ts="t", fields=FIELDS)
    return net, calls.aggregate(bx.time(6, 2), by="k", **functions).named("counts")


def condense(train: pl.DataFrame) -> pl.DataFrame:
    net, counts = counting(c="count()", s="sum(n)", least="min(n)", some="count(n)")
    net.output("counts", counts)
    checked = split_boxes(net.check().or_raise())
    box = checked.network.boxes["counts" + FRONT].box
    assert isinstance(box, Condense)
    return box.run(train, checked.inputs_of("counts" + FRONT)[0])["0"]


def train(keys: int, number: int = 600) -> pl.DataFrame:
    rows = [(n // 50, f"k{n % keys}", n % 7 if n % 3 else None, 0.5) for n in range(number)]
    return pl.DataFrame(rows, schema=["t", "k", "n", "x"], orient="row")


def test_a_hot_key_is_one_tuple_for_each_pane() -> None:
    """Panes have length two, so that every window consists of whole panes."""
    tuples = train(keys=1)
    found = condense(tuples)
    assert found.columns == ["k", "t", "c", "s", "least", "some"]
    assert found["t"].to_list() == [0, 2, 4, 6, 8, 10]
    assert found["c"].to_list() == [100] * 6
    assert found["s"].sum() == tuples["n"].sum()
    assert found["some"].sum() == tuples["n"].count()
    assert found["t"].is_sorted()


def test_many_keys_stay_as_they_are() -> None:
    tuples = train(keys=600)
    found = condense(tuples)
    assert found["k"].to_list() == tuples["k"].to_list()
    assert found["c"].to_list() == [1] * 600
    assert found["s"].to_list() == tuples["n"].to_list()


def test_a_sum_of_nulls_is_null() -> None:
    tuples = train(keys=1).with_columns(n=pl.lit(None, pl.Int64))
    found = condense(tuples)
    assert found["s"].to_list() == [None] * 6
    assert found["least"].to_list() == [None] * 6
    assert found["some"].to_list() == [0] * 6


@pytest.mark.parametrize("function", ["sum(x)", "max(x)", "avg(n)", "first(n)", "median(n)"])
def test_aggregates_that_would_not_be_bitwise_equal_are_not_split(function: str) -> None:
    net, counts = counting(c="count()", f=function)
    net.output("counts", counts)
    assert not find_halves(net.check().or_raise())


def test_no_split_if_late_tuples_or_positions_are_needed() -> None:
    net, counts = counting(c="count()")
    net.output("counts", counts)
    assert list(find_halves(net.check().or_raise())) == ["counts"]
    net.output("few", counts.drop(rate=0.5).named("few"))
    assert not find_halves(net.check().or_raise())
    net, counts = counting(c="count()")
    net.output("late", counts.late)
    assert not find_halves(net.check().or_raise())


@pytest.mark.parametrize(
    "window",
    [bx.tuples(3), bx.time(4, 0), bx.time(4, slack=1), bx.time(4, emit="change")],
    ids=str,
)
def test_windows_that_go_by_neighbours_are_not_split(window: bx.Window) -> None:
    net = bx.Network("n")
    calls = net.input("calls", ts="t", fields=FIELDS)
    net.output("counts", calls.aggregate(window, by="k", c="count()").named("counts"))
    assert not find_halves(net.check().or_raise())
