"""A worker that dies during an epoch: Spark retries its task."""

import os
import signal
from pathlib import Path

import polars as pl
import pytest
from pyspark.sql import SparkSession

import boxcars as bx
from boxcars.engine.exec import spark_job
from tests.engine.layout.test_pieces import written


def die_once(train: pl.DataFrame) -> pl.DataFrame:
    """Kill this process, the first time that tuples arrive."""
    mark = Path(train["mark"][0]) if train.height else None
    if mark is not None and not mark.exists():
        mark.touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return train


@pytest.mark.parametrize("shuffles", [False, True])
def test_a_worker_that_is_killed(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, shuffles: bool
) -> None:
    monkeypatch.setattr(spark_job, "worth_a_shuffle", lambda *_: shuffles)
    net = bx.Network("dying")
    calls = net.input("calls", ts="t", fields={"t": "int", "k": "str", "mark": "str"})
    pairs = calls.aggregate(bx.tuples(2, 1), by="k", n="count()", mark="last(mark)").named("pairs")
    net.output("out", pairs.apply(die_once).named("dies"))
    data = [{"t": n, "k": f"k{n % 3}", "mark": str(tmp_path / "mark")} for n in range(60)]
    sinks = {"out": tmp_path / "out"}
    running = bx.run(net, {"calls": data}, sinks, epoch_rows=20, instances=2, spark=spark)
    assert running.wait().state == "finished"
    assert (tmp_path / "mark").exists()
    assert written(tmp_path / "out") == bx.preview(net, {"calls": data})["out"].to_pylist()
