"""A run that tests kill: ``python -m tests.engine.killed_run FOLDER INSTANCES SHUFFLE``.

It reads ``FOLDER/calls``, writes ``FOLDER/out``, and prints the number of each epoch.
"""

import os
import sys
from pathlib import Path
from typing import Any
from unittest.mock import patch

import polars as pl
import pyarrow as pa

import boxcars as bx
from boxcars.engine.exec import spark_job
from tests.engine.killing import arm

CALLS = {"time": "int", "caller": "str", "price": "float"}
VISITS = {"time": "int", "who": "str", "place": "int"}
EPOCH_ROWS = 50


def network() -> bx.Network:
    """Windows by time and by tuples, a join of two inputs, and a chain of three levels."""
    net = bx.Network("killed")
    calls = net.input("calls", ts="time", fields=CALLS, slack=3)
    visits = net.input("visits", ts="time", fields=VISITS)
    cheap, expensive = calls.filter("price < 5", otherwise=True).named("cut")
    counts = expensive.aggregate(bx.time(20, 5), by="caller", n="count()", sum="sum(price)")
    net.output("counts", counts.named("counts"))
    pairs = cheap.aggregate(bx.tuples(3, 1, timeout=9), by="caller", last="last(price)")
    net.output("pairs", pairs.named("pairs"))
    joined = pairs.join(visits, on="left.caller = right.who", window=bx.time(6)).named("joined")
    net.output("joined", joined)
    per_place = joined.aggregate(bx.time(10), by="right_place", n="count()")
    net.output("places", per_place.named("places"))
    net.output("late", calls.late)
    return net


def write_calls(folder: Path, number: int = 1200) -> None:
    """The calls as files, some of them out of order."""
    folder.mkdir(parents=True)
    frame = pl.DataFrame(
        {
            "time": [n // 10 + n * 7 % 5 for n in range(number)],
            "caller": [f"c{n * n % 37}" for n in range(number)],
            "price": [n * 31 % 97 / 10 for n in range(number)],
        }
    )
    for part in range(5):
        size = number // 5
        frame[part * size : (part + 1) * size].write_parquet(folder / f"{part}.parquet")


def visits(number: int = 600) -> pl.DataFrame:
    """The visits, in order."""
    return pl.DataFrame(
        {
            "time": [n // 5 for n in range(number)],
            "who": [f"c{n * 3 % 37}" for n in range(number)],
            "place": [n % 7 for n in range(number)],
        }
    )


def live(folder: Path, **options: Any) -> bx.Status:
    """Run from the checkpoint to the end, with one output for each kind of sink."""
    out = folder / "out"
    called = out / "called"
    called.mkdir(parents=True, exist_ok=True)

    def note(table: pa.Table, epoch: int) -> None:
        (called / f"{epoch}.json").write_text(str(table.to_pylist()))

    sinks: dict[str, Any] = {name: out / name for name in ("counts", "pairs", "late")}
    sinks |= {"joined": out / "joined.csv", "places": bx.callback(note)}
    sources = {"calls": folder / "calls", "visits": visits()}
    check = folder / "check"
    return bx.run(
        network(), sources, sinks, checkpoint=check, epoch_rows=EPOCH_ROWS, **options
    ).wait()


def main() -> None:
    """Run until something kills it."""
    folder, instances, shuffle = Path(sys.argv[1]), int(sys.argv[2]), sys.argv[3] == "shuffle"
    os.environ["BOXCARS_ROOT"] = str(os.getpid())
    armed = "--conf spark.python.daemon.module=tests.engine.killed_daemon"
    os.environ["PYSPARK_SUBMIT_ARGS"] = f"{armed} pyspark-shell"
    if shuffle:
        patch.object(spark_job, "worth_a_shuffle", return_value=True).start()
    arm("driver")
    live(
        folder,
        instances=instances,
        master="local[2]",
        tell=lambda status: print(status.epoch, flush=True),
    )
    print("finished", flush=True)


if __name__ == "__main__":
    main()
