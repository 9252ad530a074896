"""Statistics of a run: equal to those of a preview, continued after a restart, and bounded."""

import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from pyspark.sql import SparkSession
from typer.testing import CliRunner

import boxcars as bx
from boxcars.cli import app
from boxcars.commands.foreground import progress_line
from boxcars.engine.layout.pieces import Shape, lay_out
from boxcars.engine.measure.counters import BoxTotals, Counts, Totals, sum_counts
from boxcars.engine.stats.latency import Latency
from boxcars.engine.stats.run_stats import (
    FOR_LATENCIES,
    FOR_RATES,
    History,
    OutputStats,
    PieceStats,
    RunBoxStats,
)
from tests.engine.test_run import calls, network

COUNTED = ("tuples_in", "tuples_out", "late", "dead")


def counted(stats: bx.RunStats) -> dict[str, list[int]]:
    return {name: [getattr(box, kind) for kind in COUNTED] for name, box in stats.boxes.items()}


def expected(net: bx.Network, data: Any) -> dict[str, list[int]]:
    found = bx.preview(net, {"calls": data}, trains=4).stats
    return {name: [b.tuples_in, b.total_out, b.late, b.dead] for name, b in found.items()}


def with_records(folder: Path) -> Path:
    """Calls, some of which are late, and some are dead letters."""
    rows = calls(800).with_columns(pl.col("time").cast(pl.String))
    broken = pl.int_range(pl.len()) % 100 == 50
    file = folder / "calls.csv"
    rows.with_columns(time=pl.when(broken).then(pl.lit("x")).otherwise("time")).write_csv(file)
    return file


def test_they_are_those_of_a_preview(spark: SparkSession, tmp_path: Path) -> None:
    net, file = network(), with_records(tmp_path)
    running = bx.run(net, {"calls": file}, epoch_rows=200, instances=3, spark=spark)
    running.wait()
    stats = running.stats()
    assert counted(stats) == expected(net, file)
    assert stats.boxes["calls"].late > 0
    assert stats.boxes["calls"].dead == 8
    assert {name: output.tuples for name, output in stats.outputs.items()} == {
        name: table.num_rows for name, table in bx.preview(net, {"calls": file}).items()
    }


def test_utility_of_tuples(spark: SparkSession) -> None:
    """The mean of a utility graph over the values of an output, also for null and NaN."""
    net = bx.Network("worth")
    rows = net.input("rows", ts="t", fields={"t": "int", "x": "float"})
    graph = {"value": [[0, 1], [100, 0]], "value_field": "x"}
    net.output("valued", rows, qos=graph)
    net.output("nothing", rows.filter("x < -1000"), qos=graph)
    net.output("plain", rows)
    data = {"t": [1, 2, 3, 4, 5], "x": [-10.0, 25.0, 200.0, None, float("nan")]}
    running = bx.run(net, {"rows": data}, epoch_rows=2, spark=spark)
    running.wait()
    outputs = running.stats().outputs
    assert outputs["valued"].utility == pytest.approx((1 + 0.75) / 5)
    assert (outputs["nothing"].utility, outputs["plain"].utility) == (None, None)
    assert "0.35" in str(running.stats())


def test_pieces_add_up_to_their_box(spark: SparkSession) -> None:
    running = bx.run(network(), {"calls": calls(900)}, epoch_rows=300, instances=3, spark=spark)
    running.wait()
    stats = running.stats()
    counts = stats.boxes["counts"]
    assert [len(box.pieces) for box in stats.boxes.values()] == [1, 1, 3, 3]
    assert all(piece.tuples_in and piece.state_rows for piece in counts.pieces)
    for kind in (*COUNTED, "queue", "state_rows", "state_bytes"):
        assert getattr(counts, kind) == sum(getattr(piece, kind) for piece in counts.pieces)
    for kind in ("seconds", "in_rate", "out_rate"):
        whole = sum(getattr(piece, kind) for piece in counts.pieces)
        assert getattr(counts, kind) == pytest.approx(whole)
    assert counts.selectivity == counts.tuples_out / counts.tuples_in
    assert counts.cost == pytest.approx(1e6 * counts.seconds / counts.tuples_in)
    assert counts.seconds > 0
    assert stats.boxes["calls"].seconds > 0
    times = [piece.latency or 0.0 for piece in counts.pieces]
    assert all(0 < took < piece.seconds for took, piece in zip(times, counts.pieces, strict=True))
    assert min(times) <= (counts.latency or 0.0) <= max(times)


