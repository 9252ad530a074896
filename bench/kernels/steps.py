"""What a small step costs beside a large window: costs should follow what comes, not what is kept.

One core, the time of the box alone. A sliding aggregate takes a second of stream at a time, with
windows of three sizes; a join takes a few tuples at a time beside windows with a million. The mean
of a sliding aggregate is over all steps that a window slides by its size: what is done once in
that time is in it.
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


def seconds(box: Any, trains: Trains, last: int) -> list[float]:
    """The times of the last steps; each ends a second later than the one before."""
    times, state = [], None
    for now, given in enumerate(trains, 1):
        schemas = (SCHEMA,) * len(given)
        state = state or box.start(schemas)
        start = perf_counter()
        step = box.step(state, given, (bx.Frontier(now),) * len(given), schemas)
        times.append(perf_counter() - start)
        state = step.state
    return times[-last:]


def sliding(kind: str, size: int, rate: int, keys: int) -> float:
    """The mean of a step."""
    box = Aggregate.build(KINDS[kind](size), by="phone", n="count()", mean="avg(x)")
    last = max(size, STEPS)
    times = seconds(box, ((calls(now, rate, keys),) for now in range(size + last)), last)
    mean = statistics.mean(times)
    print(
        f"    size {size:4}, {keys:6,} keys, {rate:6,} tuples in a step: median "
        f"{1000 * statistics.median(times):6.1f} ms, mean {1000 * mean:6.1f} ms",
        flush=True,
    )
    return mean


def join(kept: int, rate: int, keys: int) -> None:
    box = Join(bx.Expr.of("left.phone = right.phone"), bx.time(2 * STEPS))
    rows = [kept, *[rate] * STEPS]
    trains = (
        (calls(now, number, keys), calls(now, number, keys, seed=1))
        for now, number in enumerate(rows)
    )
    found = statistics.median(seconds(box, trains, STEPS))
    print(
        f"  join, {keys:9,} keys, {rate:6,} tuples in a step, {kept:9,} in a window: "
        f"{1000 * found:6.1f} ms"
    )


def main() -> None:
    keep_memory()
    print("small steps beside large windows, one core; 600 / 6: of the means")
    for kind in KINDS:
        print(f"  {kind}")
        sliding(kind, 6, 2_000, 1_000)  # to compile, and to fill the memory that is kept
        small, _, large = (sliding(kind, size, 2_000, 1_000) for size in (6, 60, 600))
        print(f"    600 / 6: {large / small:.2f}")
    print("  time, every second, with many tuples of a key in a second")
    for size in (6, 60, 600):
        sliding("time, every second", size, 20_000, 100)
    for kept in (10_000, 100_000, 1_000_000):
        join(kept, 100, kept)


if __name__ == "__main__":
    main()
