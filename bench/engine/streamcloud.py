"""The aggregate of StreamCloud's evaluation, compared with native Structured Streaming.

Calls by caller, 60 s every 10 s, count and mean, only those with three calls or more. The native
query keeps its state in memory, which is fastest here.
"""

import numpy as np
import polars as pl
from _beside import bench, frames, show_native, show_ours
from pyspark.sql import DataFrame
from pyspark.sql import functions as sql

import boxcars as bx

ROWS, KEYS, FILES, NATIVE = 200_000, 100_000, 20, 4


def calls(number: int) -> pl.DataFrame:
    rng = np.random.default_rng(number)
    return pl.DataFrame(
        {
            "caller": rng.integers(0, KEYS, ROWS).astype(str),
            "time": np.sort(rng.integers(number * 360, (number + 1) * 360, ROWS)),
            "duration": rng.integers(1, 600, ROWS),
        }
    )


def network() -> bx.Network:
    net = bx.Network("calls")
    fields = {"caller": "str", "time": "int", "duration": "int"}
    stream = net.input("calls", ts="time", fields=fields)
    counts = stream.aggregate(bx.time(60, 10), by="caller", n="count()", mean="avg(duration)")
    net.output("out", counts.named("counts").filter("n >= 3").named("busy"))
    return net


def native(stream: DataFrame) -> DataFrame:
    window = sql.window("ts", "60 seconds", "10 seconds")
    counted = stream.groupBy(window, "caller").agg(
        sql.count("*").alias("n"), sql.avg("duration").alias("mean")
    )
    return counted.filter("n >= 3")


def main() -> None:
    with bench() as b:
        print(f"aggregate 60/10 by caller, {KEYS:,} phones, local[2]")
        files = b.write("calls", frames(FILES, calls))
        few = b.read(b.first(files, NATIVE), "caller string, time long, duration long")
        theirs = show_native(ROWS, b.native(native(few)))
        for rows in (ROWS, 5 * ROWS):
            show_ours(rows, b.ours(network(), {"calls": files}, rows), theirs)


if __name__ == "__main__":
    main()
