"""Errors of Spark and Java become one sentence; and Java ends with its run."""

import os
import signal
import subprocess
import sys
import time
from io import StringIO
from pathlib import Path

import pytest
from py4j.protocol import Py4JError, Py4JNetworkError

from boxcars.engine.exec.java import JavaOutput
from boxcars.engine.exec.session import check_master
from boxcars.engine.exec.spark_errors import explain
from boxcars.model.problem import BoxcarsError
from tests.patience import PATIENCE

PYTHON = "/srv/python"
WORKER = "[PYTHON_EXCEPTION] An exception was thrown from the Python worker: Traceback (most recent"


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (ConnectionRefusedError(111, "Connection refused"), "Spark's Java process has ended"),
        (Py4JNetworkError("Answer from Java side is empty"), "Spark's Java process has ended"),
        (Py4JError("PythonRDD does not exist in the JVM"), "Spark's Java process has ended"),
        (
            ValueError(f"{WORKER}\nModuleNotFoundError: No module named 'boxcars'\n"),
            f"the executors have no module 'boxcars': run `{PYTHON} -m pip install boxcars==",
        ),
        (
            ValueError(f"{WORKER}\nModuleNotFoundError: No module named 'shop.cart'\n"),
            f"the executors have no module 'shop.cart': run `{PYTHON} -m pip install shop` on each",
        ),
        (
            ValueError('x\nCaused by: java.io.IOException: Cannot run program "/no": error=2'),
            "the executors have no Python at /no: install it there with Boxcars",
        ),
        (
            ValueError(f"{WORKER}\nboxcars.model.problem.BoxcarsError: the disk is full.\n at x"),
            "the disk is full.",
        ),
        (
            ValueError("Python worker exited unexpectedly (crashed)"),
            "a Python worker was killed, probably because the machine ran out of memory",
        ),
        (
            ValueError(
                "An error occurred while calling o1.x.\n: org.A: b\nCaused by: java.io.E: no route"
            ),
            "no route",
        ),
        (ValueError(""), "ValueError"),
    ],
)
def test_one_sentence(error: Exception, said: str) -> None:
    found = explain(error, PYTHON)
    assert found.startswith(said)
    assert "\n" not in found


def test_what_java_prints(capsys: pytest.CaptureFixture[str]) -> None:
    output = JavaOutput()
    output.read(
        StringIO(
            "WARNING: Using incubator modules: jdk.incubator.vector\n"
            "Picked up JAVA_TOOL_OPTIONS: -Dx\n"
            "/spark/bin/spark-class: line 71: /no/java: No such file or directory\n"
        )
    )
    assert output.why() == "/no/java: No such file or directory"
    assert capsys.readouterr().err == ""
    output.started()
    output.read(StringIO("spark: Lost executor 0\n"))
    said = capsys.readouterr().err.splitlines()
    assert said == [
        "/spark/bin/spark-class: line 71: /no/java: No such file or directory",
        "spark: Lost executor 0",
    ]


def test_no_master() -> None:
    with pytest.raises(BoxcarsError, match="no Spark master answers at spark://127.0.0.1:1: is it"):
        check_master("spark://127.0.0.1:1", 0)


RUN = """
import boxcars as bx

net = bx.Network("t")
rows = net.input("rows", ts="time", fields={"time": "int"})
net.output("out", rows.filter("time > 5"))
said = lambda status: print(status.epoch, flush=True)
run = bx.run(net, {"rows": bx.rate(100, time="value")}, {"out": "out/"}, tell=said)
try:
    run.wait()
except bx.BoxcarsError as error:
    print(error)
"""


def children(parent: int) -> dict[int, str]:
    """All descendants of a process, with their commands."""
    found: dict[int, tuple[int, str]] = {}
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            above = int((folder / "stat").read_text().rpartition(")")[2].split()[1])
            found[int(folder.name)] = above, (folder / "cmdline").read_text()
        except OSError:
            continue
    below: dict[int, str] = {}
    known = {parent}
    while True:
        new = {pid for pid, (above, _) in found.items() if above in known} - known
        if not new:
            return below
        below |= {pid: found[pid][1] for pid in new}
        known |= new


@pytest.fixture
def running(tmp_path: Path) -> subprocess.Popen[str]:
    """A script whose run has committed an epoch."""
    script = subprocess.Popen(
        [sys.executable, "-c", RUN],
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert script.stdout is not None
    assert script.stdout.readline() == "1\n"
    return script


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
def test_java_ends_with_a_killed_run(
    running: subprocess.Popen[str], number: signal.Signals
) -> None:
    below = children(running.pid)
    assert any("java" in command for command in below.values())
    running.send_signal(number)
    running.communicate(timeout=PATIENCE)
    end = time.monotonic() + PATIENCE
    while alive := [pid for pid in below if Path(f"/proc/{pid}/cmdline").exists()]:
        assert time.monotonic() < end, f"left behind: {[below[pid][:80] for pid in alive]}"
        time.sleep(0.1)


def test_a_run_whose_java_is_killed(running: subprocess.Popen[str]) -> None:
    (java,) = [pid for pid, command in children(running.pid).items() if "java" in command]
    os.kill(java, signal.SIGKILL)
    said, troubles = running.communicate(timeout=PATIENCE)
    last = said.splitlines()[-1]
    assert "failed on Spark: Spark's Java process has ended: it was killed, or it ran" in last
    assert troubles == ""
