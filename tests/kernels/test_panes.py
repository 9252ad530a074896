"""Panes that were condensed: bit by bit the results of the tuples themselves."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import polars as pl
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import boxcars as bx
from boxcars.boxes.aggregate import Aggregate
from boxcars.kernels import panes
from boxcars.kernels.kernel import State

SCHEMA = bx.Schema.of({"t": "int", "k": "str", "x": "float", "n": "int", "s": "str"}, ts="t")
FUNCTIONS = {
    "all": "count()",
    "some": "count(x)",
    "sum": "sum(x)",
    "whole": "sum(n)",
    "mean": "avg(x)",
    "least": "min(x)",
    "most": "max(s)",
    "first": "first(s)",
    "last": "last(x)",
    "delta": "delta(n)",
    "variance": "variance(x)",
    "stddev": "stddev(n)",
}
tuples = st.lists(
    st.tuples(
        st.integers(0, 30),
        st.sampled_from(["a", "b", "a long name of a key"]),
        st.none() | st.floats(),
        st.none() | st.integers(-(2**40), 2**40),
        st.none() | st.text(max_size=3),
    ),
    max_size=60,
).map(lambda rows: sorted(rows, key=lambda row: row[0]))


@contextmanager
def condensing(always: bool) -> Iterator[None]:
    """Panes are condensed always, or never."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(panes, "_WORTH", 0)
        patch.setattr(panes, "_DENSE", 0 if always else 10**9)
        yield


def results(box: Aggregate, rows: list[Any], cuts: list[int]) -> Iterator[tuple[State, Any]]:
    """What leaves in each step; a step ends at each cut."""
    state, begin = box.start((SCHEMA,)), 0
    for end in [*sorted(cuts), 99]:
        new = [row for row in rows if begin <= row[0] < end]
        train = pl.DataFrame(new, schema=SCHEMA.dtypes, orient="row")
        step = box.step(state, (train,), (bx.Frontier(end),), (SCHEMA,))
        state, begin = step.state, max(begin, end)
        yield state, step.trains["0"]


@settings(deadline=None)
@given(
    tuples,
    st.integers(1, 12),
    st.integers(1, 12),
    st.lists(st.integers(0, 40), max_size=8),
    st.booleans(),
)
def test_the_same_to_the_last_bit(
    rows: list[Any], size: int, advance: int, cuts: list[int], keyed: bool
) -> None:
    box = Aggregate.build(bx.time(size, advance), by=["k"] if keyed else [], fields=FUNCTIONS)
    with condensing(always=False):
        ((_, expected),) = results(box, rows, [])
        cut = pl.concat([found for _, found in results(box, rows, cuts)])
    with condensing(always=True):
        kept, found = zip(*results(box, rows, cuts), strict=True)
    assert cut.equals(expected)
    assert pl.concat(found).equals(expected)
    for state in kept:
        assert sum(n.startswith("tuples.") for n in state) == 1 or "passed.0" not in state


@settings(deadline=None)
@given(
    tuples,
    st.lists(st.integers(1, 40), min_size=1, max_size=4),
    st.booleans(),
    st.sets(st.sampled_from("ab")),
)
@example([(t, k, 1.0, 1, "x") for t in range(20) for k in "ab"], [10, 12], True, {"b"})
def test_states_of_several_places_go_together(
    rows: list[Any], cuts: list[int], mixed: bool, keys: set[str]
) -> None:
    """Some places have condensed their panes and others have not; the keys that are ours go on."""
    box = Aggregate.build(bx.time(9, 2), by="k", fields=FUNCTIONS)
    ((_, expected),) = results(box, rows, [])
    at = max(cuts)
    states, before = [], []
    for place, key in enumerate("ab"):
        own = [row for row in rows if row[1] == key and row[0] < at]
        with condensing(always=place == 0 or not mixed):
            found = list(results(box, own, cuts))[:-1]
        states.append(found[-1][0])
        before += [train.filter(pl.col("k").is_in(keys)) for _, train in found]
    whole = box.share(states, lambda _, frame: frame["k"].is_in(keys), (SCHEMA,))
    rest = [row for row in rows if row[0] >= at and row[1] in keys]
    for time in (at + 3, at + 5, 99):
        new = [row for row in rest if row[0] < time]
        rest = [row for row in rest if row[0] >= time]
        train = pl.DataFrame(new, schema=SCHEMA.dtypes, orient="row")
        with condensing(always=True):
            step = box.step(whole, (train,), (bx.Frontier(time),), (SCHEMA,))
        whole = step.state
        before.append(step.trains["0"])
    known = expected.filter(pl.col("k").is_in(keys))
    assert pl.concat(before).sort("t", "k").equals(known.sort("t", "k"))


def test_few_tuples_and_those_that_come_alone_are_kept_as_they_are() -> None:
    box = Aggregate.build(bx.time(10, 1), by="k", n="count()")
    for keys, tuples_, dense in ((5, 5000, True), (5, 500, False), (5000, 5000, False)):
        rows = [(0, str(n % keys), None, None, None) for n in range(tuples_)]
        rows += [(9, "last", None, None, None)]
        (state, _), *_ = results(box, rows, [10])
        assert ("passed.0" in state) is dense
    box = Aggregate.build(bx.time(10, 1), by="k", n="median(n)")
    (state, _), *_ = results(box, [(1, "a", None, 1, None)] * 5000, [10])
    assert "passed.0" not in state
