"""Filter and map over calls with string columns, compared with plain Polars.

One core (Polars uses one thread), medians of several runs, both engines interleaved. Both start
from a Polars data frame and end with an Arrow table.
"""

import os

os.environ["POLARS_MAX_THREADS"] = "1"

import statistics
import sys
from collections.abc import Callable
from functools import partial
from itertools import pairwise
from time import perf_counter

import numpy as np
import polars as pl

import boxcars as bx
from boxcars.engine.exec.memory import keep_memory

ROWS = int(sys.argv[1]) if len(sys.argv) > 1 else 4_000_000
ROUNDS = 7
TRAINS = (1, 4, 40)


def calls(rows: int) -> pl.DataFrame:
    rng = np.random.default_rng(1)
    phones = pl.Series([f"+34-600-{n:09d}" for n in range(100_000)])
    return pl.DataFrame(
        {
            "caller": phones.gather(rng.integers(0, len(phones), rows)),
            "callee": phones.gather(rng.integers(0, len(phones), rows)),
            "time": np.arange(rows) // 1000,
            "price": rng.random(rows) * 10,
        }
    )


def network() -> bx.Network:
    net = bx.Network("expensive-calls")
    fields = {"caller": "str", "callee": "str", "time": "int", "price": "float"}
    stream = net.input("calls", ts="time", fields=fields)
    expensive = stream.filter("price > 5 and caller <> callee").named("expensive")
    net.output(
        "out", expensive.map(time="time", phone="caller", dollars="1.2492 * price").named("out")
    )
    return net


def plain_polars(data: pl.DataFrame) -> pl.DataFrame:
    wanted = (pl.col("price") > 5) & (pl.col("caller") != pl.col("callee"))
    dollars = (1.2492 * pl.col("price")).alias("dollars")
    columns = [pl.col("time"), pl.col("caller").alias("phone"), dollars]
    return data.lazy().filter(wanted).select(columns).collect()


def polars_in_trains(data: pl.DataFrame, trains: int) -> pl.DataFrame:
    """The same query over the same trains, one after the other."""
    cuts = [len(data) * k // trains for k in range(trains + 1)]
    return pl.concat([plain_polars(data[a:b]) for a, b in pairwise(cuts)])


def to_arrow(frame: pl.DataFrame) -> object:
    return frame.to_arrow(compat_level=pl.CompatLevel.oldest())


def in_trains(data: pl.DataFrame, trains: int) -> object:
    return to_arrow(polars_in_trains(data, trains))


def measure(work: Callable[[], object]) -> float:
    start = perf_counter()
    work()
    return perf_counter() - start


def main() -> None:
    keep_memory()
    data, net = calls(ROWS), network()
    ours = pl.from_arrow(bx.preview(net, {"calls": data})["out"])
    assert isinstance(ours, pl.DataFrame)
    assert plain_polars(data).equals(ours), "the two must agree before they are compared"
    ways: dict[str, Callable[[], object]] = {"Polars": lambda: to_arrow(plain_polars(data))}
    for trains in TRAINS:
        if trains > 1:
            ways[f"Polars, {trains} trains"] = partial(in_trains, data, trains)
        ways[f"Boxcars, {trains} trains"] = partial(bx.preview, net, {"calls": data}, trains=trains)
    times: dict[str, list[float]] = {name: [] for name in ways}
    for _ in range(ROUNDS):
        for name, work in ways.items():
            times[name].append(measure(work))
    base = statistics.median(times["Polars"])
    print(f"filter + map, {ROWS:,} calls with two string columns, one core, median of {ROUNDS}")
    for name, seconds in times.items():
        median = statistics.median(seconds)
        print(f"  {name:20} {ROWS / median / 1e6:6.1f} M tuples/s   {median / base:5.2f} x Polars")


if __name__ == "__main__":
    main()
