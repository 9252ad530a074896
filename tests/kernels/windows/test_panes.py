"""Condensed panes and shared aggregates: bit-identical with results over the tuples."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import polars as pl
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import boxcars as bx
from boxcars.boxes.aggregate import Aggregate
from boxcars.kernels.columns.system_columns import POSITION
from boxcars.kernels.contract import State
from boxcars.kernels.windows import pane_prefixes, panes

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
counts = st.one_of(st.integers(1, 3), st.integers(10, 30))
tuples = (
    st.lists(
        st.tuples(
            st.tuples(
                st.integers(0, 30),
                st.sampled_from(["a", "b", "a long name of a key"]),
                st.none() | st.floats(),
                st.none() | st.integers(-(2**40), 2**40),
                st.none() | st.text(max_size=3),
            ),
            counts,
        ),
        max_size=25,
    )
    .map(lambda some: [row for row, count in some for _ in range(count)])
    .map(lambda rows: sorted(rows, key=lambda row: row[0]))
)
END = bx.Frontier(99)
MODES = {
    "as they are": {"dense": 10**9, "large": 10**9},
    "condensed": {"dense": 0, "large": 10**9},
    "sliding": {"dense": 10**9, "large": 0},
    "condensed and sliding": {"dense": 0, "large": 0},
    "now and then": {"dense": 3, "large": 2},
}


@contextmanager
def keeping(mode: str) -> Iterator[None]:
    """When panes are condensed, and when sliding windows share aggregates."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(panes, "_MIN_ROWS", 0)
        patch.setattr(panes, "_ROWS_PER_PANE", MODES[mode]["dense"])
        patch.setattr(pane_prefixes, "_MIN_ROWS", 0)
        patch.setattr(pane_prefixes, "_CACHE_RATIO", MODES[mode]["large"])
        yield


def results(
    box: Aggregate, rows: list[Any], cuts: list[int], last: bx.Frontier = END, placed: bool = True
) -> Iterator[tuple[State, Any]]:
    """The output of each step; a step ends at each cut."""
    state, begin = box.start((SCHEMA,)), 0
    for end in [*sorted(cuts), 99]:
        new = [row for row in rows if begin <= row[0] < end]
        frontier = bx.Frontier(end) if end < 99 else last
        train = _train(new) if placed else _train(new).drop(POSITION)
        step = box.step(state, (train,), (frontier,), (SCHEMA,))
        state, begin = step.state, max(begin, end)
        yield state, step.trains["0"]


def _train(rows: list[Any]) -> pl.DataFrame:
    """Tuples with positions that do not depend on the cuts, as in a network with a drop."""
    train = pl.DataFrame(rows, schema=SCHEMA.dtypes, orient="row")
    return train.with_columns((pl.col("t") * 7 + pl.col("k").str.len_chars()).alias(POSITION))


@pytest.mark.parametrize("mode", MODES)
@settings(deadline=None, max_examples=60)
@given(
    tuples,
    st.integers(1, 12),
    st.integers(1, 12),
    st.lists(st.integers(0, 40), max_size=12),
    st.booleans(),
)
@example([(6, "a", 1.0, 1, "x")] + [(12, "a", 1.0, 1, "x")] * 9, 10, 5, [14, 20], True)
@example([(t, k, t / 3, t, "x") for t in range(30) for k in "ab"], 12, 1, [*range(31)], True)
@example([(t, "a", t / 3, t, "x") for t in range(0, 30, 4)], 11, 2, [*range(31)], False)
def test_results_are_bit_identical(
    mode: str, rows: list[Any], size: int, advance: int, cuts: list[int], keyed: bool
) -> None:
    box = Aggregate.build(bx.time(size, advance), by=["k"] if keyed else [], fields=FUNCTIONS)
    with keeping("as they are"):
        ((_, expected),) = results(box, rows, [])
    with keeping(mode):
        found = [train for _, train in results(box, rows, cuts)]
    assert pl.concat(found).equals(expected)


