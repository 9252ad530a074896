"""A run on Spark beside native Structured Streaming: the aggregate of StreamCloud's evaluation.

Calls by caller, 60 s every 10 s, count and mean, only those with three calls or more; from Parquet
files, on two cores. The peer keeps its state in memory, which is its fastest way here. Then the
fixed cost of a small epoch: 1,000 tuples, from file to file.
"""

import statistics
import sys
import tempfile
from pathlib import Path
from time import perf_counter

import numpy as np
import polars as pl
from pyspark.sql import SparkSession
from pyspark.sql import functions as sql

import boxcars as bx
from boxcars.engine.session import make_session

ROWS = int(sys.argv[1]) if len(sys.argv) > 1 else 4_000_000
NATIVE = ROWS // 10
KEYS, FILES = 100_000, 20


def generate(folder: Path) -> None:
    """Calls in files, in the order of their times."""
    rng = np.random.default_rng(1)
    folder.mkdir()
    per = ROWS // FILES
    for number in range(FILES):
        pl.DataFrame(
            {
                "caller": rng.integers(0, KEYS, per).astype(str),
                "time": np.sort(rng.integers(number * 360, (number + 1) * 360, per)),
                "duration": rng.integers(1, 600, per),
            }
        ).write_parquet(folder / f"part-{number:03d}.parquet")


def network() -> bx.Network:
    net = bx.Network("calls")
    fields = {"caller": "str", "time": "int", "duration": "int"}
    calls = net.input("calls", ts="time", fields=fields)
    counts = calls.aggregate(bx.time(60, 10), by="caller", n="count()", mean="avg(duration)")
    net.output("out", counts.named("counts").filter("n >= 3").named("busy"))
    return net


def epochs(spark: SparkSession, files: Path, rows: int, out: Path) -> list[float]:
    """The seconds that each epoch took."""
    times, last = [], [perf_counter()]

    def tell(_status: bx.Status) -> None:
        now = perf_counter()
        times.append(now - last[0])
        last[0] = now

    checkpoint = out / "check"
    sinks = {"out": out / "out"}
    source = {"calls": files}
    bx.run(
        network(), source, sinks, checkpoint=checkpoint, epoch_rows=rows, spark=spark, tell=tell
    ).wait()
    return times


def native(spark: SparkSession, files: Path, out: Path) -> float:
    """Seconds of the same query in Structured Streaming, over a tenth of the files."""
    few = out / "few"
    few.mkdir(parents=True)
    for path in sorted(files.iterdir())[: FILES * NATIVE // ROWS]:
        (few / path.name).symlink_to(path)
    spark.conf.set("spark.sql.shuffle.partitions", "2")
    calls = (
        spark.readStream.schema("caller string, time long, duration long")
        .option("maxFilesPerTrigger", 1)
        .parquet(str(few))
        .withColumn("ts", sql.col("time").cast("timestamp"))
        .withWatermark("ts", "0 seconds")
    )
    counts = calls.groupBy(sql.window("ts", "60 seconds", "10 seconds"), "caller").agg(
        sql.count("*").alias("n"), sql.avg("duration").alias("mean")
    )
    start = perf_counter()
    query = (
        counts.filter("n >= 3")
        .writeStream.format("parquet")
        .option("path", str(out / "native"))
        .option("checkpointLocation", str(out / "native-check"))
        .outputMode("append")
        .trigger(availableNow=True)
        .start()
    )
    query.awaitTermination()
    return perf_counter() - start


def main() -> None:
    spark = make_session("local[2]")
    with tempfile.TemporaryDirectory(prefix="boxcars-bench-") as name:
        folder = Path(name)
        generate(folder / "cdr")
        print(f"aggregate 60/10 by caller, {ROWS:,} calls, {KEYS:,} phones, local[2]")
        epochs(spark, folder / "cdr", ROWS // 4, folder / "warm")
        theirs = NATIVE / native(spark, folder / "cdr", folder / "native")
        print(f"  native Structured Streaming  {theirs:12,.0f} tuples/s ({NATIVE:,} calls)")
        for rows in (ROWS // 4, ROWS // 20):
            seconds = statistics.median(epochs(spark, folder / "cdr", rows, folder / f"{rows}")[1:])
            ours = rows / seconds
            print(
                f"  Boxcars, epochs of {rows:9,}  {ours:12,.0f} tuples/s   "
                f"{ours / theirs:5.1f} times native"
            )
        small = folder / "small"
        small.mkdir()
        pl.read_parquet(folder / "cdr/part-000.parquet")[:40_000].write_parquet(small / "a.parquet")
        times = epochs(spark, small, 1000, folder / "small-out")[5:]
        print(f"  an epoch of 1,000 tuples: {1000 * statistics.median(times):.0f} ms, median")
    spark.stop()


if __name__ == "__main__":
    main()
