"""A map and a filter, compared with native Structured Streaming."""

from functools import partial

import numpy as np
import polars as pl
from _beside import bench, frames, show_native, show_ours
from pyspark.sql import DataFrame

import boxcars as bx

KEYS = 100_000
SIZES = {200_000: 12, 1_000_000: 6}
"""Rows per file, and number of files."""


def calls(rows: int, number: int) -> pl.DataFrame:
    rng = np.random.default_rng(number)
    return pl.DataFrame(
        {
            "caller": rng.integers(0, KEYS, rows).astype(str),
            "callee": rng.integers(0, KEYS, rows).astype(str),
            "time": np.arange(number * rows, (number + 1) * rows) // 555,
            "price": rng.random(rows) * 10,
        }
    )


def network() -> bx.Network:
    net = bx.Network("expensive-calls")
    fields = {"caller": "str", "callee": "str", "time": "int", "price": "float"}
    stream = net.input("calls", ts="time", fields=fields)
    expensive = stream.filter("price > 5 AND caller <> callee").named("expensive")
    net.output(
        "out", expensive.map(time="time", caller="caller", cents="price * 100 + 1").named("cents")
    )
    return net


def native(stream: DataFrame) -> DataFrame:
    expensive = stream.filter("price > 5 AND caller <> callee")
    return expensive.selectExpr("time", "caller", "price * 100 + 1 AS cents")


def main() -> None:
    with bench() as b:
        print("map and filter, local[2]; target: 3 times native")
        for rows, number in SIZES.items():
            files = b.write(f"calls-{rows}", frames(number, partial(calls, rows)))
            schema = "caller string, callee string, time long, price double"
            theirs = show_native(rows, b.native(native(b.read(files, schema))))
            show_ours(rows, b.ours(network(), {"calls": files}, rows), theirs)


if __name__ == "__main__":
    main()
