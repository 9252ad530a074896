"""Stored tables in runs on Spark: same results as a preview, and written exactly once."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pyspark.sql import SparkSession

import boxcars as bx
from boxcars.engine.exec import spark_job
from boxcars.engine.state.checkpoint import Checkpoint
from tests.engine.layout.test_pieces import KINDS, crowded, same, written
from tests.engine.test_transparency import as_columns
from tests.strategies import networks

CALLS = {"time": "int", "caller": "str", "price": "float"}


def counting() -> bx.Network:
    """Three boxes share a table: one reads it, one updates it, one inserts into it."""
    net = bx.Network("counting")
    net.table("seen", key="caller", fields={"caller": "str", "calls": "int"})
    calls, others = (
        net.input(name, ts="time", fields=CALLS, slack=1) for name in ("calls", "others")
    )
    found, new, _ = calls.select("SELECT calls FROM seen WHERE caller = input.caller").named("ask")
    more, _ = others.update("UPDATE seen SET calls = calls + 1 WHERE caller = input.caller").named(
        "more"
    )
    first = new.aggregate(bx.tuples(1), by="caller", n="count()").named("first")
    first.insert("INSERT INTO seen VALUES (input.caller, 1)").named("add")
    net.output("found", found)
    net.output("more", more.aggregate(bx.time(20), by="caller", n="max(calls)").named("most"))
    return net


def data(number: int = 400) -> dict[str, list[dict[str, Any]]]:
    def rows(step: int) -> list[dict[str, Any]]:
        return [
            {"time": n // 4 + n % 2, "caller": f"c{n * n * step % 11}", "price": n % 97 / 10}
            for n in range(number)
        ]

    return {"calls": rows(1), "others": rows(3)}


Go = Callable[..., bx.Run]


@pytest.fixture
def go(spark: SparkSession, tmp_path: Path) -> Go:
    """Start or resume a run of the network."""

    def run(**more: Any) -> bx.Run:
        net = counting()
        sinks = {name: tmp_path / name for name in net.outputs}
        given = {"checkpoint": tmp_path / "check", "epoch_rows": 70, "spark": spark, **more}
        return bx.run(net, data(), sinks, **given)

    return run


def check(running: bx.Run, folder: Path) -> None:
    expected = bx.preview(counting(), data())
    assert running.wait().state == "finished"
    for name, table in expected.items():
        assert table.num_rows
        assert written(folder / name) == table.to_pylist()
    stored = expected.stored["seen"].to_pylist()
    assert sorted(map(str, running.tables()["seen"].to_pylist())) == sorted(map(str, stored))


def test_boxes_that_share_a_table(go: Go, tmp_path: Path) -> None:
    check(go(instances=3), tmp_path)


def test_the_tables_of_a_run_without_a_checkpoint_can_be_had(go: Go, tmp_path: Path) -> None:
    check(go(checkpoint=None), tmp_path)


@pytest.mark.parametrize("point", ["commit", "_swap"])
def test_an_epoch_whose_changes_were_made_is_not_run_again(
    go: Go, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, point: str
) -> None:
    """The database has the changes, the manifest is not written yet, and the run fails."""
    original, left = getattr(Checkpoint, point), [3]

    def breaks(self: Checkpoint, *given: Any) -> Any:
        left[0] -= 1
        if left[0] < 0:
            raise RuntimeError("the disk is gone")
        return original(self, *given)

    with monkeypatch.context() as patch:
        patch.setattr(Checkpoint, point, breaks)
        with pytest.raises(RuntimeError, match="the disk is gone"):
            go().wait()
    check(go(), tmp_path)


def test_every_instance_reads_a_read_only_table(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(spark_job, "worth_a_shuffle", lambda *_: True)
    net = bx.Network("named")
    net.table("names", key="caller", fields={"caller": "str", "name": "str"})
    calls = net.input("calls", ts="time", fields=CALLS)
    counts = calls.aggregate(bx.tuples(2), by="caller", n="count()").named("counts")
    found, missing, _ = counts.select("SELECT name FROM names WHERE caller = input.caller").named(
        "ask"
    )
    net.output("found", found)
    net.output("missing", missing)
    rows = {"calls": data()["calls"]}
    tables = {"names": {"caller": ["c0", "c1", "c4"], "name": ["Ann", "Bob", "Cy"]}}
    sinks = {name: tmp_path / name for name in net.outputs}
    bx.run(net, rows, sinks, tables=tables, instances=3, epoch_rows=150, spark=spark).wait()
    for name, table in bx.preview(net, rows, tables=tables).items():
        assert table.num_rows
        assert written(sinks[name]) == table.to_pylist()


@given(st.data())
@settings(
    max_examples=8,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)
def test_random_networks(
    spark: SparkSession, tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    net = data.draw(networks(boxes=5, only=("store", "store", *KINDS), runnable=True))
    inputs = data.draw(crowded(net))
    sources = {name: as_columns(net, name, inputs) for name in inputs}
    folder = tmp_path_factory.mktemp("random")
    sinks = {name: folder / f"out{number}" for number, name in enumerate(net.outputs)}
    running = bx.run(net, sources, sinks, epoch_rows=25, spark=spark)
    running.wait()
    expected = bx.preview(net, sources)
    for name, table in expected.items():
        assert same(written(sinks[name]), table.to_pylist())
    for name, table in expected.stored.items():
        assert running.tables()[name].equals(table)
