"""The history of a run, its last tuples, and the command of the studio."""

from __future__ import annotations

import socket
from pathlib import Path

import polars as pl
from typer.testing import CliRunner

from boxcars.cli import app as boxcars
from boxcars.studio.runs.history import History, measured
from boxcars.studio.runs.results import SHOWN, Tail, with_last_rates

PIECE = {"cpu": 0.25, "latency": 0.75}
STATS = {
    "boxes": {
        "calls": {"type": "input", "in_rate": 12.3456789, "queue": 3, "cost": None, "pieces": []},
        "few": {"type": "filter", "in_rate": 5.0, "queue": 0, "latency": 0.5, "pieces": [PIECE]},
    },
    "outputs": {"cheap": {"rate": 1.5, "tuples": 7, "latency": {"p50": 1, "p95": 2, "p99": 3}}},
}


def test_series_have_names() -> None:
    found = measured(STATS, 0.5, 1000)
    assert found["run/in_rate"] == found["box/calls/in_rate"] == 12.3457
    assert (found["run/cpu"], found["run/memory"], found["run/p95"]) == (0.5, 1000, 2)
    assert (found["instance/few/0/cpu"], found["box/few/instances"]) == (0.25, 1)
    assert (found["output/cheap/p99"], found["box/calls/cost"]) == (3, None)
    assert (found["box/few/latency"], found["instance/few/0/latency"]) == (0.5, 0.75)


def test_a_long_history_gets_coarser_and_stays_whole(tmp_path: Path) -> None:
    path = tmp_path / "history.jsonl"
    history = History(path, most=10)
    for second in range(100):
        history.note(1000.0 + second, {"x": float(second)})
    kept = history.since(0.0)
    assert len(kept.times) <= 11
    assert (kept.times[0], kept.times[-1] > 1080) == (1000.0, True)
    assert kept.series["x"] == [time - 1000 for time in kept.times]
    with path.open("a") as file:
        file.write('[1100.0, {"x"')  # the studio was killed there
    assert History(path).since(0.0) == kept
    assert history.since(kept.times[-2]).times == kept.times[-1:]


def test_measurements_that_come_too_fast_are_left_out(tmp_path: Path) -> None:
    history = History(tmp_path / "h")
    for tenth in range(30):
        history.note(tenth / 10, {})
    assert len(history.times) == 4


def test_the_tail_of_an_output(tmp_path: Path) -> None:
    tail = Tail(tmp_path, "cheap")
    tail._folder.mkdir(parents=True)
    for epoch in (1, 3, 4):
        frame = pl.DataFrame({"epoch": [epoch] * 150})
        frame.write_parquet(tail._folder / f"part-{epoch:08d}.parquet")
    found = tail.rows(3)
    assert (found.epoch, found.total, len(found.rows)) == (3, 300, SHOWN)
    assert {row["epoch"] for row in found.rows} == {1, 3}
    assert len(tail.rows(3, after=1).rows) == 150
    assert (tail.rows(9).epoch, tail.rows(9).total) == (4, 450)


def test_final_counts_keep_the_last_rates() -> None:
    piece, lately = {"tuples_in": 4, "latency": None}, {"tuples_in": 2, "latency": 0.5}
    box = {"tuples_in": 9, "in_rate": 0.1, "pieces": [piece, piece]}
    final = {"boxes": {"a": box}, "outputs": {}}
    last = {"boxes": {"a": {"tuples_in": 5, "in_rate": 3.0, "pieces": [lately]}}, "outputs": {}}
    kept = [{"tuples_in": 4, "latency": 0.5}, piece]
    assert with_last_rates(last, final)["boxes"] == {"a": {**box, "in_rate": 3.0, "pieces": kept}}
    assert with_last_rates(None, final) is final


def test_the_command_says_what_is_wrong(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        done = CliRunner().invoke(boxcars, ["studio", "--no-open", "--port", port, str(tmp_path)])
    assert "can't be opened" in str(done.exception)
    done = CliRunner().invoke(boxcars, ["studio", "--no-open", str(tmp_path / "nothing")])
    assert "there is no such folder or file" in str(done.exception)
    (tmp_path / "x.txt").touch()
    done = CliRunner().invoke(boxcars, ["studio", "--no-open", str(tmp_path / "x.txt")])
    assert "expected a network file" in str(done.exception)
