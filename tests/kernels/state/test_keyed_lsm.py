"""Keyed state: take returns what was put, and idle keys are not touched."""

import numpy as np
import polars as pl
from hypothesis import given
from hypothesis import strategies as st

from boxcars.kernels.contract import State
from boxcars.kernels.state import keyed_lsm

EMPTY = pl.DataFrame(schema={"k": pl.Int64, "x": pl.Int64})
steps = st.lists(
    st.dictionaries(st.integers(0, 12), st.lists(st.integers(0, 99), max_size=3), max_size=8),
    max_size=20,
)


def put(state: State, rows: dict[int, list[int]]) -> State:
    pairs = [(key, value) for key, values in rows.items() for value in values]
    frame = pl.DataFrame(pairs, schema=EMPTY.schema, orient="row")
    busy = np.array(sorted(rows), np.uint64)
    return keyed_lsm.put(
        state, {"rows": frame}, {"rows": frame["k"].to_numpy().astype(np.uint64)}, busy
    )


def taken(state: State, keys: list[int]) -> dict[int, list[int]]:
    frame = keyed_lsm.take(state, ["rows"], np.array(sorted(keys), np.uint64))["rows"]
    found: dict[int, list[int]] = {key: [] for key in keys}
    for key, value in frame.rows():
        found[key].append(value)
    return found


@given(steps, st.sets(st.integers(0, 12)))
def test_a_key_has_the_rows_put_last(steps: list[dict[int, list[int]]], keys: set[int]) -> None:
    state = keyed_lsm.start({"rows": EMPTY})
    model: dict[int, list[int]] = {}
    for step in steps:
        state = put(state, step)
        model |= step
        assert taken(state, sorted(keys)) == {key: model.get(key, []) for key in keys}
    known = {key for key, values in model.items() if values}
    assert known <= set(keyed_lsm.all_keys(state).tolist()) <= set(model)


def test_idle_keys_are_not_touched() -> None:
    """A few busy keys among many: the large tier stays the same frame."""
    state = put(keyed_lsm.start({"rows": EMPTY}), {key: [key] for key in range(100_000)})
    large = state["rows.0"]
    for turn in range(50):
        state = put(state, {key: [turn] for key in range(turn, turn + 10)})
        assert any(frame is large for frame in state.values())
    assert taken(state, [3, 55, 500]) == {3: [3], 55: [49], 500: [500]}
    assert len(state) < 20


@given(st.lists(st.lists(st.integers(0, 50), max_size=5), max_size=10), st.integers(0, 50))
def test_calendar_returns_due_keys(entries: list[list[int]], now: int) -> None:
    calendar = None
    for due in entries:
        times = np.array(due, np.int64)
        calendar = keyed_lsm.add_timers(calendar, times, times.astype(np.uint64))
    if calendar is not None:
        reminded, rest = keyed_lsm.split_due(calendar, now)
        whole = sorted(time for due in entries for time in due)
        assert reminded.tolist() == [time for time in whole if time <= now]
        assert rest["due"].to_list() == [time for time in whole if time > now]
