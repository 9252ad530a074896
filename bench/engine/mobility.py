"""High mobility (examples/high-mobility.yaml), compared with native Structured Streaming.

Structured Streaming has no tuple windows. Two native queries are similar, with state in memory:

- the same results except for ties: a stateful Python function that stores the last call of each
  phone (applyInPandasWithState; transformWithState needs protobuf and RocksDB);
- all within the JVM, but different results: a self-join that finds all pairs of calls of a phone
  that are less than a minute apart.

The first has a cost per phone in a trigger, the second per trigger: so the first is measured with
small and larger triggers, and Boxcars with epochs of the same sizes and of its usual size.
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
"""Calls per trigger."""
FILES, NATIVE = 50, 5
OWN = 500_000
"""Calls per epoch, for the usual size of epochs."""
NETWORK = Path(__file__).parents[2] / "examples/high-mobility.yaml"
CALLS = """caller string, callee string, time long, duration long, price double,
           caller_x double, caller_y double, callee_x double, callee_y double"""
PAIRS = "phone string, t1 long, x1 double, y1 double, t2 long, x2 double, y2 double"
NAMES = ["phone", "t1", "x1", "y1", "t2", "x2", "y2"]
LAST = "time long, x double, y double"
FIELDS = ("time", "x", "y")


def calls(rows: int, number: int) -> pl.DataFrame:
    rng = np.random.default_rng(number)
    coordinates = ("caller_x", "caller_y", "callee_x", "callee_y")
    return pl.DataFrame(
        {
            "caller": rng.integers(0, KEYS, rows).astype(str),
            "callee": rng.integers(0, KEYS, rows).astype(str),
            "time": np.arange(number * rows, (number + 1) * rows) // RATE,
            "duration": rng.integers(1, 600, rows),
            "price": rng.random(rows) * 10,
            **{name: rng.random(rows) * 1e4 for name in coordinates},
        }
    )


def pair(key: Any, parts: Iterable[pd.DataFrame], state: GroupState) -> Iterator[pd.DataFrame]:
    """Each call of a phone with the previous one."""
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
    """Compare triggers and epochs of ``rows`` calls; return the speed of the native query."""
    files = b.write(f"{query.__name__}-{rows}", frames(FILES, partial(calls, rows)))
    native = show_native(rows, b.native(query(b.read(b.first(files, NATIVE), CALLS))))
    show_ours(rows, b.ours(bx.load(NETWORK), {"calls": files}, rows), native)
    return native


if __name__ == "__main__":
    main()
