"""Native Structured Streaming, from Parquet files to Parquet files.

The queries are those of bench/engine. Exactly once, with a checkpoint on disk and the state in
memory, which is fastest here. A trigger reads ten files, at most a million rows.
"""

import os
import warnings
from collections.abc import Callable
from pathlib import Path

from _contest import Run, Task, contest
from _engine import equi_join, map_filter, mobility, streamcloud
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as sql

from boxcars.engine.exec.session import make_session

FILES = 10
"""Files per trigger and input."""
IN_MEMORY = "org.apache.spark.sql.execution.streaming.state.HDFSBackedStateStoreProvider"
TIMED = "caller string, time long, duration long"


def sliding(calls: DataFrame) -> DataFrame:
    busy = streamcloud.native(calls)
    return busy.selectExpr("unix_timestamp(window.start) AS time", "caller", "n", "mean")


def aggregates(calls: DataFrame) -> DataFrame:
    window = sql.window("ts", "60 seconds", "10 seconds")
    counts = calls.groupBy(window, "caller").agg(sql.count("*").alias("n"))
    ends = sql.window(sql.window_time("window"), "10 seconds").alias("ends")
    most = counts.groupBy(ends).agg(
        sql.count("*").alias("callers"), sql.max("n").alias("most"), sql.avg("n").alias("mean")
    )
    return most.selectExpr("unix_timestamp(ends.end) - 60 AS time", "callers", "most", "mean")


QUERIES: dict[str, tuple[Callable[..., DataFrame], str]] = {
    "map-filter": (map_filter.native, "caller string, callee string, time long, price double"),
    "sliding": (sliding, TIMED),
    "mobility": (mobility.by_state, mobility.CALLS),
    "join": (equi_join.native, "time long, phone string, x double"),
    "aggregates": (aggregates, TIMED),
}
"""The query of each workload, and the schema of its inputs."""


def session() -> SparkSession:
    spark = make_session("local[2]", quick=False)
    spark.conf.set("spark.sql.shuffle.partitions", "2")
    spark.conf.set("spark.sql.streaming.stateStore.providerClass", IN_MEMORY)
    return spark


def read(spark: SparkSession, folder: Path, schema: str) -> DataFrame:
    reader = spark.readStream.schema(schema).option("maxFilesPerTrigger", FILES)
    stream = reader.parquet(str(folder)).withColumn("ts", sql.col("time").cast("timestamp"))
    return stream.withWatermark("ts", "0 seconds")


def job(task: Task) -> Run:
    spark = session()
    query, schema = QUERIES[task.workload]
    found = query(*(read(spark, folder, schema) for folder in task.folders("parquet").values()))

    def run() -> None:
        writer = found.writeStream.format("parquet").outputMode("append")
        writer = writer.option("checkpointLocation", str(task.out / "checkpoint"))
        writer.trigger(availableNow=True).start(str(task.results)).awaitTermination()

    return run


if __name__ == "__main__":
    os.environ["PYTHONWARNINGS"] = "ignore::FutureWarning"  # of PySpark in workers, about pandas 3
    warnings.simplefilter("ignore", FutureWarning)
    os.environ["PYSPARK_SUBMIT_ARGS"] = "--driver-memory 8g pyspark-shell"  # for its state
    os.environ["PYTHONPATH"] = str(Path(mobility.__file__).parent)  # for the workers
    contest(job)
