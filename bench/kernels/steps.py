"""What a small step costs beside a large window: costs should follow what comes, not what is kept.

One core, the time of the box alone. Sliding aggregates take a second of stream at a time, with
windows of three sizes; a join takes a few tuples at a time beside windows with a million. The mean
of an aggregate is over the steps in which the largest window slides by its size, so that what is
done once in that time is in it.
"""

import os

os.environ["POLARS_MAX_THREADS"] = "1"

import statistics
from collections.abc import Callable, Iterator
from time import perf_counter
from typing import Any

import numpy as np
import polars as pl

import boxcars as bx
from boxcars.boxes.aggregate import Aggregate
from boxcars.boxes.join import Join
from boxcars.engine.memory import keep_memory

SCHEMA = bx.Schema.of({"time": "int", "phone": "str", "x": "float"}, ts="time")
STEPS = 60
SIZES = (6, 60, 600)
KINDS: dict[str, Callable[[int], bx.Window]] = {
    "time, every second": lambda size: bx.time(size, 1),
    "value, every second": lambda size: bx.value("time", size, 1),
    "time, every tuple": lambda size: bx.time(size, 0),
    "tuples, every tuple": lambda size: bx.tuples(size, 1),
}
Trains = Iterator[tuple[pl.DataFrame, ...]]


def calls(time: int, rows: int, keys: int, seed: int = 0) -> pl.DataFrame:
    rng = np.random.default_rng([time, seed])
    phones = pl.Series(rng.integers(0, keys, rows)).cast(pl.String)
    return pl.DataFrame(
        {"time": np.full(rows, time), "phone": "+34-600-" + phones, "x": rng.random(rows)}
    )


def seconds(box: Any, trains: Trains) -> Iterator[float]:
    """The time of each step; each ends a second later than the one before."""
    state = None
    for now, given in enumerate(trains, 1):
        schemas = (SCHEMA,) * len(given)
        state = state or box.start(schemas)
        start = perf_counter()
        step = box.step(state, given, (bx.Frontier(now),) * len(given), schemas)
        yield perf_counter() - start
        state = step.state


def sliding(kind: str, rate: int, keys: int) -> None:
    """Windows of all sizes, in turns, so that whatever else the machine does meets all of them."""
    runs = []
    for size in SIZES:
        box = Aggregate.build(KINDS[kind](size), by="phone", n="count()", mean="avg(x)")
        runs.append(seconds(box, ((calls(now, rate, keys),) for now in range(2 * SIZES[-1]))))
    times = np.array(list(zip(*runs, strict=True)))[SIZES[-1] :] * 1000
    print(f"  {kind}, {keys:,} keys, {rate:,} tuples in a step")
    for size, mean, median in zip(SIZES, times.mean(0), np.median(times, 0), strict=True):
        print(
            f"    size {size:4}: median {median:6.1f} ms, mean {mean:6.1f} ms, "
            f"{mean / times[:, 0].mean():.2f} times that of {SIZES[0]}",
            flush=True,
        )


def join(kept: int, rate: int, keys: int) -> None:
    box = Join(bx.Expr.of("left.phone = right.phone"), bx.time(2 * STEPS))
    rows = [kept, *[rate] * STEPS]
    trains = (
        (calls(now, number, keys), calls(now, number, keys, seed=1))
        for now, number in enumerate(rows)
    )
    found = statistics.median(list(seconds(box, trains))[1:])
    print(
        f"  join, {keys:9,} keys, {rate:6,} tuples in a step, {kept:9,} in a window: "
        f"{1000 * found:6.1f} ms"
    )


def main() -> None:
    keep_memory()
    print("small steps beside large windows, one core")
    for kind in KINDS:
        sliding(kind, 2_000, 1_000)
    sliding("tuples, every tuple", 20_000, 10_000)
    sliding("time, every second", 20_000, 100)
    for kept in (10_000, 100_000, 1_000_000):
        join(kept, 100, kept)


if __name__ == "__main__":
    main()
