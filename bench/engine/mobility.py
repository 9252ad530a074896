"""High mobility (examples/high-mobility.yaml), beside native Structured Streaming.

There is no window of tuples there. Two native queries come near, both with their state in memory:

- the same results but for ties: a function in Python with a state for each phone, its last call
  (applyInPandasWithState; transformWithState needs protobuf and RocksDB);
- all within the JVM, but other results: a join of the stream with itself that finds all pairs of
  calls of a phone that are less than a minute apart.

The first costs its time for each phone in a trigger, the second for each trigger: so the first is
measured with small triggers and with larger ones, and ours with epochs as large and with our own.
"""

import os
import warnings
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from itertools import pairwise
from operator import itemgetter
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
from _beside import Bench, bench, frames, show_native, show_ours
from pyspark.sql import DataFrame
from pyspark.sql import functions as sql
from pyspark.sql.streaming.state import GroupState

import boxcars as bx

KEYS, RATE = 100_000, 555
SIZES = {"by_state": (1_000, 10_000), "by_join": (50_000,)}
"""The calls of a trigger."""
FILES, NATIVE = 50, 5
OWN = 500_000
"""The calls of our own epochs."""
NETWORK = Path(__file__).parents[2] / "examples/high-mobility.yaml"
CALLS = """caller string, callee string, time long, duration long, price double,
           caller_x double, caller_y double, callee_x double, callee_y double"""
PAIRS = "phone string, t1 long, x1 double, y1 double, t2 long, x2 double, y2 double"
NAMES = ["phone", "t1", "x1", "y1", "t2", "x2", "y2"]
LAST = "time long, x double, y double"
FIELDS = ("time", "x", "y")


def calls(rows: int, number: int) -> pl.DataFrame:
    rng = np.random.default_rng(number)
    places = ("caller_x", "caller_y", "callee_x", "callee_y")
    return pl.DataFrame(
        {
            "caller": rng.integers(0, KEYS, rows).astype(str),
            "callee": rng.integers(0, KEYS, rows).astype(str),
            "time": np.arange(number * rows, (number + 1) * rows) // RATE,
            "duration": rng.integers(1, 600, rows),
            "price": rng.random(rows) * 10,
            **{place: rng.random(rows) * 1e4 for place in places},
        }
    )


def pair(key: Any, parts: Iterable[pd.DataFrame], state: GroupState) -> Iterator[pd.DataFrame]:
    """Each call of a phone with the one before it."""
    rows = [row for part in parts for row in part.itertuples(index=False, name=None)]
    rows.sort(key=itemgetter(1))
    if state.exists:
        rows.insert(0, (key[0], *state.get))
    state.update(rows[-1][1:])
    if len(rows) > 1:
        yield pd.DataFrame([(*a, *b[1:]) for a, b in pairwise(rows)], columns=NAMES)


def sightings(stream: DataFrame) -> DataFrame:
    callers = stream.selectExpr("caller AS phone", "time", "ts", "caller_x AS x", "caller_y AS y")
    callees = stream.selectExpr("callee AS phone", "time", "ts", "callee_x AS x", "callee_y AS y")
    return callers.union(callees)


def by_state(stream: DataFrame) -> DataFrame:
    calls = sightings(stream).drop("ts").groupBy("phone")
    return fast(calls.applyInPandasWithState(pair, PAIRS, LAST, "append", "NoTimeout"))


def by_join(stream: DataFrame) -> DataFrame:
    first, second = sightings(stream).alias("a"), sightings(stream).alias("b")
    near = "a.phone = b.phone AND b.ts > a.ts AND b.ts < a.ts + INTERVAL 60 SECONDS"
    names = [
        f"{side}.{name} AS {name[0]}{n}" for n, side in ((1, "a"), (2, "b")) for name in FIELDS
    ]
    return fast(first.join(second, sql.expr(near)).selectExpr("a.phone AS phone", *names))


def fast(pairs: DataFrame) -> DataFrame:
    speed = "sqrt(power(x2 - x1, 2) + power(y2 - y1, 2)) / (t2 - t1)"
    speeds = pairs.filter("t2 > t1").selectExpr("phone", "t1 AS time", f"{speed} AS speed")
    return speeds.filter("speed > 110")


def main() -> None:
    os.environ["PYTHONWARNINGS"] = "ignore::FutureWarning"  # of PySpark in workers, about pandas 3
    warnings.simplefilter("ignore", FutureWarning)
    with bench() as b:
        print(f"high mobility: tuples 2/1 by phone, {KEYS:,} phones, local[2]")
        for query in (by_state, by_join):
            print(f"  {query.__name__}:")
            best = max(compare(b, query, rows) for rows in SIZES[query.__name__])
            files = b.write(f"own-{query.__name__}", frames(6, partial(calls, OWN)))
            show_ours(OWN, b.ours(bx.load(NETWORK), {"calls": files}, OWN), best)


def compare(b: Bench, query: Callable[[DataFrame], DataFrame], rows: int) -> float:
    """Triggers and epochs of so many calls; the speed of the native query."""
    files = b.write(f"{query.__name__}-{rows}", frames(FILES, partial(calls, rows)))
    native = show_native(rows, b.native(query(b.read(b.first(files, NATIVE), CALLS))))
    show_ours(rows, b.ours(bx.load(NETWORK), {"calls": files}, rows), native)
    return native


if __name__ == "__main__":
    main()
