"""The cost of idle keys: epochs of 1,000 tuples and active keys, with few and many idle keys.

Tuple windows 2/1 by phone, as in the high mobility network, on Spark with two cores: the state of
each key is its last tuple. The target is that 10 M keys take at most 1.5 times as long as 100 k.
"""

import statistics
import sys
import tempfile
from dataclasses import dataclass, field
from pathlib import Path
from time import perf_counter

from pyspark.sql import SparkSession

import boxcars as bx
from boxcars.connectors.read.sources import Rate
from boxcars.engine.exec.session import make_session

MANY = int(sys.argv[1]) if len(sys.argv) > 1 else 10_000_000
FEW, BUSY, EPOCHS = MANY // 100, 1000, 60
WARM = 10
LOADED = 1_000_000
"""Maximum number of new keys per epoch."""


def network() -> bx.Network:
    net = bx.Network("idle-keys")
    calls = net.input("calls", ts="time", fields={"phone": "str", "time": "int", "x": "float"})
    window = bx.tuples(2, 1)
    net.output(
        "out", calls.aggregate(window, by="phone", x1="first(x)", x2="last(x)").named("pairs")
    )
    return net


def calls(keys: int) -> Rate:
    """One call of each phone, then calls of the active phones, which are evenly distributed."""
    number = f"if(value < {keys}, value, (value % {BUSY}) * {keys // BUSY})"
    return bx.rate(
        None,
        rows=keys + BUSY * EPOCHS,
        phone=f"concat('p', cast({number} as varchar))",
        time="value",
        x="cast(value as double)",
    )


@dataclass
class Clock:
    """Record the seconds between epochs, and stop the run after ``until`` tuples."""

    until: int
    run: bx.Run | None = None
    times: list[float] = field(default_factory=list)
    last: float = field(default_factory=perf_counter)

    def __call__(self, status: bx.Status) -> None:
        now = perf_counter()
        self.times.append(now - self.last)
        self.last = now
        if status.read["calls"] >= self.until and self.run is not None:
            self.run.stop()


def epochs(spark: SparkSession, keys: int, folder: Path) -> list[float]:
    """The seconds of each epoch with active keys, after all keys are in the state."""
    source, sinks = {"calls": calls(keys)}, {"out": folder / "out"}
    check = folder / "check"
    for rows, until in ((min(keys, LOADED), keys), (BUSY, keys + BUSY * EPOCHS)):
        clock = Clock(until)
        clock.run = bx.run(
            network(), source, sinks, checkpoint=check, epoch_rows=rows, spark=spark, tell=clock
        )
        clock.run.wait()
    return clock.times


def main() -> None:
    spark = make_session("local[2]")
    found = {}
    for keys in (FEW, MANY):
        with tempfile.TemporaryDirectory(prefix="boxcars-bench-") as name:
            start = perf_counter()
            times = epochs(spark, keys, Path(name))[WARM:]
            found[keys] = statistics.median(times)
            took = perf_counter() - start
            print(
                f"{keys:12,} keys: an epoch takes {1000 * found[keys]:5.0f} ms (median of "
                f"{len(times)}); with loading {took:.0f} s"
            )
    ratio = found[MANY] / found[FEW]
    print(f"  ratio {ratio:.2f}; target: at most 1.5")
    spark.stop()


if __name__ == "__main__":
    main()
