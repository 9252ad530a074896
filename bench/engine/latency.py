"""Latency from source to sink at 1,000, 10,000 and 100,000 tuples per second.

For Boxcars, a client in another thread sends over a socket to a service, the run stores the tuples,
filters them on Spark in epochs, commits, and a client dequeues them; measured from the timestamp of
a tuple to its arrival. Native Structured Streaming generates its rows (source ``rate``), filters
them, and writes Parquet; measured from the time of a row to the end of the write of its batch.
"""

import tempfile
import threading
import time
from pathlib import Path

import numpy as np
import polars as pl
from pyspark.sql import DataFrame, SparkSession

import boxcars as bx
from boxcars.engine.exec.session import make_session, wake_workers
from boxcars.inject import AtRate, Batch, Injector
from boxcars.service.client import Client
from boxcars.service.security import Access
from boxcars.service.server import Server
from boxcars.service.target import Service

RATES = (1_000, 10_000, 100_000)
SECONDS, WARM = 25, 8
"""Seconds for each rate, and the warm-up seconds that do not count."""
BEAT = 0.02
"""Seconds between two batches."""


def network() -> bx.Network:
    net = bx.Network("latency")
    rows = net.input("rows", ts="at", fields={"at": "float", "n": "int"})
    net.output("out", rows.filter("n >= 0"))
    return net


def batches(rate: int) -> list[Batch]:
    size = max(int(rate * BEAT), 1)
    frame = pl.DataFrame({"at": [0.0] * size, "n": range(size)})
    return [{"rows": frame}] * int(SECONDS / (size / rate))


def ours(spark: SparkSession, rate: int) -> list[float]:
    """The latencies of all tuples after the warm-up."""
    found: list[np.ndarray] = []
    with tempfile.TemporaryDirectory(prefix="boxcars-bench-") as folder:
        running = bx.run(
            network(),
            {"rows": "enqueue://"},
            {"out": "dequeue://"},
            checkpoint=folder,
            spark=spark,
        )
        with Server(running, Access(port=0)) as server:
            client, begun = Client(server.access.url), time.time()
            reader = threading.Thread(target=_read, args=(client, found, begun), daemon=True)
            reader.start()
            target = Service(client, {"rows": "rows"})
            Injector(batches(rate), target, AtRate(rate), {"rows": "at"}).inject()
            running.feeds["rows"].finish()
            reader.join(60)
            running.wait(60)
    return [float(seconds) for seconds in np.concatenate(found)]


def _read(client: Client, found: list[np.ndarray], begun: float) -> None:
    for _, table in client.dequeue("out"):
        now, at = time.time(), table["at"].to_numpy()
        found.append((now - at)[at > begun + WARM])


def native(spark: SparkSession, rate: int) -> list[float]:
    """The same for Structured Streaming."""
    found: list[float] = []
    begun = time.time()

    def write(batch: DataFrame, number: int) -> None:
        batch.write.parquet(f"{folder}/out/{number}")
        now = time.time()
        for row in batch.selectExpr("timestamp", "1 AS n").groupBy("timestamp").count().collect():
            at = row["timestamp"].timestamp()
            if at > begun + WARM:
                found.extend([now - at] * row["count"])

    with tempfile.TemporaryDirectory(prefix="boxcars-bench-") as folder:
        rows = spark.readStream.format("rate").option("rowsPerSecond", rate).load()
        query = (
            rows.filter("value >= 0")
            .writeStream.foreachBatch(write)
            .option("checkpointLocation", str(Path(folder) / "check"))
            .start()
        )
        query.awaitTermination(SECONDS)
        query.stop()
    return found


def main() -> None:
    spark = make_session("local[2]", quick=False)
    spark.conf.set("spark.sql.shuffle.partitions", "2")
    wake_workers(spark)
    ours(spark, RATES[0])
    print("  tuples/s           Boxcars p50     p99       native p50     p99   seconds")
    for rate in RATES:
        a, b = ours(spark, rate), native(spark, rate)
        one, two, three, four = (np.percentile(t, p) for t in (a, b) for p in (50, 99))
        print(f"  {rate:8,} {one:20.2f} {two:7.2f} {three:16.2f} {four:7.2f}", flush=True)


if __name__ == "__main__":
    main()
