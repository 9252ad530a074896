"""A box that is split by its routing has the same results as in one piece."""

from collections import Counter
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import boxcars as bx
from boxcars.boxes.aggregate import Aggregate
from boxcars.boxes.custom import Custom
from boxcars.boxes.join import Join
from boxcars.boxes.product import Product
from boxcars.boxes.waitfor import WaitFor
from boxcars.expr import Expr
from boxcars.kernels.contract import Frontier, Stateful
from boxcars.model.schema import Schema
from boxcars.plan import Grid
from boxcars.plan.buckets import bucket_numbers
from boxcars.plan.registry import Registry

LEFT = Schema.of({"t": "int", "k": "int", "s": "str", "x": "float"}, "t")
RIGHT = Schema.of({"t": "int", "k": "float", "s": "str", "x": "float"}, "t")
FUNCTIONS = {"n": "count()", "total": "sum(t)", "last": "last(x)", "middle": "median(t)"}
Trains = list[tuple[pl.DataFrame, ...]]

WINDOWS = [
    bx.time(4, 2),
    bx.time(4, 2, flush=True),
    bx.time(3, 0),
    bx.time(3, 2, timeout=2, obsolete="drop"),
    bx.time(4, 2, emit={"every": 2}),
    bx.time(4, 2, emit={"every": 2, "by": "time"}),
    bx.tuples(3, 2),
    bx.tuples(3, 2, timeout=2),
    bx.tuples(3, 2, timeout=2, obsolete="drop"),
    bx.tuples(2, 1, emit={"every": 2}, timeout=3, flush=True),
    bx.value("t", 4, 2, flush=True),
    bx.value("x", 4, 2, timeout=2),
    bx.landmark(emit="change"),
    bx.landmark(emit={"every": 2}),
    bx.landmark(emit={"every": 2, "by": "time"}, flush=True),
]


class Count(bx.PerKey):
    """Numbers the tuples of each key."""

    keeps: ClassVar[dict[str, str]] = {"n": "int"}

    def on_tuple(self, state: Any, row: Any) -> Any:
        state["n"] = (state["n"] or 0) + 1
        return [row] if state["n"] % 2 else []


@st.composite
def streams(draw: Any, schema: Schema, steps: int = 3) -> list[pl.DataFrame]:
    """The trains of a stream, in order."""
    times = sorted(draw(st.lists(st.integers(0, 12), max_size=30)))
    keys = st.sampled_from([None, 0, 1, 2, 3])
    rows = [
        (t, draw(keys), draw(st.sampled_from(["a", "b", None])), float(draw(st.integers(0, 9))))
        for t in times
    ]
    whole = pl.DataFrame(rows, schema=schema.dtypes, orient="row")
    cuts = sorted(draw(st.lists(st.integers(0, whole.height), min_size=steps, max_size=steps)))
    return [whole[start:end] for start, end in zip([0, *cuts], [*cuts, whole.height], strict=True)]


def frontiers(trains: Trains) -> list[tuple[Frontier, ...]]:
    """The frontier of each train; final after the last."""
    found, seen = [], [-1] * len(trains[0])
    for step in trains:
        seen = [max([old, *train["t"].to_list()]) for old, train in zip(seen, step, strict=True)]
        found.append(tuple(Frontier(value) for value in seen))
    found[-1] = tuple(Frontier(value, final=True) for value in seen)
    return found


def run(box: Stateful, schemas: tuple[Schema, ...], trains: Trains, promises: Any) -> Counter[Any]:
    """All that leaves a box, by port."""
    state, out = box.start(schemas), Counter[Any]()
    for step, frontier in zip(trains, promises, strict=True):
        done = box.step(state, step, frontier, schemas)
        state = done.state
        for port, train in done.trains.items():
            out.update((port, row) for row in train.rows())
    return out


def shares(box: Stateful, schemas: tuple[Schema, ...], trains: Trains, cells: int) -> list[Trains]:
    """The tuples of each bucket."""
    grid, found = Grid.of(cells), []
    routings = [box.routing(port, schemas) for port in range(len(schemas))]
    pairs = routings[0].kind == "pairs"
    sizes = (grid.rows, grid.columns) if pairs else (cells,) * len(schemas)
    for bucket in range(cells):
        own = divmod(bucket, grid.columns) if pairs else (bucket,) * len(schemas)
        found.append(
            [
                tuple(
                    train.filter(pl.Series(bucket_numbers(train, r, size) == mine))
                    for train, r, size, mine in zip(step, routings, sizes, own, strict=True)
                )
                for step in trains
            ]
        )
    return found


