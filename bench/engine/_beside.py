"""A network on Spark compared with native Structured Streaming: same files, same two cores.

A file is one epoch or one trigger. Both write Parquet, and both are measured by the median, without
the first ones, which warm up.
"""

import statistics
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter
from typing import Any

import polars as pl
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as sql

import boxcars as bx
from boxcars.engine.exec.session import make_session

IN_MEMORY = "org.apache.spark.sql.execution.streaming.state.HDFSBackedStateStoreProvider"
WARM = 2
"""Number of warm-up epochs and triggers."""

Inputs = Mapping[str, Path]


@dataclass
class Bench:
    """A Spark session with two cores, and a folder for input and output."""

    spark: SparkSession
    folder: Path

    def write(self, name: str, frames: Iterator[pl.DataFrame]) -> Path:
        """Write frames as the files of a folder."""
        folder = self.folder / name
        folder.mkdir()
        for number, frame in enumerate(frames):
            frame.write_parquet(folder / f"part-{number:04d}.parquet")
        return folder

    def first(self, files: Path, number: int) -> Path:
        """A folder with the first of the files."""
        folder = self._new()
        folder.mkdir()
        for path in sorted(files.iterdir())[:number]:
            (folder / path.name).symlink_to(path)
        return folder

    def ours(self, net: bx.Network, inputs: Inputs, rows: int, **options: Any) -> float:
        """The median seconds of an epoch with ``rows`` rows; ``options`` are those of a run."""
        return statistics.median(self.times(net, inputs, rows, **options)[WARM:])

    def times(self, net: bx.Network, inputs: Inputs, rows: int, **options: Any) -> list[float]:
        """The seconds of all epochs."""
        times: list[float] = []
        last, out = [perf_counter()], self._new()

        def tell(_: bx.Status) -> None:
            now = perf_counter()
            times.append(now - last[0])
            last[0] = now

        sinks = {name: out / name for name in net.outputs}
        check = out / "check"
        bx.run(
            net,
            inputs,
            sinks,
            checkpoint=check,
            epoch_rows=rows,
            spark=self.spark,
            tell=tell,
            **options,
        ).wait()
        return times

    def native(self, query: DataFrame) -> float:
        """The seconds of a trigger with data."""
        out = self._new()
        running = (
            query.writeStream.format("parquet")
            .option("path", str(out / "out"))
            .option("checkpointLocation", str(out / "check"))
            .outputMode("append")
            .trigger(availableNow=True)
            .start()
        )
        running.awaitTermination()
        progress = [p for p in running.recentProgress if p.numInputRows]
        return statistics.median(p.durationMs["triggerExecution"] for p in progress[WARM:]) / 1000

    def read(self, files: Path, schema: str) -> DataFrame:
        """The files as a stream, one per trigger; ``ts`` is the time as a Spark timestamp."""
        reader = self.spark.readStream.schema(schema).option("maxFilesPerTrigger", 1)
        stream = reader.parquet(str(files)).withColumn("ts", sql.col("time").cast("timestamp"))
        return stream.withWatermark("ts", "0 seconds")

    def _new(self) -> Path:
        return self.folder / f"run-{sum(1 for _ in self.folder.iterdir())}"


@contextmanager
def bench() -> Iterator[Bench]:
    """A bench whose native queries keep their state in memory, which is fastest here."""
    spark = make_session("local[2]", quick=False)
    spark.conf.set("spark.sql.shuffle.partitions", "2")
    spark.conf.set("spark.sql.streaming.stateStore.providerClass", IN_MEMORY)
    spark.conf.set("spark.sql.streaming.numRecentProgressUpdates", "1000")
    with tempfile.TemporaryDirectory(prefix="boxcars-bench-") as name:
        yield Bench(spark, Path(name))
    spark.stop()


def show_native(rows: int, seconds: float) -> float:
    """Print and return the speed of the native query."""
    print(f"  native, triggers of {rows:9,}  {rows / seconds:12,.0f} tuples/s", flush=True)
    return rows / seconds


def show_ours(rows: int, seconds: float, native: float) -> None:
    """Print our speed and its ratio to the native query."""
    speed = rows / seconds
    print(
        f"  Boxcars, epochs of {rows:10,}  {speed:12,.0f} tuples/s  "
        f"{speed / native:6.1f} times native",
        flush=True,
    )


def frames(number: int, make: Callable[[int], pl.DataFrame]) -> Iterator[pl.DataFrame]:
    """Yield ``number`` frames."""
    return map(make, range(number))
