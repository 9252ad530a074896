"""``boxcars verify`` says what is damaged, and goes back an epoch with the same output."""

import shutil
from pathlib import Path

import polars as pl
import pytest
from pyspark.sql import SparkSession
from typer.testing import CliRunner, Result

import boxcars as bx
from boxcars.cli import app
from boxcars.engine.state.storage import LocalStorage


def call(*arguments: object) -> Result:
    return CliRunner().invoke(app, ["verify", *map(str, arguments)])


def run(spark: SparkSession, folder: Path) -> bx.Status:
    net = bx.Network("n")
    calls = net.input("calls", ts="t", fields={"t": "int", "k": "str"})
    net.output("out", calls.aggregate(bx.time(10), by="k", n="count()").named("counts"))
    data = pl.DataFrame({"t": range(90), "k": [f"k{n % 5}" for n in range(90)]})
    source = bx.script([*data.to_dicts()[:60], bx.EOF, *data.to_dicts()[60:]])
    sinks = {"out": folder / "out"}
    check = folder / "check"
    running = bx.run(net, {"calls": source}, sinks, checkpoint=check, epoch_rows=15, spark=spark)
    return running.wait()


@pytest.fixture
def folder(spark: SparkSession, tmp_path: Path) -> Path:
    """A run that has read two thirds of its input."""
    assert run(spark, tmp_path).state == "stopped"
    return tmp_path


def states_of(folder: Path, epoch: int) -> list[Path]:
    return sorted((folder / "check" / "state").glob(f"{epoch:08d}-*"))


def test_one_that_is_intact(folder: Path) -> None:
    called = call(folder / "check")
    assert called.exit_code == 0
    assert "check: intact at epoch 4" in called.output


def test_going_back_repeats_the_last_epoch(folder: Path, spark: SparkSession) -> None:
    """It is moved, because workers still have the states in memory that they wrote."""
    whole = folder / "whole"
    shutil.copytree(folder, whole, ignore=shutil.ignore_patterns("whole"))
    moved = folder / "moved"
    shutil.copytree(whole, moved)
    for path in states_of(moved, 4):
        data = bytearray(path.read_bytes())
        data[len(data) // 3] ^= 4
        path.write_bytes(data)
    called = call(moved / "check")
    assert called.exit_code == 1
    assert "epoch 4: " in called.output
    assert "Epoch 3 is intact" in called.output
    with pytest.raises(bx.BoxcarsError, match=r"damaged: its checksum .* `boxcars verify` says"):
        run(spark, moved)
    called = call(moved / "check", "--back")
    assert called.exit_code == 0, called.output
    assert "back at epoch 3" in called.output
    assert run(spark, moved).state == "finished"
    assert run(spark, whole).state == "finished"
    parts = [{p.name: p.read_bytes() for p in (f / "out").iterdir()} for f in (moved, whole)]
    assert parts[0] == parts[1]


def test_an_intact_epoch_stays(folder: Path) -> None:
    """Also if the epoch before it is damaged: going back would lose what is intact."""
    before = (folder / "check" / "head").read_bytes()
    for damaged in (False, True):
        if damaged:
            min((folder / "check" / "epochs").iterdir()).write_bytes(b"")
        called = call(folder / "check", "--back")
        assert "epoch 4 is intact, so it stays as it is" in str(called.exception)
        assert call(folder / "check").exit_code == 0
    assert (folder / "check" / "head").read_bytes() == before


def test_a_file_that_can_not_be_read_is_not_damaged(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    original = LocalStorage.get

    def get(self: LocalStorage, name: str, *given: int) -> bytes:
        if name.startswith("state/00000004"):
            raise bx.BoxcarsError(f"{name}: can't be read: Permission denied.")
        return original(self, name, *given)

    monkeypatch.setattr(LocalStorage, "get", get)
    called = call(folder / "check", "--back")
    assert called.exit_code == 1
    assert "could not be checked" in called.output
    assert "--back" not in called.output


def test_lists_and_ledgers_are_checked(spark: SparkSession, tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("t\n1\n2\n3\n")
    net = bx.Network("n")
    net.output("out", net.input("rows", ts="t", fields={"t": "int"}))
    given: list[bx.Run] = []
    sinks = {"out": bx.callback(lambda *_: given and given[0].stop())}
    source = {"rows": bx.files(tmp_path / "*.csv")}
    check = tmp_path / "check"
    given.append(bx.run(net, source, sinks, checkpoint=check, epoch_rows=1, spark=spark))
    given[0].wait()
    assert call(check).exit_code == 0
    (ledger,) = check.glob("outputs/*/delivered")
    (listed,) = check.glob("inputs/*/files.jsonl")
    for path in (ledger, listed):
        whole = path.read_text()
        path.write_text(whole.replace("1", "2").replace("0", "1"))
        called = call(check)
        assert called.exit_code == 1
        assert path.name in called.output
        path.write_text(whole)
    listed.write_text("")  # it would be listed anew, perhaps in another order
    with pytest.raises(bx.BoxcarsError, match=r"files.jsonl: the checkpoint is damaged"):
        bx.run(net, source, {}, checkpoint=check, epoch_rows=1, spark=spark).wait()


def test_journals_are_checked(spark: SparkSession, tmp_path: Path) -> None:
    """A Spark DataFrame is read through a journal."""
    net = bx.Network("n")
    net.output("out", net.input("rows", ts="t", fields={"t": "int"}))
    frame, check = spark.range(30).withColumnRenamed("id", "t"), tmp_path / "check"
    given: list[bx.Run] = []
    sinks = {"out": bx.callback(lambda *_: given and given[0].stop())}
    given.append(bx.run(net, {"rows": frame}, sinks, checkpoint=check, epoch_rows=4, spark=spark))
    given[0].wait()
    assert call(check).exit_code == 0
    path = max(check.glob("inputs/*/batches/*/*.parquet"))
    path.write_bytes(path.read_bytes()[:-1])
    called = call(check)
    assert called.exit_code == 1
    assert f"{path.name}: its checksum does not match" in called.output.replace("\n", " ")
    with pytest.raises(bx.BoxcarsError, match=r"parquet: the checkpoint is damaged"):
        bx.run(net, {"rows": frame}, sinks, checkpoint=check, epoch_rows=4, spark=spark).wait()


def test_when_both_are_damaged(folder: Path) -> None:
    for path in (folder / "check" / "epochs").iterdir():
        path.write_bytes(path.read_bytes()[:-1])
    called = call(folder / "check")
    assert called.exit_code == 1
    assert "Restore it from a backup" in called.output
    (folder / "check" / "head").write_bytes(b"")
    called = call(folder / "check")
    assert "head: it does not begin as a head does. Restore" in str(called.exception)


def test_what_is_no_checkpoint(tmp_path: Path) -> None:
    assert "this is not the checkpoint of a run" in str(call(tmp_path).exception)
    assert "there is no such folder" in str(call(tmp_path / "none").exception)