def check_split(box: Stateful, schemas: tuple[Schema, ...], trains: Trains, kind: str) -> None:
    assert {box.routing(port, schemas).kind for port in range(len(schemas))} == {kind}
    promises = frontiers(trains)
    whole = run(box, schemas, trains, promises)
    split = Counter[Any]()
    for share in shares(box, schemas, trains, 6):
        split += run(box, schemas, share, promises)
    assert split == whole


@pytest.mark.parametrize("window", WINDOWS, ids=str)
@settings(max_examples=4, deadline=None)
@given(stream=streams(LEFT))
def test_an_aggregate_by_key(window: bx.Window, stream: list[pl.DataFrame]) -> None:
    trains: Trains = [(train,) for train in stream]
    for by in ("k", "s"):
        check_split(Aggregate.build(window, by, FUNCTIONS), (LEFT,), trains, "key")


@settings(max_examples=6, deadline=None)
@given(left=streams(LEFT), right=streams(RIGHT), size=st.integers(1, 6))
def test_boxes_over_two_streams(
    left: list[pl.DataFrame], right: list[pl.DataFrame], size: int
) -> None:
    """The key is an int on the left and a float on the right."""
    trains: Trains = list(zip(left, right, strict=True))
    both = (LEFT, RIGHT)
    on = Expr.of("left.k = right.k AND left.x < right.x + 3")
    check_split(Join(on, bx.time(size)), both, trains, "key")
    check_split(Join(on, bx.time(size), bx.time(2)), both, trains, "key")
    check_split(WaitFor(on, size), both, trains, "key")
    band = Expr.of("abs(left.x - right.x) < 3")
    check_split(Product(band, bx.time(size)), both, trains, "pairs")
    check_split(Product(Expr.of("left.t < 99"), bx.time(size)), both, trains, "pairs")


@settings(max_examples=4, deadline=None)
@given(stream=streams(LEFT))
def test_a_custom_box_by_key(stream: list[pl.DataFrame]) -> None:
    check_split(Custom.build(Count, by="k"), (LEFT,), [(train,) for train in stream], "key")


def test_boxes_that_can_not_be_split() -> None:
    on = Expr.of("left.k = right.k")
    more = {"fields": FUNCTIONS}
    single = {
        "no group-by": Aggregate.build(bx.time(4), **more),  # type: ignore[arg-type]
        "run": Aggregate.build(bx.runs(), "k", FUNCTIONS),
        "slack": Aggregate.build(bx.tuples(4, slack=2), "k", FUNCTIONS),
        "tuples": Join(on, bx.tuples(3)),
        "tuples of": Join(on, bx.time(3), bx.tuples(3)),
        "any left tuple": WaitFor(Expr.of("left.k < right.k"), 3),
        "by": Custom.build(Count),
        "sorts": bx.box_types()["wsort"].build(by=["k"], timeout=3),
        "sorts all": bx.box_types()["bsort"].build(slack=3),
        "right": bx.box_types()["resample"].build(bx.time(3), n="count()"),
    }
    for words, box in single.items():
        routing = box.routing(0, (LEFT, RIGHT))
        assert routing.kind == "single"
        assert words in routing.why


def test_boxes_that_would_be_wrong_if_they_were_split() -> None:
    """Why they are single: the result of one key depends on the tuples of others."""
    rows = [(0, 0, "a", 0.0), (5, 1, "b", 0.0), (6, 1, "b", 0.0), (1, 0, "a", 0.0)]
    trains: Trains = [(pl.DataFrame(rows, schema=LEFT.dtypes, orient="row"),)]
    slack = Aggregate.build(bx.tuples(2, slack={"time": 1}), "k", FUNCTIONS)
    runs = Aggregate.build(bx.runs(flush=True), "k", FUNCTIONS)
    for box in (slack, runs):
        schemas = (replace(LEFT, ordered=box is runs),)
        whole = run(box, schemas, trains, frontiers(trains))
        split = Counter[Any]()
        for key in (0, 1):
            own: Trains = [(trains[0][0].filter(pl.col("k") == key),)]
            split += run(box, schemas, own, frontiers(trains))
        assert whole != split


@pytest.mark.parametrize("number", [4, 6, 16, 36])
def test_rows_of_a_grid_meet_few_instances(number: int) -> None:
    grid, tiles = Grid.of(576), Grid.of(number)
    registry = Registry.tiled(grid, number)
    assert np.bincount(registry.owners).tolist() == [576 // number] * number
    for row in range(grid.rows):
        assert len(set(registry.destinations(grid.row(row)))) == tiles.columns
    for column in range(grid.columns):
        assert len(set(registry.destinations(grid.column(column)))) == tiles.rows
