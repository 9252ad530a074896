"""The cost of a small step with a large window: it should depend on new tuples, not on stored ones.

One core, the time of the box alone. Sliding aggregates process one second of event time per step,
with windows of three sizes; a join processes a few tuples per step, with up to a million in its
windows; a landmark window counts distinct values; the input of a user-defined class ends. The mean
of an aggregate is over the steps in which the largest window slides by its size, and so includes
work that is done once in that time.
"""

import os

os.environ["POLARS_MAX_THREADS"] = "1"

import statistics
from collections.abc import Callable, Iterator
from time import perf_counter
from typing import Any, ClassVar

import numpy as np
import polars as pl

import boxcars as bx
from boxcars.boxes.aggregate import Aggregate
from boxcars.boxes.custom import Custom
from boxcars.boxes.join import Join
from boxcars.engine.exec.memory import keep_memory

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
    """The time of each step; each ends a second later than the previous one."""
    state = None
    for now, given in enumerate(trains, 1):
        schemas = (SCHEMA,) * len(given)
        state = state or box.start(schemas)
        start = perf_counter()
        step = box.step(state, given, (bx.Frontier(now),) * len(given), schemas)
        yield perf_counter() - start
        state = step.state


def sliding(kind: str, rate: int, keys: int) -> None:
    """Windows of all sizes, interleaved, so that noise of the machine affects all of them."""
    runs = []
    for size in SIZES:
        box = Aggregate.build(KINDS[kind](size), by="phone", n="count()", mean="avg(x)")
        runs.append(seconds(box, ((calls(now, rate, keys),) for now in range(2 * SIZES[-1]))))
    times = np.array(list(zip(*runs, strict=True)))[SIZES[-1] :] * 1000
    print(f"  {kind}, {keys:,} keys, {rate:,} tuples per step")
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


def distinct(values: int, rate: int) -> None:
    """One landmark window, with a result for each tuple."""
    box = Aggregate.build(bx.landmark(emit="change"), n="count_distinct(x)")
    rng = np.random.default_rng(0)
    trains = (
        (calls(now, rate, 1).with_columns(x=pl.Series(rng.integers(0, values, rate) * 1.0)),)
        for now in range(STEPS)
    )
    times = [1000 * took for took in seconds(box, trains)]
    early, late = statistics.median(times[1:11]), statistics.median(times[-10:])
    print(
        f"  count_distinct, up to {values:,} values, {rate:,} tuples in a step: "
        f"{early:.1f} ms at first, {late:.1f} ms after {STEPS * rate:,} tuples, "
        f"{late / early:.2f} times",
        flush=True,
    )


class Changes(bx.PerKey):
    """A user-defined class without timers."""

    keeps: ClassVar[dict[str, str]] = {"x": "float"}

    def on_tuple(self, state: Any, row: Any) -> Any:
        before, state["x"] = state["x"], row["x"]
        return [row] if before != row["x"] else []


def end(keys: int) -> None:
    """The end of the input with many keys without timers."""
    box: Any = Custom.build(Changes, by="phone")
    phones = pl.DataFrame({"phone": pl.Series(range(keys)).cast(pl.String)})
    train = phones.with_columns(time=pl.lit(0), x=pl.lit(0.5)).select("time", "phone", "x")
    state = box.step(box.start((SCHEMA,)), (train,), (bx.Frontier(1),), (SCHEMA,)).state
    start = perf_counter()
    box.step(state, (train.clear(),), (bx.Frontier(1, final=True),), (SCHEMA,))
    print(f"  end of the input, {keys:9,} keys: {1000 * (perf_counter() - start):6.1f} ms")


def main() -> None:
    keep_memory()
    print("small steps with large windows, one core")
    for kind in KINDS:
        sliding(kind, 2_000, 1_000)
    sliding("tuples, every tuple", 20_000, 10_000)
    sliding("time, every second", 20_000, 100)
    for kept in (10_000, 100_000, 1_000_000):
        join(kept, 100, kept)
    for values in (1, 10**9):
        for rate in (1_000, 4_000):
            distinct(values, rate)
    for keys in (10_000, 100_000):
        end(keys)


if __name__ == "__main__":
    main()
