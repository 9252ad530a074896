"""Segments: no needed row is lost, and few rows are copied."""

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import boxcars as bx
from boxcars.boxes.aggregate import Aggregate
from boxcars.boxes.join import Join
from boxcars.kernels.columns.frames import concat_rows
from boxcars.kernels.join import match, probe
from boxcars.kernels.join.probe import Codes, Keys, Table
from boxcars.kernels.state.segments import advance_segments, as_state, read_segments

EMPTY = pl.DataFrame(schema={"n": pl.Int64})
SCHEMA = bx.Schema.of({"t": "int", "k": "int"}, ts="t")


def numbers(first: int, end: int) -> pl.DataFrame:
    return pl.DataFrame({"n": range(first, end)}, schema=EMPTY.schema)


@settings(deadline=None)
@given(st.lists(st.tuples(st.integers(0, 40), st.floats(0, 1)), max_size=30))
def test_needed_rows_are_retained(steps: list[tuple[int, float]]) -> None:
    segments, came, needed = [EMPTY], 0, 0
    for coming, share in steps:
        kept = concat_rows(segments)
        held = came - kept.height
        came += coming
        needed += int((came - needed) * share)
        segments = advance_segments(segments, numbers(came - coming, came), needed - held)
        segments = read_segments(as_state(segments, "s"), "s")
        found = concat_rows(segments)["n"].to_list()
        assert found == list(range(came - len(found), came))
        assert came - needed <= len(found) <= 2 * (came - needed) + 1


def test_a_row_is_copied_a_few_times_only() -> None:
    segments = [EMPTY]
    seen: dict[int, pl.DataFrame] = {}
    for turn in range(1000):
        kept = concat_rows(segments).height
        new = numbers(10 * turn, 10 * turn + 10)
        segments = advance_segments(segments, new, max(kept + 10 - 5000, 0))
        assert len(segments) < 12
        seen |= {id(segment): segment for segment in segments}
    written = sum(segment.height for segment in seen.values())
    assert written < 10 * 10_000


def test_an_open_window_is_not_visited() -> None:
    """A time window processes tuples; the frames it retains stay the same objects."""
    box = Aggregate.build(bx.time(1000), by="k", n="count()")
    many = pl.DataFrame({"t": [0] * 10_000, "k": range(10_000)})
    step = box.step(box.start((SCHEMA,)), (many,), (bx.Frontier(1),), (SCHEMA,))
    large = step.state["tuples.0"]
    for time in range(1, 50):
        new = pl.DataFrame({"t": [time], "k": [time]})
        step = box.step(step.state, (new,), (bx.Frontier(time + 1),), (SCHEMA,))
        assert step.state["tuples.0"] is large
        assert len(step.state) < 12
    step = box.step(step.state, (new.clear(),), (bx.Frontier(1000),), (SCHEMA,))
    assert step.trains["0"]["n"].sum() == 10_049


def test_idle_keys_of_a_join_are_not_visited(monkeypatch: pytest.MonkeyPatch) -> None:
    """The keys of a large window are sorted once; then a few busy ones are looked up."""
    schemas = (SCHEMA, SCHEMA)
    box = Join(bx.Expr.of("left.k = right.k"), bx.time(1000))
    many = pl.DataFrame({"t": [0] * 10_000, "k": [None, *range(9_999)]}, schema=SCHEMA.dtypes)
    frontiers = (bx.Frontier(1), bx.Frontier(1))
    step = box.step(box.start(schemas), (many, many.clear()), frontiers, schemas)
    large = step.state["left.0"]
    looked_at: list[int] = []
    indexes: list[pl.DataFrame] = []

    def look_up(keys: Keys, table: Table) -> Codes:
        looked_at.append(len(keys.word))
        return probe.look_up(keys, table)

    monkeypatch.setattr(match, "look_up", look_up)
    for time in range(1, 50):
        new = pl.DataFrame({"t": [time], "k": [time * 100]})
        frontiers = (bx.Frontier(time + 1), bx.Frontier(time + 1))
        step = box.step(step.state, (new.clear(), new), frontiers, schemas)
        assert step.trains["0"].rows() == [(time, 0, time * 100, time, time * 100)]
        assert step.state["left.0"] is large
        indexes.append(step.state["left.0.index"])
    assert all(index is indexes[0] for index in indexes)
    assert max(looked_at[1:]) < 100
