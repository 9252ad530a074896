"""Incremental windows: bit-identical with windows over all rows in memory."""

from collections.abc import Callable, Container, Iterator, Sequence
from contextlib import contextmanager
from itertools import pairwise
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import boxcars as bx
from boxcars.boxes.aggregate import Aggregate
from boxcars.kernels.columns.system_columns import POSITION
from boxcars.kernels.contract import State, Step
from boxcars.kernels.state import keyed_lsm, row_log
from boxcars.kernels.windows import incremental_windows, kernel_of_window
from tests.kernels.windows.test_panes import FUNCTIONS

FIELDS = {"t": "int", "k": "str", "x": "float", "n": "int", "s": "str", "v": "int"}
SCHEMA = bx.Schema.of(FIELDS, ts="t")
WINDOWS: dict[str, Callable[[int, int], bx.Window]] = {
    "tuples": bx.tuples,
    "tuples, flushed": lambda size, advance: bx.tuples(size, advance, flush=True),
    "tuples, timed out": lambda size, advance: bx.tuples(size, advance, timeout=9),
    "tuples, dropped": lambda size, advance: bx.tuples(
        size, advance, timeout=9, obsolete="drop", flush=True
    ),
    "value": lambda size, advance: bx.value("v", size, advance),
    "value, flushed": lambda size, advance: bx.value("v", size, advance, flush=True),
    "moving over values": lambda size, _: bx.value("v", size, 0),
    "moving over time": lambda size, _: bx.time(size, 0),
    "time, dropped": lambda size, advance: bx.time(size, advance, timeout=9, obsolete="drop"),
}
Row = tuple[Any, ...]


def _risen(steps: Sequence[Row]) -> list[Row]:
    """Tuples whose times never decrease, and whose values seldom do."""
    times = np.cumsum([row[0] for row in steps])
    values = np.cumsum([row[5] for row in steps])
    return [(int(t), *row[1:5], int(v)) for t, row, v in zip(times, steps, values, strict=True)]


tuples = st.lists(
    st.tuples(
        st.integers(0, 3),
        st.sampled_from(["a", "a", "a", "b", "a long name of a key", None]),
        st.none() | st.floats(),
        st.none() | st.integers(-(2**40), 2**40),
        st.none() | st.text(max_size=3),
        st.integers(-1, 3),
    ),
    max_size=60,
).map(_risen)
cuts = st.lists(st.integers(0, 60), max_size=20)
STEADY = [(t, k, t / 3, t, "x", t) for t in range(30) for k in "ab"]
PAUSED = [(t, k, t / 3, t, "x", t) for t in (*range(12), *range(40, 55)) for k in "ab"]


@contextmanager
def laid_out_from(rows: int) -> Iterator[None]:
    """Compact a log once this many rows were added."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(row_log, "_COMPACT_ROWS", rows)
        yield


@contextmanager
def all_at_hand() -> Iterator[None]:
    """No log, and tuples are not lifted to partial results."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(kernel_of_window, "can_lift", lambda _functions: False)
        yield


def steps(
    box: Aggregate,
    rows: list[Row],
    cuts: list[int],
    since: int = 0,
    until: int = 10**9,
    keys: Container[str] | None = None,
    state: State | None = None,
) -> Iterator[Step]:
    """The results of each step; a step ends before each cut, at the time of the next tuple."""
    state = state or box.start((SCHEMA,))
    since, until = min(since, len(rows)), min(until, len(rows))
    for begin, end in pairwise([since, *sorted(c for c in cuts if since < c < until), until]):
        time = rows[min(end, len(rows) - 1)][0] if rows else None
        frontier = bx.Frontier(time, final=end == len(rows))
        train = pl.DataFrame(rows[begin:end], schema=SCHEMA.dtypes, orient="row")
        place = pl.Series(POSITION, np.arange(begin, end), dtype=pl.Int64)
        train = train.with_columns(place)
        if keys is not None:
            train = train.filter([row[1] in keys for row in rows[begin:end]])
        yield (step := box.step(state, (train,), (frontier,), (SCHEMA,)))
        state = step.state


def found(box: Aggregate, rows: list[Row], cuts: list[int]) -> list[pl.DataFrame]:
    """All output tuples, and all late ones."""
    done = list(steps(box, rows, cuts))
    return [pl.concat([step.trains[port] for step in done]) for port in ("0", "late")]


@pytest.mark.parametrize("few", [0, 1000])
@pytest.mark.parametrize("kind", WINDOWS)
@settings(deadline=None, max_examples=20)
@given(tuples, st.integers(1, 12), st.integers(1, 12), cuts, st.booleans())
@example(STEADY, 12, 1, [*range(0, 60, 7)], True)
@example(STEADY, 6, 6, [*range(0, 60, 3)], True)
@example(STEADY, 7, 9, [*range(0, 60, 3)], False)
@example(PAUSED, 7, 5, [*range(0, 60, 2)], True)
def test_results_are_bit_identical(
    kind: str, few: int, rows: list[Row], size: int, advance: int, cuts: list[int], keyed: bool
) -> None:
    window = WINDOWS[kind](size, advance)
    box = Aggregate.build(window, by=["k"] if keyed else [], fields=FUNCTIONS)
    with all_at_hand():
        expected = found(box, rows, [])
    with laid_out_from(few):
        got = found(box, rows, cuts)
    assert all(some.equals(others) for some, others in zip(got, expected, strict=True))