def test_latencies_are_in_order_and_tell_of_outputs_that_gave_something(
    spark: SparkSession,
) -> None:
    net = bx.Network("n")
    numbers = net.input("numbers", ts="t", fields={"t": "int"})
    net.output("all", numbers.filter("t >= 0"))
    net.output("none", numbers.filter("t < 0"))
    running = bx.run(net, {"numbers": {"t": list(range(50))}}, epoch_rows=10, spark=spark)
    status = running.wait()
    stats = running.stats()
    latency = stats.outputs["all"].latency
    assert latency is not None
    assert 0 < latency.p50 <= latency.p95 <= latency.p99 <= status.seconds
    assert stats.p95 == latency.p95
    assert stats.outputs["none"].latency is None
    assert (
        stats.in_rate == pytest.approx(stats.outputs["all"].rate) == pytest.approx(stats.out_rate)
    )
    assert stats.in_rate >= 50 / status.seconds
    assert "all" in str(stats)
    assert json.loads(json.dumps(stats.to_plain()))["outputs"]["all"]["tuples"] == 50


def test_totals_go_on_after_a_restart_and_pieces_if_they_are_the_same(
    spark: SparkSession, tmp_path: Path
) -> None:
    net, data = network(), calls(900)
    epochs: list[bx.Status] = []

    def go(instances: int, last: int) -> bx.RunStats:
        def tell(status: bx.Status) -> None:
            epochs.append(status)
            if status.epoch == last:
                running.stop()

        running = bx.run(
            net,
            {"calls": data},
            checkpoint=tmp_path,
            epoch_rows=150,
            instances=instances,
            spark=spark,
            tell=tell,
        )
        running.wait()
        return running.stats()

    first = go(2, 2).boxes["counts"]
    same = go(2, 4).boxes["counts"]
    assert sum(piece.tuples_in for piece in same.pieces) == same.tuples_in > first.tuples_in
    other = go(3, 99)
    assert counted(other) == expected(net, data)
    pieces = other.boxes["counts"].pieces
    assert len(pieces) == 3
    assert sum(p.tuples_in for p in pieces) == other.boxes["counts"].tuples_in - same.tuples_in
    assert sum(p.in_rate for p in pieces) == pytest.approx(other.boxes["counts"].in_rate)
    assert [status.epoch for status in epochs] == [1, 2, 3, 4, 5, 6]


def test_a_finished_run_has_its_totals(spark: SparkSession, tmp_path: Path) -> None:
    def go() -> bx.RunStats:
        running = bx.run(network(), {"calls": calls(300)}, checkpoint=tmp_path, spark=spark)
        running.wait()
        return running.stats()

    first, again = go(), go()
    assert counted(again) == counted(first)
    lately = {**dict.fromkeys(("in_rate", "out_rate", "cpu", "share"), 0.0), "latency": None}
    assert again.boxes["counts"].pieces == tuple(
        PieceStats(**{**asdict(piece), **lately}) for piece in first.boxes["counts"].pieces
    )
    assert again.outputs["counts"].latency is None


QUEUES = """
name: queues
inputs:
  a: {ts: t, slack: 5, fields: {t: int, k: int}}
  b: {ts: t, fields: {t: int, k: int}}
boxes:
  both: {type: union, in: [a, b]}
  joined: {type: join, in: [a, b], on: left.k = right.k, window: {time: 3}}
  waits: {type: waitfor, in: [a, b], on: left.k = right.k, timeout: 3}
  values: {type: resample, in: [a, b], window: {time: 3}, fields: {near: avg(k)}}
  sorted: {type: bsort, in: b, by: k, slack: 4}
  moved: {type: map, in: b, fields: {t: abs(t)}}
  slow: {type: aggregate, in: moved, window: {tuples: 2, slack: 4}, fields: {n: count()}}
outputs:
  o: {from: both}
  p: {from: joined}
  q: {from: waits}
  r: {from: values}
  s: {from: sorted}
  u: {from: slow}
"""


