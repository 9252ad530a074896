"""Windows on one core, compared with handwritten batch queries in Polars over the same data.

The sliding time aggregate of StreamCloud's evaluation (60 s every 10 s by caller, count and mean),
and tuple windows 2/1 with first and last (the high mobility query). Then the cost of a window's
size: size/advance of 6 and of 600, counting tuples in and results out. All start and end with a
data frame, and are interleaved.
"""

import os

os.environ["POLARS_MAX_THREADS"] = "1"

import statistics
import sys
from collections.abc import Callable, Sequence
from time import perf_counter

import numpy as np
import polars as pl

import boxcars as bx
from boxcars.boxes.aggregate import Aggregate
from boxcars.engine.exec.memory import keep_memory

ROWS = int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000
KEYS = 100_000
ROUNDS = 5
SIZES = (6, 600)
SCHEMA = bx.Schema.of({"caller": "str", "time": "int", "duration": "float"}, ts="time")
Way = Callable[[pl.DataFrame], pl.DataFrame]


def calls(rows: int, keys: int = KEYS) -> pl.DataFrame:
    rng = np.random.default_rng(1)
    phones = pl.Series([f"+34-600-{n:09d}" for n in range(keys)])
    return pl.DataFrame(
        {
            "caller": phones.gather(rng.integers(0, keys, rows)),
            "time": np.sort(rng.integers(0, rows // 555, rows)),
            "duration": rng.random(rows) * 600,
        }
    )


def batch(window: bx.Window, **functions: str) -> Way:
    """All calls in one train, up to the time of the last, from data frame to data frame."""
    box = Aggregate.build(window, by="caller", fields=functions)
    state = box.start((SCHEMA,))

    def run(data: pl.DataFrame) -> pl.DataFrame:
        frontier = bx.Frontier(data["time"][-1], final=True)
        return box.step(state, (data,), (frontier,), (SCHEMA,)).trains["0"]

    return run


def polars_sliding(data: pl.DataFrame) -> pl.DataFrame:
    windows = data.group_by_dynamic("time", every="10i", period="60i", group_by="caller")
    return windows.agg(n=pl.len(), mean=pl.col("duration").mean())


def polars_sliding_in_order(data: pl.DataFrame) -> pl.DataFrame:
    """The same, sorted as a stream: by window, and then by key."""
    return polars_sliding(data).sort("time", "caller")


def polars_pairs(data: pl.DataFrame) -> pl.DataFrame:
    before = pl.col("time", "duration").shift(1).over("caller").name.prefix("first_")
    return data.with_columns(before).filter(pl.col("first_time").is_not_null())


def in_turns(data: pl.DataFrame, ways: Sequence[Way]) -> list[float]:
    """The median time of each variant, interleaved so that noise affects all of them.

    Each is called once more before it is timed, so that it finds its own data in the caches.
    """
    times = []
    for _ in range(ROUNDS):
        for way in ways:
            way(data)
            start = perf_counter()
            way(data)
            times.append(perf_counter() - start)
    return [statistics.median(times[i :: len(ways)]) for i in range(len(ways))]


def compare(name: str, ours: Way, **peers: Way) -> None:
    seconds, *others = in_turns(calls(ROWS), [ours, *peers.values()])
    print(f"  {name:32} {ROWS / seconds / 1e6:5.2f} M tuples/s")
    for what, theirs in zip(peers, others, strict=True):
        print(
            f"    Polars, {what.replace('_', ' '):26} {ROWS / theirs / 1e6:5.2f} M tuples/s "
            f"  ours {theirs / seconds:5.1f} times as fast"
        )


def cost_of_size() -> None:
    """All kinds of sliding windows."""
    data = calls(ROWS, keys=100)
    kinds: dict[str, Callable[[int], bx.Window]] = {
        "time": lambda size: bx.time(size, 1),
        "value": lambda size: bx.value("time", size, 1),
        "time, every tuple": lambda size: bx.time(size, 0),
        "tuples": lambda size: bx.tuples(size, 1),
    }
    functions = {"n": "count()", "s": "sum(duration)", "least": "min(duration)", "f": "first(time)"}
    for kind, window in kinds.items():
        ways = [batch(window(size), **functions) for size in SIZES]
        small, large = in_turns(data, ways)
        print(
            f"  {kind}: the size {SIZES[1]} takes {large / small:.2f} times as long as {SIZES[0]}"
        )
        for size, way, seconds in zip(SIZES, ways, (small, large), strict=True):
            rows = way(data).height
            print(f"    size {size:3}: {1000 * seconds:4.0f} ms, {rows:9,} results")


def main() -> None:
    keep_memory()
    print(f"windows over {ROWS:,} calls, {KEYS:,} string keys, one core, medians of {ROUNDS}")
    compare(
        "time 60/10, count and mean",
        batch(bx.time(60, advance=10), n="count()", mean="avg(duration)"),
        in_any_order=polars_sliding,
        in_the_order_of_a_stream=polars_sliding_in_order,
    )
    pairs = {"t1": "first(time)", "d1": "first(duration)", "t2": "last(time)"}
    compare(
        "tuples 2/1, first and last", batch(bx.tuples(2, 1), **pairs), in_any_order=polars_pairs
    )
    cost_of_size()


if __name__ == "__main__":
    main()
