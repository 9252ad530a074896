"""Time that goes on: frontiers that follow the wall clock, and tuples stamped as they enter."""

import time
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

import boxcars as bx
from tests.engine.checkpoints import go_back
from tests.engine.clocks import FakeClock
from tests.engine.layout.test_pieces import written
from tests.patience import until

START = 1_000_000.0
"""When tests begin, in seconds since 1970."""


def moment(seconds: float) -> datetime:
    """Seconds after the start, as in a row."""
    return datetime.fromtimestamp(START + seconds, UTC).replace(tzinfo=None)


def counting(ts: str, **given: Any) -> bx.Network:
    """Counts per minute and key."""
    net = bx.Network("counting")
    fields = {"k": "str"} if ts == "arrival" else {ts: "timestamp", "k": "str"}
    rows = net.input("rows", ts=ts, fields=fields, **given)
    net.output("counts", rows.aggregate(bx.time(60), by="k", n="count()").named("counts"))
    return net


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> FakeClock:
    """A clock for the runs of a test."""
    fake = FakeClock(START)
    fake.drive(monkeypatch)
    return fake


def put(run: bx.Run, *rows: tuple[float, str]) -> None:
    """Enqueue rows by time and key, and wait until they are read."""
    before = run.status().read.get("rows", 0)
    run.enqueue("rows", [{"t": moment(at), "k": key} for at, key in rows])
    until(lambda: run.status().read.get("rows", 0) == before + len(rows))


def test_windows_close_in_silence(clock: FakeClock, spark: SparkSession, tmp_path: Path) -> None:
    """And a tuple that is older than the wall clock minus the slack is late."""
    net, out = counting("t", clock="wall", slack=10), tmp_path / "out"
    run = bx.run(net, {"rows": "enqueue://"}, {"counts": out}, spark=spark)
    put(run, (1, "a"), (2, "a"), (3, "b"))
    clock.now += 29
    until(lambda: run.status().epoch == 2)
    assert not written(out)  # the minute of the tuples has 20 seconds more, and there is slack
    clock.now += 20
    until(lambda: len(written(out)) == 2)
    assert sorted((row["k"], row["n"]) for row in written(out)) == [("a", 2), ("b", 1)]
    put(run, (38, "late"), (39, "in time"))
    run.stop()
    assert run.stats().boxes["rows"].late == 1


def test_an_empty_network_is_left_alone(
    clock: FakeClock, spark: SparkSession, tmp_path: Path
) -> None:
    """When all windows are closed there are no more epochs."""
    run = bx.run(
        counting("t", clock="wall"),
        {"rows": "enqueue://"},
        {"counts": tmp_path / "out"},
        spark=spark,
    )
    put(run, (1, "a"))
    clock.now += 100
    until(lambda: len(written(tmp_path / "out")) == 1)
    until(lambda: run.status().state == "waiting")
    epoch = run.status().epoch
    clock.now += 100
    put(run, (300, "b"))
    run.stop()
    assert run.status().epoch == epoch + 1


def test_tuples_are_stamped_as_they_enter(
    clock: FakeClock, spark: SparkSession, tmp_path: Path
) -> None:
    net, out = counting("arrival"), tmp_path / "out"
    net.output("rows", net.stream("rows"))
    run = bx.run(
        net, {"rows": "enqueue://"}, {"counts": out, "rows": tmp_path / "rows"}, spark=spark
    )
    put(run, (0, "a"), (0, "b"))
    clock.now += 0.5
    put(run, (0, "a"))
    clock.now += 90
    until(lambda: len(written(out)) == 2)
    run.stop()
    stamps = [(row["k"], row["arrival"]) for row in written(tmp_path / "rows")]
    assert stamps == [("a", moment(0)), ("b", moment(0)), ("a", moment(0.5))]
    assert sorted((row["k"], row["n"]) for row in written(out)) == [("a", 2), ("b", 1)]


@pytest.mark.parametrize("ts", ["t", "arrival"])
def test_a_replay_by_another_clock(
    ts: str,
    clock: FakeClock,
    spark: SparkSession,
    tmp_path: Path,
) -> None:
    """The plan has the times: the epoch that reads, and the one that closes windows, repeat."""
    net, out, check = counting(ts, clock="wall"), tmp_path / "out", tmp_path / "check"
    net.output("rows", net.stream("rows"))
    sinks = {"counts": out, "rows": tmp_path / "rows"}

    def start() -> bx.Run:
        return bx.run(net, {"rows": "enqueue://"}, sinks, checkpoint=check, spark=spark)

    def parts() -> dict[str, bytes]:
        found = [*out.glob("part-*"), *(tmp_path / "rows").glob("part-*")]
        return {str(path): path.read_bytes() for path in found}

    def replay(epoch: int) -> None:
        before, clock.now = parts(), clock.now - 500_000
        go_back(check)
        for folder in sinks.values():
            for part in folder.glob(f"part-{epoch:08d}*"):
                part.unlink()
        assert parts() != before
        again = start()
        until(lambda: again.status().epoch >= epoch)
        again.stop()
        assert again.status().epoch == epoch
        assert parts() == before
        clock.now += 500_000

    run = start()
    put(run, (1, "a"), (2, "b"))
    clock.now += 5
    put(run, (6, "c"))
    run.stop()
    replay(run.status().epoch)
    run = start()
    clock.now += 100
    until(lambda: len(written(out)) == 3)
    run.stop()
    replay(run.status().epoch)


