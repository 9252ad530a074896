"""What a small step costs beside a large window: costs should follow what comes, not what is kept.

One core, the time of the box alone. A sliding aggregate takes a second of stream at a time and
closes a window in each; a join takes a few tuples at a time beside windows with a million.
"""

import os

os.environ["POLARS_MAX_THREADS"] = "1"

import statistics
from collections.abc import Iterator
from time import perf_counter
from typing import Any

import numpy as np
import polars as pl

import boxcars as bx
from boxcars.boxes.aggregate import Aggregate
from boxcars.boxes.join import Join
from boxcars.engine.memory import keep_memory

SCHEMA = bx.Schema.of({"time": "int", "phone": "str", "x": "float"}, ts="time")
STEPS = 30
Trains = Iterator[tuple[pl.DataFrame, ...]]


def calls(time: int, rows: int, keys: int, seed: int = 0) -> pl.DataFrame:
    rng = np.random.default_rng([time, seed])
    phones = pl.Series(rng.integers(0, keys, rows)).cast(pl.String)
    return pl.DataFrame(
        {"time": np.full(rows, time), "phone": "+34-600-" + phones, "x": rng.random(rows)}
    )


def seconds(box: Any, trains: Trains) -> float:
    """The median of the last steps; each ends a second later than the one before."""
    times, state = [], None
    for now, given in enumerate(trains, 1):
        schemas = (SCHEMA,) * len(given)
        state = state or box.start(schemas)
        start = perf_counter()
        step = box.step(state, given, (bx.Frontier(now),) * len(given), schemas)
        times.append(perf_counter() - start)
        state = step.state
    return statistics.median(times[-STEPS:])


def sliding(size: int, rate: int, keys: int) -> None:
    box = Aggregate.build(bx.time(size, 1), by="phone", n="count()", mean="avg(x)")
    found = seconds(box, ((calls(now, rate, keys),) for now in range(size + STEPS)))
    print(
        f"  aggregate {size:4}/1, {keys:6,} keys, {rate:6,} tuples in a step, "
        f"{size * rate:9,} in a window: {1000 * found:6.1f} ms"
    )


def join(kept: int, rate: int, keys: int) -> None:
    box = Join(bx.Expr.of("left.phone = right.phone"), bx.time(2 * STEPS))
    rows = [kept, *[rate] * STEPS]
    trains = (
        (calls(now, number, keys), calls(now, number, keys, seed=1))
        for now, number in enumerate(rows)
    )
    found = seconds(box, trains)
    print(
        f"  join, {keys:9,} keys, {rate:6,} tuples in a step, {kept:9,} in a window: "
        f"{1000 * found:6.1f} ms"
    )


def main() -> None:
    keep_memory()
    print(f"small steps beside large windows, one core, medians of {STEPS} steps")
    sliding(60, 20_000, 100)
    sliding(600, 20_000, 100)
    for size in (6, 60, 600):
        sliding(size, 2_000, 1_000)
    for kept in (10_000, 100_000, 1_000_000):
        join(kept, 100, kept)


if __name__ == "__main__":
    main()
