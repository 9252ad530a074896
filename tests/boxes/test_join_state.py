"""The state of a join, and how long it is kept."""

from typing import Any

import polars as pl

import boxcars as bx
from boxcars.boxes.join import Join
from boxcars.kernels.columns.frames import concat_rows
from boxcars.kernels.contract import MAX_CHUNKS, Frontier
from boxcars.kernels.join import match
from boxcars.kernels.state.segments import read_segments
from boxcars.model.schema import Schema

SCHEMA = Schema.of({"t": "int", "k": "int"}, "t")


def frame(*rows: tuple[int, int | None]) -> pl.DataFrame:
    return pl.DataFrame(list(rows), schema=SCHEMA.dtypes, orient="row")


def window(state: Any, side: str) -> pl.DataFrame:
    return concat_rows(read_segments(state, side))


def heights(state: Any) -> dict[str, int]:
    windows = {side: window(state, side).height for side in ("left", "right")}
    return windows | {name: state[name].height for name in ("waiting left", "waiting right")}


def test_the_state_drops_what_the_frontier_has_passed() -> None:
    box = Join(bx.Expr.of("left.k = right.k"), bx.time(10))
    schemas = (SCHEMA, SCHEMA)
    step = box.step(
        box.start(schemas),
        (frame((0, 1), (5, 1), (8, 2)), frame((3, 1), (9, 9))),
        (Frontier(9), Frontier(9)),
        schemas,
    )
    assert step.frontier == Frontier(9)
    assert step.trains["0"].height == 2
    assert heights(step.state) == {
        "left": 3,
        "waiting left": 0,
        "right": 1,
        "waiting right": 1,
    }
    nothing = (frame(), frame())
    step = box.step(step.state, nothing, (Frontier(15), Frontier(15)), schemas)
    assert window(step.state, "left")["t"].to_list() == [8]
    assert window(step.state, "right")["t"].to_list() == [9]
    step = box.step(step.state, nothing, (Frontier(19), Frontier(19)), schemas)
    assert heights(step.state) == dict.fromkeys(heights(step.state), 0)


def test_a_side_that_runs_ahead_prunes_the_other() -> None:
    box = Join(bx.Expr.of("left.k = right.k"), bx.time(10))
    schemas = (SCHEMA, SCHEMA)
    trains = (frame((0, 1), (1, 1)), frame())
    step = box.step(box.start(schemas), trains, (Frontier(2), Frontier(1000)), schemas)
    assert heights(step.state) == dict.fromkeys(heights(step.state), 0)
    step = box.step(box.start(schemas), trains, (Frontier(2), Frontier(10)), schemas)
    assert window(step.state, "left")["t"].to_list() == [1]


def test_no_state_is_kept_for_an_ended_side() -> None:
    box = Join(bx.Expr.of("left.k = right.k"), bx.tuples(5))
    schemas = (SCHEMA, SCHEMA)
    trains = (frame((0, 1), (1, 1)), frame((0, 1)))
    frontiers = (Frontier(2), Frontier(0, final=True))
    step = box.step(box.start(schemas), trains, frontiers, schemas)
    assert step.trains["0"].height == 2
    assert heights(step.state) == {"left": 0, "waiting left": 0, "right": 1, "waiting right": 0}


def test_tuple_windows_keep_their_size_and_many_chunks_are_merged() -> None:
    box = Join(bx.Expr.of("left.k = right.k"), bx.tuples(3), bx.tuples(2))
    state, schemas = box.start((SCHEMA, SCHEMA)), (SCHEMA, SCHEMA)
    pairs = 0
    for t in range(100):
        trains = (frame((t, 1)), frame((t, 1)))
        step = box.step(state, trains, (Frontier(t + 1), Frontier(t + 1)), schemas)
        state, pairs = step.state, pairs + step.trains["0"].height
        assert window(state, "left").height == min(t + 1, 3)
        assert window(state, "right").height == min(t + 1, 2)
        assert all(kept.n_chunks() <= MAX_CHUNKS for kept in state.values())
    assert pairs == 100 * 5 - (2 + 1) - (2 + 1)


def test_stored_keys_are_rehashed_if_the_hash_function_changed() -> None:
    schema = Schema.of({"t": "int", "s": "str"}, "t")
    box = Join(bx.Expr.of("left.s = right.s"), bx.time(10))
    one, none = (pl.DataFrame(data, schema=schema.dtypes) for data in ({"t": [0], "s": ["a"]}, {}))
    schemas, frontiers = (schema, schema), (Frontier(1), Frontier(1))
    state = dict(box.step(box.start(schemas), (one, none), frontiers, schemas).state)
    old = pl.lit(7, dtype=pl.UInt64).alias("__key_of_old")
    state["left.0"] = state["left.0"].drop(match.KEY).with_columns(old)
    more = one.with_columns(t=pl.lit(1, dtype=pl.Int64))
    for left in (none, more):
        step = box.step(state, (left, more), (Frontier(2), Frontier(2)), schemas)
        assert step.trains["0"]["left_t"].to_list() == [0] + [1] * left.height


def test_without_a_frontier_all_tuples_wait() -> None:
    box = Join(bx.Expr.of("left.k = right.k"), bx.time(10))
    schemas = (SCHEMA, SCHEMA)
    trains = (frame((0, 1)), frame((0, 1)))
    step = box.step(box.start(schemas), trains, (Frontier(5), Frontier()), schemas)
    assert step.frontier == Frontier()
    assert heights(step.state) == {"left": 0, "waiting left": 1, "right": 0, "waiting right": 1}