def test_queues(spark: SparkSession) -> None:
    """Input a is at 99 and releases tuples up to 94; b is at 49 and holds all others back."""
    net = bx.loads(QUEUES)
    a = bx.script([*({"t": t, "k": t} for t in range(100)), bx.EOF])
    b = bx.script([*({"t": t, "k": t} for t in range(50)), bx.EOF])
    running = bx.run(net, {"a": a, "b": b}, spark=spark)
    running.wait()
    queues = {name: box.queue for name, box in running.stats().boxes.items()}
    assert queues["a"] == 6
    assert queues["b"] == 1
    assert queues["both"] == queues["joined"] == queues["waits"] == 94 - 49
    assert 0 < queues["values"] <= 94
    assert queues["sorted"] == 5
    assert queues["slow"] == 4


class TestHistory:
    def test_it_stays_small(self) -> None:
        net = network()
        layout = lay_out(net.check().or_raise(), Shape(1, 4))
        history = History(Totals(), 0.0)
        for epoch in range(1, 1001):
            totals = Totals({"calls": BoxTotals(Counts(tuples_in=100 * epoch))}, {"counts": epoch})
            took = 9.0 if epoch < 1000 - FOR_LATENCIES else 0.25
            history.note(epoch - took, float(epoch), totals, {"counts": 1}, {})
        assert len(history._marks) == FOR_RATES + 1
        assert len(history._epochs) == FOR_LATENCIES
        stats = history.stats(layout)
        assert stats.boxes["calls"].in_rate == pytest.approx(100)
        assert stats.outputs["counts"].latency == Latency(0.25, 0.25, 0.25)

    def test_waiting_lowers_rates(self) -> None:
        layout = lay_out(network().check().or_raise(), Shape(1, 4))
        history = History(Totals(), 0.0)
        history.note(0.0, 1.0, Totals({"calls": BoxTotals(Counts(tuples_in=100))}, {}), {}, {})
        assert history.stats(layout).in_rate == 100
        assert history.stats(layout, now=10.0).in_rate == 10

    def test_nothing_yet(self) -> None:
        layout = lay_out(network().check().or_raise(), Shape(1, 4))
        stats = History(Totals(), 0.0).stats(layout)
        assert stats.p95 is None
        assert stats.in_rate == stats.out_rate == 0
        assert stats.boxes["counts"].cost is None
        assert "counts" in str(stats)


@pytest.mark.usefixtures("spark")
def test_the_command_line_shows_them_if_asked(tmp_path: Path) -> None:
    bx.save(network(), tmp_path / "net.yaml")
    calls(100).write_parquet(tmp_path / "calls.parquet")
    where = ["--source", f"calls={tmp_path}/calls.parquet"]
    done = CliRunner().invoke(app, ["run", str(tmp_path / "net.yaml"), *where, "--stats"])
    assert done.exit_code == 0
    assert [line.split()[0] for line in done.stderr.splitlines() if line] == [
        *("box", "calls", "cut", "counts", "pairs"),
        *("output", "counts", "pairs", "late"),
    ]


def test_the_progress_line() -> None:
    status = bx.Status("running", 3, {"calls": 3000}, {"o": 4}, 2.0)
    latency = Latency(0.1, 0.25, 0.5)
    boxes = {"calls": RunBoxStats(in_rate=1500.4, type="input"), "box": RunBoxStats(in_rate=9.0)}
    stats = bx.RunStats(boxes, {"o": OutputStats(4, 2.0, latency), "p": OutputStats()})
    assert progress_line(status, stats) == (
        "epoch 3: 3,000 tuples in (1,500/s), 4 out (2/s), latency p95 0.25 s, 2.0 s"
    )


def test_the_table() -> None:
    box = RunBoxStats(20, 10, late=3, state_rows=7, state_bytes=2500, type="filter", in_rate=5.0)
    stats = bx.RunStats({"cut": box}, {"o": OutputStats(10, 2.5, Latency(0.1, 0.2, 0.3))})
    assert str(stats).splitlines() == [
        "box  type    pieces  in  in/s  out  out/s  out:in  µs  queue  rows   state  late",
        "cut  filter       0  20     5   10      0                  0     7  2.5 kB     3",
        "",
        "output  tuples  tuples/s  latency p50      p95      p99",
        "o           10         2      0.100 s  0.200 s  0.300 s",
    ]


def test_sums() -> None:
    one, two = Counts(5, 4, 3, 2, 1.0, 10, 20, 30), Counts(1, 1, 1, 1, 0.5, 7, 8, 9)
    assert one.then(two) == Counts(6, 5, 4, 3, 1.5, 7, 8, 9)
    assert sum_counts([one, two]) == Counts(6, 5, 4, 3, 1.5, 17, 28, 39)
    assert sum_counts([]) == Counts()
