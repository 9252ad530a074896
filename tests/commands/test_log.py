"""``boxcars log``: events of a folder or an address, as lines or JSON, and following them."""

import json
import os
import subprocess
import threading
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from boxcars.cli import app
from boxcars.commands import log as command
from boxcars.commands.log import event_line
from boxcars.events.event import Event, Kind
from boxcars.events.event_log import CURRENT, EventLog
from boxcars.model.problem import BoxcarsError
from tests.commands.test_service_commands import COMMAND, boxcars, started
from tests.patience import PATIENCE
from tests.postgres import free_port


def call(*arguments: str) -> Result:
    return CliRunner().invoke(app, ["log", *arguments])


def wrong(*arguments: str) -> str:
    result = call(*arguments)
    assert isinstance(result.exception, BoxcarsError), result.output
    return str(result.exception)


@pytest.fixture
def log(tmp_path: Path) -> EventLog:
    found = EventLog(tmp_path)
    found.append(Event(1e9, Kind.STARTED, "the run started."))
    late = "2 tuples arrived too late and were dropped."
    found.append(Event(1e9 + 1, Kind.LATE, late, {"tuples": 2}, 12, "calls"))
    return found


def test_lines_are_aligned(log: EventLog, tmp_path: Path) -> None:
    log.append(Event(1e9 + 2, "balanced", "it was busy.", epoch=13, box="a_longer_name"))
    lines = call(str(tmp_path)).stdout.splitlines()
    assert [line[21:] for line in lines] == [
        "     0  started                         the run started.",
        "    12  late             calls          2 tuples arrived too late and were dropped.",
        "    13  balanced         a_longer_name  it was busy.",
    ]
    assert "\x1b" not in "".join(lines)


def test_json_lines(log: EventLog, tmp_path: Path) -> None:
    found = [json.loads(line) for line in call(str(tmp_path), "--json").stdout.splitlines()]
    assert tuple(map(Event.of, found)) == log.read().events
    assert found[1]["figures"] == {"tuples": 2}


def test_data_cannot_write_to_the_terminal() -> None:
    evil = Event(0.0, "a\x1b[2J", "b\x1b]0;x\x07\nc\r\td\u202e", box="e\x9b1m")
    line = event_line(evil)
    assert line.isprintable()
    assert r"b\x1b]0;x\x07\nc\r\td\u202e" in line


@pytest.mark.usefixtures("log")
def test_damaged_lines_are_reported(tmp_path: Path) -> None:
    path = tmp_path / CURRENT
    path.write_bytes(path.read_bytes().replace(b"the run", b"the fun"))
    result = call(str(tmp_path))
    assert len(result.stdout.splitlines()) == 1
    assert f"{tmp_path}: 1 damaged line skipped." in result.stderr


def test_following_a_folder_ends_with_the_run(
    log: EventLog, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each look at the log finds one more event, until the run fails."""
    rest = [Event(1e9, Kind.RETRIED, "again."), Event(1e9, Kind.FAILED, "no.")]
    monkeypatch.setattr(command, "sleep", lambda _: log.append(rest.pop(0)))
    lines = call(str(tmp_path), "--follow").stdout.splitlines()
    assert [line.split()[3] for line in lines] == ["started", "late", "retried", "failed"]


def test_mistakes(tmp_path: Path) -> None:
    assert (
        wrong(str(tmp_path / "no"))
        == f"{tmp_path / 'no'}: expected a checkpoint folder, or an address that begins with http."
    )
    assert "there are no events here: give the --checkpoint folder" in wrong(str(tmp_path))
    address = f"http://127.0.0.1:{free_port()}"
    assert wrong(address).startswith(f"{address}: the run can't be reached")


def test_following_an_address(tmp_path: Path) -> None:
    """The follower gets the last event of a run, and ends with it."""
    ends = ("--source", "calls=enqueue://", "--sink", "counts=dequeue://")
    with started(tmp_path, *ends, BOXCARS_TOKEN="sesame") as (process, address):
        refused = subprocess.run(
            [*COMMAND, "log", address], capture_output=True, text=True, check=False
        )
        assert (refused.returncode, refused.stdout) == (1, "")
        assert "the token is missing or wrong" in refused.stderr
        with subprocess.Popen(
            [*COMMAND, "log", address, "--follow", "--json"],
            stdout=subprocess.PIPE,
            text=True,
            env=os.environ | {"BOXCARS_TOKEN": "sesame"},
        ) as follower:
            timer = threading.Timer(PATIENCE, follower.kill)
            timer.start()
            assert follower.stdout is not None
            first = json.loads(follower.stdout.readline())
            process.terminate()
            rest = [json.loads(line) for line in follower.stdout]
            timer.cancel()
            assert follower.wait(PATIENCE) == 0
        assert process.wait(PATIENCE) == 0
    assert [first["kind"], *(event["kind"] for event in rest)] == ["started", "stopped"]
    shown = boxcars(tmp_path, "log", "c").splitlines()
    assert [line.split()[3] for line in shown] == ["started", "stopped"]
