"""An equi-join on a window of 60 s, compared with native Structured Streaming.

The native query keeps its state in memory, which is fastest here.
"""

from functools import partial

import numpy as np
import polars as pl
from _beside import bench, frames, show_native, show_ours
from pyspark.sql import DataFrame
from pyspark.sql import functions as sql

import boxcars as bx

ROWS, KEYS, RATE, FILES, NATIVE = 100_000, 100_000, 555, 20, 6
FIELDS = {"time": "int", "phone": "str", "x": "float"}
ON = """left.phone = right.phone AND right.ts > left.ts - INTERVAL 60 SECONDS
        AND right.ts < left.ts + INTERVAL 60 SECONDS"""


def calls(seed: int, number: int) -> pl.DataFrame:
    rng = np.random.default_rng([seed, number])
    return pl.DataFrame(
        {
            "time": np.arange(number * ROWS, (number + 1) * ROWS) // RATE,
            "phone": rng.integers(0, KEYS, ROWS).astype(str),
            "x": rng.random(ROWS),
        }
    )


def network() -> bx.Network:
    net = bx.Network("join")
    left, right = (net.input(name, ts="time", fields=FIELDS) for name in ("left", "right"))
    joined = left.join(right, on="left.phone = right.phone", window=bx.time(60))
    net.output("out", joined.named("joined"))
    return net


def native(left: DataFrame, right: DataFrame) -> DataFrame:
    joined = left.alias("left").join(right.alias("right"), sql.expr(ON))
    return joined.selectExpr(
        *(f"{side}.{name} AS {side}_{name}" for side in ("left", "right") for name in FIELDS)
    )


def main() -> None:
    with bench() as b:
        print(f"equi-join on 60 s, two streams, {KEYS:,} phones, local[2]; target: 3 times native")
        files = {
            side: b.write(side, frames(FILES, partial(calls, seed)))
            for seed, side in enumerate(("left", "right"))
        }
        few = [
            b.read(b.first(folder, NATIVE), "time long, phone string, x double")
            for folder in files.values()
        ]
        theirs = show_native(2 * ROWS, b.native(native(*few)))
        for rows in (ROWS, 5 * ROWS):
            show_ours(2 * rows, b.ours(network(), files, rows), theirs)


if __name__ == "__main__":
    main()