@pytest.mark.parametrize("epoch_rows", [1, 2, 100])
def test_any_cut_gives_the_same(
    epoch_rows: int, clock: FakeClock, spark: SparkSession, tmp_path: Path
) -> None:
    net, out = counting("t", clock="wall"), tmp_path / "out"
    run = bx.run(net, {"rows": "enqueue://"}, {"counts": out}, epoch_rows=epoch_rows, spark=spark)
    put(run, (1, "a"), (2, "b"), (3, "a"), (70, "b"), (71, "c"))
    clock.now += 200
    until(lambda: len(written(out)) == 4)
    run.stop()
    found = [(row["k"], row["n"]) for row in written(out)]
    assert found == [("a", 2), ("b", 1), ("b", 1), ("c", 1)]
    assert run.stats().boxes["rows"].late == 0


def test_the_real_clock(spark: SparkSession, tmp_path: Path) -> None:
    """Without a fake: a window of a second closes by itself."""
    net = bx.Network("n")
    rows = net.input("rows", ts="arrival", fields={"k": "str"})
    net.output("counts", rows.aggregate(bx.time(1), by="k", n="count()").named("counts"))
    out, began = tmp_path / "out", time.time()
    run = bx.run(net, {"rows": "enqueue://"}, {"counts": out}, spark=spark)
    run.enqueue("rows", [{"k": "a"}])
    until(lambda: written(out))
    run.stop()
    (row,) = written(out)
    assert row["arrival"].replace(tzinfo=UTC).timestamp() >= began - 1


@pytest.mark.usefixtures("clock")
def test_a_finite_source_has_no_wall(
    spark: SparkSession, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """Old data is not late; a sentence says that the clock has no effect."""
    net = counting("t", clock="wall")
    rows = [{"t": moment(at), "k": "a"} for at in (-1e5, -9e4)]
    run = bx.run(net, {"rows": rows}, {"counts": tmp_path / "out"}, spark=spark)
    run.wait()
    assert [row["n"] for row in written(tmp_path / "out")] == [1]
    assert caplog.messages == ["input 'rows': its source is finite, so clock: wall has no effect."]


@pytest.mark.usefixtures("clock")
def test_other_sources_are_stamped_by_their_epoch(spark: SparkSession, tmp_path: Path) -> None:
    """Files, rates, scripts and Spark's DataFrames; the time is that of the plan."""
    path = tmp_path / "rows.csv"
    path.write_text("k\na\nb\n")
    sources: list[Any] = [
        path,
        [{"k": "a"}, {"k": "b"}],
        bx.rate(None, rows=2, k="CASE WHEN value = 0 THEN 'a' ELSE 'b' END"),
        bx.script([{"k": "a"}, {"k": "b"}]),
        spark.createDataFrame([("a",), ("b",)], ["k"]),
    ]
    for number, source in enumerate(sources):
        net, out = bx.Network("n"), tmp_path / f"out{number}"
        net.output("rows", net.input("rows", ts="arrival", fields={"k": "str"}))
        bx.run(net, {"rows": source}, {"rows": out}, spark=spark).wait()
        assert [(row["k"], row["arrival"]) for row in written(out)] == [
            ("a", moment(0)),
            ("b", moment(0)),
        ]


def test_a_preview_has_no_wall_clock() -> None:
    """Tuples are a second apart, so that the same data gives the same results."""
    rows = [{"k": "a"}] * 5
    net = bx.Network("n")
    stream = net.input("rows", ts="arrival", fields={"k": "str"})
    net.output("pairs", stream.aggregate(bx.time(2), n="count()").named("pairs"))
    found = bx.preview(net, {"rows": rows})["pairs"].to_pylist()
    assert [(row["arrival"].timestamp(), row["n"]) for row in found] == [
        (datetime(1970, 1, 1, 0, 0, at).timestamp(), n) for at, n in [(0, 2), (2, 2)]
    ]
    wall = counting("t", clock="wall")
    event = counting("t")
    data = [{"t": moment(at), "k": "a"} for at in (0, 1, 70)]
    assert bx.preview(wall, {"rows": data})["counts"] == bx.preview(event, {"rows": data})["counts"]
