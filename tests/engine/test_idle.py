"""An idle input does not hold the others back for longer than its idle timeout."""

import time
from pathlib import Path

import polars as pl
from pyspark.sql import SparkSession

import boxcars as bx
from tests.engine.checkpoints import go_back
from tests.engine.layout.test_pieces import written
from tests.patience import until

FIELDS = {"t": "int", "k": "str"}


def network(idle: float | None) -> bx.Network:
    net = bx.Network("two")
    one, two = (net.input(name, ts="t", fields=FIELDS, idle=idle) for name in ("one", "two"))
    net.output("both", (one | two).named("both"))
    return net


def put(folder: Path, name: str, times: list[int]) -> None:
    folder.mkdir(exist_ok=True)
    part = folder / f".{name}"
    pl.DataFrame({"t": times, "k": [name] * len(times)}).write_parquet(part)
    part.rename(folder / f"{name}.parquet")


def test_a_silent_input(spark: SparkSession, tmp_path: Path) -> None:
    """Tuples before the watermark that was assumed for it are late, and counted."""
    (tmp_path / "two").mkdir()
    put(tmp_path / "one", "a", [1, 2, 3, 9])
    sources = {name: bx.files(tmp_path / name, follow=True) for name in ("one", "two")}
    out = tmp_path / "out"
    running = bx.run(network(idle=0.3), sources, {"both": out}, spark=spark)
    until(lambda: [row["t"] for row in written(out)] == [1, 2, 3])
    put(tmp_path / "two", "b", [4, 9, 10])
    put(tmp_path / "one", "c", [11, 12])
    until(lambda: [row["t"] for row in written(out)] == [1, 2, 3, 9, 9, 10, 11])
    running.stop()
    assert running.stats().boxes["two"].late == 1


def test_without_patience_it_is_waited_for(spark: SparkSession, tmp_path: Path) -> None:
    (tmp_path / "two").mkdir()
    put(tmp_path / "one", "a", [1, 2, 3, 9])
    sources = {name: bx.files(tmp_path / name, follow=True) for name in ("one", "two")}
    running = bx.run(network(idle=None), sources, {"both": tmp_path / "out"}, spark=spark)
    until(lambda: running.status().epoch == 1)
    time.sleep(0.5)
    assert not written(tmp_path / "out")
    put(tmp_path / "two", "b", [2])
    until(lambda: [row["t"] for row in written(tmp_path / "out")] == [1])
    running.stop()


def test_a_repeated_epoch_takes_the_input_as_far_again(spark: SparkSession, tmp_path: Path) -> None:
    """The plan of the epoch has the watermark, so a replay does not depend on the clock."""
    (tmp_path / "two").mkdir()
    put(tmp_path / "one", "a", [1, 2, 3, 9])
    sources = {name: bx.files(tmp_path / name, follow=True) for name in ("one", "two")}
    check, out = tmp_path / "check", tmp_path / "out"
    running = bx.run(network(0.2), sources, {"both": out}, checkpoint=check, spark=spark)
    until(lambda: running.status().epoch == 2)
    running.stop()
    go_back(check)
    for part in out.iterdir():
        part.unlink()
    running = bx.run(network(0.2), sources, {"both": out}, checkpoint=check, spark=spark)
    until(lambda: running.status().epoch >= 2)
    running.stop()
    assert [row["t"] for row in written(out)] == [1, 2, 3]
