"""``boxcars run --port``, ``inject`` and ``top`` as cooperating processes."""

import json
import os
import re
import signal
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import boxcars as bx
from boxcars.service.client import Client
from tests.patience import PATIENCE
from tests.postgres import free_port

NETWORK = """
name: fed
inputs:
  calls: {ts: time, fields: {time: int, caller: str}}
boxes:
  count: {type: aggregate, in: calls, by: [caller], window: {time: 10}, fields: {n: count()}}
outputs:
  counts: {from: count}
"""
COMMAND = [sys.executable, "-m", "boxcars.cli"]


@contextmanager
def started(
    folder: Path, *options: str, **environment: str
) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """A run with a port as a process, and the URL of the port."""
    (folder / "fed.yaml").write_text(NETWORK)
    command = [*COMMAND, "run", "fed.yaml", "--port", "0", "--checkpoint", "c", *options]
    with subprocess.Popen(
        command, cwd=folder, stderr=subprocess.PIPE, text=True, env=os.environ | environment
    ) as process:
        assert process.stderr is not None
        lines = []
        try:
            for line in process.stderr:
                lines.append(line)
                if found := re.search(r"the run is at (http[\w:/.]+)", line):
                    yield process, found[1]
                    break
            else:
                pytest.fail("".join(lines))
        finally:
            process.kill()


def boxcars(folder: Path, *words: str, text: str | None = None) -> str:
    done = subprocess.run(
        [*COMMAND, *words],
        cwd=folder,
        input=text,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout + done.stderr


def test_fed_by_files_watched_and_stopped(tmp_path: Path) -> None:
    calls = pl.DataFrame({"time": range(1000), "caller": ["ann", "bob"] * 500})
    calls.write_csv(tmp_path / "calls.csv")
    ends = ("--source", "calls=enqueue://", "--sink", "counts=dequeue://")
    options = (*ends, "--metrics", "m.jsonl", "--log", "json", "--spark-pages")
    with started(tmp_path, *options) as (process, address):
        said = boxcars(tmp_path, "inject", "calls=calls.csv", "--to", address, "--batch", "100")
        assert "1,000 tuples in" in said
        client = Client(address)
        with urllib.request.urlopen(f"{client.status()['pages']}/jobs/", timeout=20) as page:
            assert b"Spark Jobs" in page.read()
        found: list[dict[str, Any]] = []
        for _, table in client.dequeue("counts"):
            found += table.to_pylist()
            if len(found) >= 198:
                break
        view = boxcars(tmp_path, "top", address, "--once")
        assert re.search(r"count\s+aggregate", view)
        assert client.stop()["state"] == "stopped"
        assert process.wait(30) == 0
    assert found[0] == {"caller": "ann", "time": 0, "n": 5}
    assert sum(row["n"] for row in found) == 990
    last = json.loads((tmp_path / "m.jsonl").read_text().splitlines()[-1])
    assert (last["state"], last["read"]) == ("stopped", {"calls": 1000})
    assert bx.RunStats.from_plain(last).outputs["counts"].tuples == len(found)


def test_lines_over_tcp(tmp_path: Path) -> None:
    pl.DataFrame({"time": range(400), "caller": "ann"}).write_parquet(tmp_path / "calls.parquet")
    port = free_port()
    target = f"tcp://127.0.0.1:{port}?format=csv"
    options = ("--source", f"calls={target}&token=${{SESAME}}", "--sink", "counts=dequeue://")
    with started(tmp_path, *options, SESAME="open") as (process, address):
        to = f"{target}&token=open"
        boxcars(tmp_path, "inject", "calls=calls.parquet", "--to", to, "--rate", "100000")
        boxcars(tmp_path, "inject", "calls=calls.parquet", "--to", f"{target}&token=shut")
        found = 0
        for _, table in Client(address).dequeue("counts"):
            found += table.num_rows
            if found >= 39:
                break
        process.send_signal(signal.SIGTERM)
        assert process.wait(30) == 0
    assert found == 39


def test_commands_while_it_injects(tmp_path: Path) -> None:
    pl.DataFrame({"time": range(2000), "caller": "ann"}).write_parquet(tmp_path / "calls.parquet")
    words = ["inject", "calls=calls.parquet", "--to", "in", "--rate", "1", "--batch", "10"]
    command = [*COMMAND, *words]
    with subprocess.Popen(
        command, cwd=tmp_path, stdin=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stdin is not None
        process.stdin.write("faster\nrate 100000\n")
        process.stdin.flush()
        _, said = process.communicate(
            timeout=PATIENCE
        )  # at the initial rate it would take half an hour
    assert "there is no command 'faster'" in said
    assert pl.read_parquet(tmp_path / "in/*.parquet")["time"].to_list() == list(range(2000))
    assert (tmp_path / "in/_SUCCESS").exists()


def test_an_application_replayed_by_its_timestamps(tmp_path: Path) -> None:
    words = ("--rows", "2000", "--to", "in", "--by-time", "time", "--speed", "1e9")
    assert "2,000 tuples in" in boxcars(tmp_path, "inject", "high-mobility", *words)
    assert pl.read_parquet(tmp_path / "in/*.parquet").height == 2000
