"""An input turn by turn: the split changes neither order, nor lateness, nor the frontier."""

import math
from datetime import datetime, timedelta
from typing import Any

import polars as pl
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from boxcars.engine.flow.input_ordering import Turn, ordered_turns
from boxcars.model.entities import Input
from boxcars.model.schema import Schema

START = datetime(2026, 1, 1)


def turns(times: list[Any], type_: str, slack: float, trains: int) -> list[Turn]:
    schema = Schema.of({"t": type_, "n": "int"}, ts="t")
    frame = pl.DataFrame({"t": times, "n": range(len(times))}, schema=schema.dtypes)
    return list(ordered_turns(frame, Input(schema.fields, "t", slack), trains))


def column(turns: list[Turn], which: str) -> list[int]:
    return [n for turn in turns for n in getattr(turn, which)["n"].to_list()]


def expected(times: list[Any], slack: Any) -> tuple[list[int], list[int]]:
    """Ordered and late tuples by definition, one tuple at a time."""
    kept: list[int] = []
    late: list[int] = []
    greatest = None
    for n, time in enumerate(times):
        if greatest is not None and time < greatest - slack:
            late.append(n)
        else:
            greatest = time if greatest is None else max(greatest, time)
            kept.append(n)
    return sorted(kept, key=lambda n: times[n]), late


def check(times: list[Any], type_: str, slack: float, trains: int, step: Any) -> None:
    found = turns(times, type_, slack, trains)
    assert (column(found, "train"), column(found, "late")) == expected(times, step)
    assert len(found) == trains
    assert [turn.frontier.final for turn in found] == [False] * (trains - 1) + [True]
    promise = None
    for turn in found:
        for time in turn.train["t"]:
            assert promise is None or time >= promise, "a promise was broken"
        value: Any = turn.frontier.value
        assert promise is None or value >= promise, "a promise was taken back"
        promise = value


small = st.integers(-20, 20)
FAR = 2**63 - 1


@given(st.lists(small, max_size=15), st.integers(0, 9), st.integers(1, 20))
def test_ints(times: list[int], slack: int, trains: int) -> None:
    check(times, "int", slack, trains, slack)


@given(
    st.lists(st.sampled_from([-FAR - 1, -FAR, -1, 0, 5, FAR - 1, FAR]), max_size=8),
    st.integers(1, 9),
)
@pytest.mark.parametrize("slack", [0, 1, FAR, 2**64, 10**40])
def test_ints_that_are_far_apart(slack: int, times: list[int], trains: int) -> None:
    found = turns(times, "int", slack, trains)
    assert (column(found, "train"), column(found, "late")) == expected(times, slack)


moments = st.integers(0, 10).map(lambda s: START + timedelta(seconds=s / 2))


@given(st.lists(moments, max_size=12), st.sampled_from([0, 0.5, 1, 2.5]), st.integers(1, 15))
def test_timestamps(times: list[datetime], slack: float, trains: int) -> None:
    check(times, "timestamp", slack, trains, timedelta(seconds=slack))


@pytest.mark.parametrize("slack", [10**12, 10**20, 1e300])
@pytest.mark.parametrize("trains", [1, 2, 3])
def test_timestamps_with_more_slack_than_there_is_time(slack: float, trains: int) -> None:
    times = [START, datetime.min, datetime.max, START]
    found = turns(times, "timestamp", slack, trains)
    assert column(found, "train") == [1, 0, 3, 2]


floats = st.one_of(st.floats(-5, 5), st.integers(-9, 9).map(lambda i: i / 10), st.just(math.inf))
ROUNDED = 0.2980274888466029, 0.6303380336281244, -0.3323105447815215
"""Greatest, slack and time such that time < greatest - slack but greatest - time <= slack."""


@given(st.lists(floats, max_size=12), st.floats(0, 3), st.integers(1, 15))
@example([ROUNDED[0], ROUNDED[2]], ROUNDED[1], 1)
@example([ROUNDED[0], ROUNDED[2]], ROUNDED[1], 2)
def test_floats(times: list[float], slack: float, trains: int) -> None:
    check(times, "float", slack, trains, slack)


def test_no_tuples() -> None:
    (first, last) = turns([], "int", 0, 2)
    assert first.frontier.value is None
    assert not first.frontier.final
    assert last.frontier.final
