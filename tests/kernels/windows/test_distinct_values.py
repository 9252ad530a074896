"""Distinct values of early-firing windows: cost, size and repartitioning."""

from collections.abc import Iterator
from typing import Any

import polars as pl
import pytest

import boxcars as bx
from boxcars.kernels.contract import State, StateChange, Step

SCHEMA = bx.Schema.of({"t": "int", "k": "str", "x": "float"}, ts="t")
RATE = 100


def aggregate(window: Any) -> Any:
    return bx.box_types()["aggregate"].build(window, by=["k"], n="count_distinct(x)")


def steps(box: Any, state: State, number: int, first: int = 0) -> Iterator[Step]:
    """Steps with tuples whose values are all different, one unit of time each."""
    for now in range(first, first + number):
        values = [float(now * RATE + i) for i in range(RATE)]
        train = pl.DataFrame({"t": [now] * RATE, "k": ["a", "b"] * (RATE // 2), "x": values})
        step = box.step(state, (train,), (bx.Frontier(now + 1),), (SCHEMA,))
        yield step
        state = step.state


def counts(step: Step) -> dict[str, int]:
    """The newest count of each key."""
    (train,) = (t for port, t in step.trains.items() if port == "0")
    return {row["k"]: row["n"] for row in train.rows(named=True)}


def test_a_step_writes_what_is_new_however_many_values_there_are() -> None:
    box = aggregate(bx.landmark(emit="change"))
    state, written = box.start((SCHEMA,)), []
    for step in steps(box, state, 200):
        added = StateChange.between(state, step.state).added
        written.append(sum(frame.height for frame in added.values()))
        state = step.state
    assert counts(step) == {"a": 10_000, "b": 10_000}
    assert sorted(written)[len(written) // 2] < 10 * RATE  # most steps merge nothing large
    assert sum(written) < 20 * 200 * RATE  # a value is copied a few times, not once a step


@pytest.mark.parametrize("advance", [20, 5])
def test_values_of_closed_windows_are_dropped(advance: int) -> None:
    box = aggregate(bx.time(20, advance=advance, emit="change"))
    for step in steps(box, box.start((SCHEMA,)), 300):
        rows = sum(frame.height for name, frame in step.state.items() if ".seen." in name)
        assert rows <= 2 * (20 + advance) * RATE


def test_values_move_with_their_keys() -> None:
    box = aggregate(bx.landmark(emit="change"))
    *_, alone = steps(box, box.start((SCHEMA,)), 10)

    def part(name: str) -> State:
        found = box.share([alone.state], lambda _, rows: rows["k"] == name, (SCHEMA,))
        assert isinstance(found, dict)
        return found

    merged = box.share([part("b"), part("a")], lambda _, rows: rows["k"] != "", (SCHEMA,))
    (again,) = steps(box, merged, 1, first=9)  # values that were seen before
    assert counts(again) == {"a": 500, "b": 500}
    (next_,) = steps(box, part("a"), 1, first=10)
    assert counts(next_) == {"a": 550, "b": 50}