@pytest.mark.parametrize("kind", WINDOWS)
@settings(deadline=None, max_examples=12)
@given(tuples, st.integers(1, 12), st.integers(1, 12), cuts)
@example(STEADY, 5, 2, [*range(0, 60, 3)])
def test_results_do_not_depend_on_the_split_with_all_rows_in_memory(
    kind: str, rows: list[Row], size: int, advance: int, cuts: list[int]
) -> None:
    box = Aggregate.build(WINDOWS[kind](size, advance), by="k", fields=FUNCTIONS)
    with all_at_hand():
        got, expected = found(box, rows, cuts), found(box, rows, [])
    assert all(some.equals(others) for some, others in zip(got, expected, strict=True))


@pytest.mark.parametrize("kind", WINDOWS)
@settings(deadline=None, max_examples=12)
@given(tuples, cuts, st.integers(0, 60), st.sets(st.sampled_from(["a", "b"])))
@example(STEADY, [*range(0, 60, 2)], 37, {"a", "b"})
def test_states_of_several_instances_merge(
    kind: str, rows: list[Row], cuts: list[int], at: int, keys: set[str]
) -> None:
    """Each key was on its own instance; the owned ones continue on another."""
    box = Aggregate.build(WINDOWS[kind](5, 2), by="k", fields=FUNCTIONS)
    rows = [row for row in rows if row[1] in ("a", "b")]
    expected = pl.concat([step.trains["0"] for step in steps(box, rows, [], keys=keys)])
    with laid_out_from(0):
        states, leaving = [], []
        for key in ("a", "b"):
            done = list(steps(box, rows, cuts, until=at, keys={key}))
            states.append(done[-1].state)
            leaving += [step.trains["0"] for step in done if key in keys]
        state = box.share(states, lambda _, frame: frame["k"].is_in(keys), (SCHEMA,))
        done = list(steps(box, rows, cuts, since=at, keys=keys, state=state))
        leaving += [step.trains["0"] for step in done]
    order = ["t", "k", POSITION]
    assert pl.concat(leaving).sort(order).equals(expected.sort(order))


@pytest.mark.parametrize("kind", WINDOWS)
@settings(deadline=None, max_examples=12)
@given(tuples, cuts)
@example(STEADY, [*range(0, 60, 2)])
@example([row for row in STEADY if row[1] == "a" or row[0] > 11], [*range(0, 60, 3)])
def test_two_keys_may_share_a_hash(kind: str, rows: list[Row], cuts: list[int]) -> None:
    box = Aggregate.build(WINDOWS[kind](5, 2), by="k", fields=FUNCTIONS)
    expected = found(box, rows, [])
    with pytest.MonkeyPatch.context() as patch, laid_out_from(0):
        for module in (incremental_windows, keyed_lsm):
            patch.setattr(module, "hashes_of", lambda frame, _by: np.ones(frame.height, np.uint64))
        got = found(box, rows, cuts)
    assert all(some.equals(others) for some, others in zip(got, expected, strict=True))


@pytest.mark.parametrize("kind", WINDOWS)
def test_a_step_visits_only_rows_that_enter_or_leave(kind: str) -> None:
    rows = [(t, k, t / 3, t, "x", t) for t in range(600) for k in ("a", "b")]
    box = Aggregate.build(WINDOWS[kind](150, 1), by="k", n="count()")
    looked_at: list[int] = []

    def take(*given: Any) -> row_log.KeyedRows | None:
        taken = original(*given)
        looked_at.append(0 if taken is None else taken.rows.height)
        return taken

    original = row_log.Log.take
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(row_log.Log, "take", take)
        states = [step.state for step in steps(box, rows, [*range(0, 1200, 4)])]
    assert np.median(looked_at) <= 2 * 4
    assert np.mean(looked_at) <= 2 * 4 + 2 * 8
    for state in states[-100:-1]:
        kept = sum(frame.height for name, frame in state.items() if name.startswith("log."))
        assert 2 * 149 <= kept <= 1000 + 3 * 2 * 300


@pytest.mark.parametrize("kind", ["tuples", "value"])
def test_windows_aligned_to_blocks_store_no_rows(kind: str) -> None:
    box = Aggregate.build(WINDOWS[kind](7, 7), by="k", n="count()")
    for step in steps(box, STEADY, [*range(60)]):
        assert not [name for name in step.state if name.startswith("log.")]
        assert sum(frame.height for frame in step.state.values() if "k" in frame.columns) <= 2 * 2