@pytest.mark.parametrize("mode", MODES)
@settings(deadline=None, max_examples=40)
@given(tuples, st.integers(1, 12), st.integers(1, 12), st.lists(st.integers(0, 30), max_size=12))
@example([(6, "a", 1.0, 1, "x")] * 9, 10, 5, [14])
@example([(t, k, t / 3, t, "x") for t in range(30) for k in "ab"], 12, 2, [*range(31)])
def test_open_windows_are_flushed_at_the_end(
    mode: str, rows: list[Any], size: int, advance: int, cuts: list[int]
) -> None:
    box = Aggregate.build(bx.time(size, advance, flush=True), by="k", fields=FUNCTIONS)
    last = bx.Frontier(max([*cuts, *(row[0] for row in rows)], default=0), final=True)
    with keeping("as they are"):
        ((_, expected),) = results(box, rows, [], last)
    with keeping(mode):
        found = [train for _, train in results(box, rows, cuts, last)]
    assert pl.concat(found).equals(expected)


@pytest.mark.parametrize("there", MODES)
@pytest.mark.parametrize("here", ["as they are", "condensed and sliding"])
@settings(deadline=None, max_examples=40)
@given(
    tuples,
    st.lists(st.integers(1, 40), min_size=1, max_size=4),
    st.sets(st.sampled_from("ab")),
)
@example([(t, k, 1.0, 1, "x") for t in range(20) for k in "ab"], [10, 12], {"b"})
@example([(t, k, t / 3, 1, "x") for t in range(30) for k in "ab"], [10, 11, 12, 13], {"a", "b"})
def test_states_of_several_instances_merge(
    here: str, there: str, rows: list[Any], cuts: list[int], keys: set[str]
) -> None:
    """Each instance stores its state in its own form; the merged state has the owned keys."""
    box = Aggregate.build(bx.time(9, 2), by="k", fields=FUNCTIONS)
    rows = [row for row in rows if row[1] in "ab"]
    ((_, expected),) = results(box, rows, [])
    at = max(cuts)
    states, before = [], []
    for mode, key in ((here, "a"), (there, "b")):
        own = [row for row in rows if row[1] == key and row[0] < at]
        with keeping(mode):
            found = list(results(box, own, cuts))[:-1]
        states.append(found[-1][0])
        before += [train.filter(pl.col("k").is_in(keys)) for _, train in found]
    whole = box.share(states, lambda _, frame: frame["k"].is_in(keys), (SCHEMA,))
    rest = [row for row in rows if row[0] >= at and row[1] in keys]
    for time in (at + 3, at + 5, 99):
        new = [row for row in rest if row[0] < time]
        rest = [row for row in rest if row[0] >= time]
        with keeping(there):
            step = box.step(whole, (_train(new),), (bx.Frontier(time),), (SCHEMA,))
        whole = step.state
        before.append(step.trains["0"])
    known = expected.filter(pl.col("k").is_in(keys))
    assert (
        pl.concat(before).drop(POSITION).sort("t", "k").equals(known.drop(POSITION).sort("t", "k"))
    )


@pytest.mark.parametrize("by", [[], ["k"]])
@pytest.mark.parametrize("mode", MODES)
def test_a_count_needs_no_columns(mode: str, by: list[str]) -> None:
    """Not even a position, where none is needed."""
    rows = [(t, k, None, None, None) for t in range(30) for k in "aab"]
    box = Aggregate.build(bx.time(12, 5), by=by, n="count()")
    with keeping("as they are"):
        ((_, expected),) = results(box, rows, [], placed=False)
    with keeping(mode):
        found = [train for _, train in results(box, rows, [14, 15, 22], placed=False)]
    assert pl.concat(found).equals(expected)


def test_few_and_sparse_tuples_are_not_condensed() -> None:
    box = Aggregate.build(bx.time(10, 1), by="k", n="count()")
    for keys, tuples_, dense in ((5, 5000, True), (5, 500, False), (5000, 5000, False)):
        rows = [(0, str(n % keys), None, None, None) for n in range(tuples_)]
        rows += [(9, "last", None, None, None)]
        (state, _), *_ = results(box, rows, [10])
        assert ("passed.0" in state) is dense
    box = Aggregate.build(bx.time(10, 1), by="k", n="median(n)")
    (state, _), *_ = results(box, [(1, "a", None, 1, None)] * 5000, [10])
    assert "passed.0" not in state
