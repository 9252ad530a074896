"""The log of a run: every line names the run, epoch and box it concerns."""

import json
import logging
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession
from typer.testing import CliRunner, Result

import boxcars as bx
from boxcars.cli import app
from boxcars.connectors.log_context import about
from boxcars.model.problem import BoxcarsError
from boxcars.service.logs import LogKind, RunLog

NETWORK = """
name: fraud
inputs:
  calls: {ts: time, fields: {time: int, price: float}}
boxes:
  expensive: {type: filter, in: calls, where: price > 5}
  odd: {type: apply, in: expensive, function: "tests.service.test_logs:odd"}
outputs:
  odd: {from: odd}
"""


def odd(train: Any) -> Any:
    if (train["price"] > 1000).any():
        raise ValueError("a price like that")
    return train


@pytest.fixture
def call(spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """A function that runs the network over rows, with a log."""
    assert spark
    monkeypatch.chdir(tmp_path)
    Path("net.yaml").write_text(NETWORK)

    def run(kind: str, *rows: str) -> Result:
        number = len(list(Path("calls").glob("*.csv"))) if Path("calls").exists() else 0
        Path("calls").mkdir(exist_ok=True)
        Path(f"calls/{number}.csv").write_text("\n".join(["time,price", *rows, ""]))
        words = ["run", "net.yaml", "--allow-code", "--source", "calls=calls", "--sink", "odd=odd/"]
        return CliRunner().invoke(app, [*words, "--log", kind, "--follow", "--checkpoint", "c"])

    return run


def lines(result: Result) -> list[dict[str, Any]]:
    return [json.loads(line) for line in result.stderr.splitlines()]


def finish() -> None:
    Path("calls/_SUCCESS").touch()


def test_epochs_and_lost_tuples(call: Any) -> None:
    Path("calls").mkdir()
    finish()
    result = call("json", "1,9.5", "2,x", "3,7.5", "y,1")
    assert result.exit_code == 0, (result.output, result.exception)
    found = lines(result)
    assert {line["run"] for line in found} == {"fraud"}
    assert all(line["time"].endswith("Z") for line in found)
    (epoch,) = [line for line in found if line.get("read")]
    assert (epoch["level"], epoch["epoch"], epoch["out"]) == ("info", 1, 2)
    (lost,) = [line for line in found if line["level"] == "warning"]
    assert lost["text"] == "tuples were lost"
    assert (lost["epoch"], lost["box"], lost["late"], lost["dead"]) == (1, "calls", 0, 2)


def test_why_it_failed(call: Any) -> None:
    Path("calls").mkdir()
    finish()
    result = call("json", "1,9.5", "2,5000")
    assert result.exit_code == 1
    last = lines(result)[-1]
    assert (last["level"], last["epoch"], last["box"]) == ("error", 1, "odd")
    assert "box 'odd' failed" in last["text"]
    assert "a price like that" in last["text"]


def test_log_as_text(call: Any) -> None:
    Path("calls").mkdir()
    finish()
    result = call("text", "1,9.5", "2,x")
    assert "Z fraud: epoch 1 (read " in result.stderr
    assert "Z fraud: tuples were lost (box calls, late 0, dead 1)" in result.stderr


def test_only_new_losses_are_logged(capsys: pytest.CaptureFixture[str]) -> None:
    log = RunLog(LogKind.JSON, "fraud")
    losses = [{}, {"a": (1, 0)}, {"a": (1, 0)}, {"a": (3, 0), "b": (0, 2)}]
    for epoch, loss in enumerate(losses, 1):
        counts = {name: {"late": late, "dead": dead} for name, (late, dead) in loss.items()}
        log.tell(bx.Status("running", epoch, {"a": 10 * epoch}, {"o": epoch}, 1.0, lost=counts))
    found = [json.loads(line) for line in capsys.readouterr().err.splitlines()]
    epochs = [line for line in found if "read" in line]
    assert [(line["epoch"], line["read"], line["out"]) for line in epochs] == [
        (n, 10, 1) for n in (1, 2, 3, 4)
    ]
    lost = [line for line in found if "box" in line]
    assert [(line["epoch"], line["box"], line["late"], line["dead"]) for line in lost] == [
        (2, "a", 1, 0),
        (4, "a", 2, 0),
        (4, "b", 0, 2),
    ]


def test_warnings_of_connectors_name_the_input(capsys: pytest.CaptureFixture[str]) -> None:
    RunLog(LogKind.JSON, "fraud")
    with about("calls"):
        logging.getLogger("boxcars.connectors").warning("%s: reconnected", "redis://host/calls")
    (line,) = map(json.loads, capsys.readouterr().err.splitlines())
    assert (line["epoch"], line["box"], line["level"]) == (0, "calls", "warning")


def test_without_a_log_only_errors_are_reported(capsys: pytest.CaptureFixture[str]) -> None:
    log = RunLog(None, "fraud")
    log.tell(bx.Status("running", 1, {"a": 10}, {"o": 1}, 1.0))
    log.say("the run is at http://127.0.0.1:7070")
    log.fail(BoxcarsError("input 'calls': it is gone."))
    first, second = capsys.readouterr().err.splitlines()
    assert first == "the run is at http://127.0.0.1:7070"
    assert second.endswith("fraud: input 'calls': it is gone. (box calls)")


def test_a_resumed_run_logs_only_its_own_losses(call: Any) -> None:
    Path("calls").mkdir()
    finish()
    first = call("json", "1,9.5", "2,x", "3,8.5")
    assert sum("dead" in line for line in lines(first)) == 1
    again = call("json", "4,9.5")
    assert again.exit_code == 0, (again.output, again.exception)
    assert not any("dead" in line for line in lines(again))


def test_the_epoch_that_failed(capsys: pytest.CaptureFixture[str]) -> None:
    log = RunLog(LogKind.JSON, "fraud")
    log.fail(BoxcarsError("Spark failed to start."))
    log.begin(bx.Status("running", 7, {}, {}, 0.0))
    log.tell(bx.Status("running", 8, {}, {}, 1.0))
    log.begin(bx.Status("running", 7, {}, {}, 0.0))
    log.fail(BoxcarsError("box 'expensive' failed: no."))
    first, *_, last = map(json.loads, capsys.readouterr().err.splitlines())
    assert (first["epoch"], "box" in first) == (0, False)
    assert (last["epoch"], last["box"]) == (9, "expensive")
