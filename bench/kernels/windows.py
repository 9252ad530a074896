"""Windows on one core, beside hand-written batch queries in Polars over the same data.

The sliding time aggregate of StreamCloud's evaluation (60 s every 10 s by caller, count and mean),
and tuple windows 2/1 with first and last (the high mobility query). Then the cost of a window's
size: size/advance of 6 and of 600, counting tuples in and results out.
"""

import os

os.environ["POLARS_MAX_THREADS"] = "1"

import statistics
import sys
from collections.abc import Callable
from functools import partial
from time import perf_counter

import numpy as np
import polars as pl

import boxcars as bx
from boxcars.engine.memory import keep_memory

ROWS = int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000
KEYS = 100_000
ROUNDS = 5
FIELDS = {"caller": "str", "time": "int", "duration": "float"}


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


def network(window: bx.Window, **functions: str) -> bx.Network:
    net = bx.Network("windows")
    stream = net.input("calls", ts="time", fields=FIELDS)
    net.output("out", stream.aggregate(window, by="caller", fields=functions).named("windows"))
    return net


def polars_sliding(data: pl.DataFrame) -> pl.DataFrame:
    windows = data.group_by_dynamic("time", every="10i", period="60i", group_by="caller")
    return windows.agg(n=pl.len(), mean=pl.col("duration").mean())


def polars_sliding_in_order(data: pl.DataFrame) -> pl.DataFrame:
    """The same in the order in which a stream gives it: by window, and then by key."""
    return polars_sliding(data).sort("time", "caller")


def polars_pairs(data: pl.DataFrame) -> pl.DataFrame:
    before = pl.col("time", "duration").shift(1).over("caller").name.prefix("first_")
    return data.with_columns(before).filter(pl.col("first_time").is_not_null())


def median(work: Callable[[], object]) -> float:
    times = []
    for _ in range(ROUNDS):
        start = perf_counter()
        work()
        times.append(perf_counter() - start)
    return statistics.median(times)


def box_seconds(net: bx.Network, data: pl.DataFrame) -> float:
    """The time of the box itself, without reading the input and making Arrow of the output."""
    runs = [bx.preview(net, {"calls": data}).stats["windows"].seconds for _ in range(ROUNDS)]
    return statistics.median(runs)


def compare(name: str, net: bx.Network, **peers: Callable[[pl.DataFrame], pl.DataFrame]) -> None:
    data = calls(ROWS)
    bx.preview(net, {"calls": data[:1000]})
    ours = box_seconds(net, data)
    print(f"  {name:32} {ROWS / ours / 1e6:5.2f} M tuples/s")
    for what, peer in peers.items():
        theirs = median(partial(peer, data))
        print(
            f"    Polars, {what.replace('_', ' '):26} {ROWS / theirs / 1e6:5.2f} M tuples/s "
            f"  ours {theirs / ours:5.1f} times as fast"
        )


def cost_of_size() -> None:
    """One train, all kinds of sliding windows."""
    data = calls(ROWS, keys=100)
    kinds: dict[str, Callable[[int], bx.Window]] = {
        "time": lambda size: bx.time(size, 1),
        "value": lambda size: bx.value("time", size, 1),
        "time, every tuple": lambda size: bx.time(size, 0),
        "tuples": lambda size: bx.tuples(size, 1),
    }
    functions = {"n": "count()", "s": "sum(duration)", "least": "min(duration)", "f": "first(time)"}
    for kind, window in kinds.items():
        for size in (6, 600):
            net = network(window(size), **functions)
            seconds = box_seconds(net, data)
            rows = bx.preview(net, {"calls": data})["out"].num_rows
            print(
                f"  {kind}, size {size:3}: {1000 * seconds:.0f} ms for {ROWS:,} tuples "
                f"and {rows:,} results"
            )


def main() -> None:
    keep_memory()
    print(f"windows over {ROWS:,} calls, {KEYS:,} string keys, one core, medians of {ROUNDS}")
    sliding = network(bx.time(60, advance=10), n="count()", mean="avg(duration)")
    compare(
        "time 60/10, count and mean",
        sliding,
        in_any_order=polars_sliding,
        in_the_order_of_a_stream=polars_sliding_in_order,
    )
    pairs = {"t1": "first(time)", "d1": "first(duration)", "t2": "last(time)"}
    compare(
        "tuples 2/1, first and last", network(bx.tuples(2, 1), **pairs), in_any_order=polars_pairs
    )
    cost_of_size()


if __name__ == "__main__":
    main()
