"""Joins on time windows, compared with the same batch query in plain Polars and in DuckDB.

One core (Polars and DuckDB use one thread), medians of several runs, all engines interleaved. All
start from Polars data frames and end with an Arrow table. The others do not guarantee an order and
process whole tables; Boxcars also runs in trains.
"""

import os

os.environ["POLARS_MAX_THREADS"] = "1"

import statistics
import sys
from collections.abc import Callable
from functools import partial
from importlib import import_module
from time import perf_counter
from typing import Any

import numpy as np
import polars as pl

import boxcars as bx
from boxcars.engine.exec.memory import keep_memory

try:
    duckdb: Any = import_module("duckdb")
except ImportError:
    duckdb = None

SCALE = float(sys.argv[1]) if len(sys.argv) > 1 else 1.0
ROUNDS = 5
WINDOW = 60
"""Seconds."""
FIELDS = {"time": "int", "phone": "str", "x": "float"}
Ways = dict[str, Callable[[], Any]]
Pair = tuple[pl.DataFrame, pl.DataFrame]


def stream(seed: int, rows: int, keys: int, rate: int) -> pl.DataFrame:
    rng = np.random.default_rng(seed)
    phones = pl.Series([f"+34-600-{n:09d}" for n in range(keys)])
    return pl.DataFrame(
        {
            "time": np.arange(rows) // rate,
            "phone": phones.gather(rng.integers(0, keys, rows)),
            "x": rng.random(rows) * 10_000,
        }
    )


def boxcars(type_: str, on: str, data: Pair, trains: int) -> Any:
    net = bx.Network("bench")
    left, right = (net.input(name, ts="time", fields=FIELDS) for name in ("l", "r"))
    net.output("out", left.draw(type_, right, on=on, window=bx.time(WINDOW)))
    return bx.preview(net, {"l": data[0], "r": data[1]}, trains=trains)["out"]


def renamed(data: Pair) -> tuple[pl.LazyFrame, pl.LazyFrame]:
    left, right = data
    return left.lazy().select(pl.all().name.prefix("left_")), right.lazy().select(
        pl.all().name.prefix("right_")
    )


def finished(query: pl.LazyFrame) -> Any:
    later = pl.max_horizontal("left_time", "right_time").alias("time")
    columns = [f"{side}_{field}" for side in ("left", "right") for field in FIELDS]
    return query.select(later, *columns).collect().to_arrow(compat_level=pl.CompatLevel.oldest())


def polars_equi(data: Pair) -> Any:
    left, right = renamed(data)
    joined = left.join(right, left_on="left_phone", right_on="right_phone", coalesce=False)
    return finished(joined.filter((pl.col("left_time") - pl.col("right_time")).abs() < WINDOW))


def polars_band(data: Pair) -> Any:
    left, right = renamed(data)
    apart = pl.col("left_x") - pl.col("right_x")
    return finished(
        left.join_where(
            right,
            pl.col("left_time") < pl.col("right_time") + WINDOW,
            pl.col("left_time") > pl.col("right_time") - WINDOW,
            apart < 5,
            apart > -5,
        )
    )


def duck(on: str) -> Callable[[Pair], Any]:
    sides = ", ".join(f"{s}.{f} as {s}_{f}" for s in ("l", "r") for f in FIELDS)
    query = f"select greatest(l.time, r.time) as time, {sides} from l join r on {on}"

    def run(data: Pair) -> Any:
        with duckdb.connect() as connection:
            connection.execute("set threads = 1")
            connection.execute("set preserve_insertion_order = false")
            connection.register("l", data[0].to_arrow())
            connection.register("r", data[1].to_arrow())
            return connection.sql(query).to_arrow_table()

    return run


def measure(work: Callable[[], object]) -> float:
    start = perf_counter()
    work()
    return perf_counter() - start


def compare(title: str, ways: Ways, tuples: int) -> None:
    """All variants must compute the same number of pairs; the ratio is to the best baseline."""
    pairs = {name: work().num_rows for name, work in ways.items()}
    assert len(set(pairs.values())) == 1, pairs
    times: dict[str, list[float]] = {name: [] for name in ways}
    for _ in range(ROUNDS):
        for name, work in ways.items():
            times[name].append(measure(work))
    medians = {name: statistics.median(seconds) for name, seconds in times.items()}
    best = min(seconds for name, seconds in medians.items() if not name.startswith("Boxcars"))
    print(f"{title}: {tuples:,} tuples, {next(iter(pairs.values())):,} pairs, one core")
    for name, seconds in medians.items():
        rate = tuples / seconds / 1e6
        print(f"  {name:20} {seconds * 1e3:7.0f} ms {rate:7.2f} M tuples/s {seconds / best:6.2f} x")


def ours(type_: str, on: str, data: Pair) -> Ways:
    return {
        f"Boxcars, {trains} trains": partial(boxcars, type_, on, data, trains)
        for trains in (1, 10, 100)
    }


def main() -> None:
    keep_memory()
    if duckdb is None:
        print("DuckDB is not installed (pip install duckdb): compared with Polars alone.")
    within = f"l.time < r.time + {WINDOW} and l.time > r.time - {WINDOW}"
    rows = int(1_000_000 * SCALE)
    data = stream(1, rows, 100_000, 1000), stream(2, rows, 100_000, 1000)
    ways: Ways = {"Polars": lambda: polars_equi(data)}
    if duckdb is not None:
        ways["DuckDB"] = lambda: duck(f"l.phone = r.phone and {within}")(data)
    ways |= ours("join", "left.phone = right.phone", data)
    compare(f"equi-join, {WINDOW} s window, 100,000 phones", ways, 2 * rows)

    rows = int(100_000 * SCALE)
    band = stream(1, rows, 100, 10), stream(2, rows, 100, 10)
    ways = {"Polars": lambda: polars_band(band)}
    if duckdb is not None:
        ways["DuckDB"] = lambda: duck(f"{within} and abs(l.x - r.x) < 5")(band)
    ways |= ours("product", "abs(left.x - right.x) < 5", band)
    compare(f"band join, {WINDOW} s window, |dx| < 5", ways, 2 * rows)


if __name__ == "__main__":
    main()
