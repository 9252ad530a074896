"""An installed wheel, in an empty environment, from another folder."""

import platform
import re
import signal
import subprocess
from pathlib import Path
from urllib.request import urlopen

import pytest

from tests.cluster import Cluster
from tests.strangers.installed import Installed, tracebacks
from tests.strangers.notebook import run_cells

NETWORK = """
name: cheap
inputs:
  calls: {ts: time, fields: {caller: str, time: int, price: float}}
boxes:
  counts: {type: aggregate, in: calls, window: {tuples: 2, advance: 1}, by: [caller],
           fields: {n: count(), sum: sum(price)}}
outputs:
  out: {from: counts}
"""
ROWS = "caller,time,price\nann,1,3\nbob,2,9\nann,3,4\n"
FOUND = '{"caller":"ann","time":3,"n":2,"sum":7.0}\n'
SCRIPT = """
import boxcars as bx

net = bx.load("net.yaml")
found = []
sink = bx.callback(lambda table, _: found.append(table))
run = bx.run(net, {"calls": "calls.csv"}, {"out": sink})
print(run.wait().state, [row["sum"] for table in found for row in table.to_pylist()])
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "net.yaml").write_text(NETWORK)
    (tmp_path / "calls.csv").write_text(ROWS)
    return tmp_path


def test_run(installed: Installed, folder: Path) -> None:
    done = installed.run(
        "boxcars",
        "run",
        "net.yaml",
        "--source",
        "calls=calls.csv",
        "--sink",
        "out=-",
        folder=folder,
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, FOUND, "")


def test_a_script(installed: Installed, folder: Path) -> None:
    (folder / "script.py").write_text(SCRIPT)
    done = installed.run("python", "script.py", folder=folder)
    assert (done.returncode, done.stdout, done.stderr) == (0, "finished [7.0]\n", "")


def test_an_application(installed: Installed, tmp_path: Path) -> None:
    done = installed.run("boxcars", "apps", "high-mobility", "--rows", "20000", folder=tmp_path)
    assert done.returncode == 0, done.stderr
    assert not tracebacks(done.stdout + done.stderr)


def test_the_studio(installed: Installed, tmp_path: Path) -> None:
    with subprocess.Popen(
        [installed.venv / "bin" / "boxcars", "studio", "--no-open", "--port", "0", tmp_path],
        env=installed.environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    ) as studio:
        assert studio.stdout is not None
        try:
            line = next(line for line in studio.stdout if "http://" in line)
            (address,) = re.findall(r"http://\S+", line)
            with urlopen(address, timeout=60) as page:  # loopback
                assert b"<title>Boxcars" in page.read()
        finally:
            studio.send_signal(signal.SIGINT)
            rest = studio.stdout.read()
    assert not tracebacks(rest)


def test_a_notebook(installed: Installed, folder: Path) -> None:
    assert "finished [7.0]" in run_cells(installed, folder, SCRIPT)


def test_a_python_chosen_by_the_user(installed: Installed, folder: Path) -> None:
    arguments = ["run", "net.yaml", "--source", "calls=calls.csv"]
    done = installed.run("boxcars", *arguments, folder=folder, PYSPARK_PYTHON="/no/python")
    assert done.returncode == 1
    assert done.stderr == (
        "epoch 1 failed on Spark: the executors have no Python at /no/python: install it there "
        "with Boxcars, or set PYSPARK_PYTHON to an interpreter that they have.\n"
    )


def test_a_python_without_boxcars(installed: Installed, folder: Path) -> None:
    subprocess.run([installed.python, "-m", "venv", "--without-pip", folder / "bare"], check=True)
    bare = str(folder / "bare" / "bin" / "python")
    arguments = ["run", "net.yaml", "--source", "calls=calls.csv"]
    done = installed.run("boxcars", *arguments, folder=folder, PYSPARK_PYTHON=bare)
    assert done.returncode == 1
    assert f"the executors have no module 'boxcars': run `{bare} -m pip install" in done.stderr
    assert len(done.stderr.splitlines()) == 1


def test_missing_java(installed: Installed, folder: Path) -> None:
    arguments = ["run", "net.yaml", "--source", "calls=calls.csv"]
    done = installed.run("boxcars", *arguments, folder=folder, JAVA_HOME="/no/java")
    assert done.returncode == 1
    assert done.stderr.startswith("Spark failed to start: /no/java/bin/java: No such file")
    assert len(done.stderr.splitlines()) == 1


def test_the_doctor_on_a_cluster(
    installed: Installed, bare_cluster: Cluster, tmp_path: Path
) -> None:
    (tmp_path / "state").mkdir()
    arguments = ["--master", bare_cluster.master, "--checkpoint", str(tmp_path / "state")]
    done = installed.run("boxcars", "doctor", *arguments, folder=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert f"Python {platform.python_version()} at {installed.python}" in done.stdout
    assert "is readable and writable on all executors" in done.stdout
    subprocess.run([installed.python, "-m", "venv", "--without-pip", tmp_path / "bare"], check=True)
    bare = str(tmp_path / "bare" / "bin" / "python")
    done = installed.run("boxcars", "doctor", *arguments, folder=tmp_path, PYSPARK_PYTHON=bare)
    assert done.returncode == 1
    assert f"the executors have no module 'boxcars': run `{bare} -m pip install" in done.stdout


def test_the_doctor_with_a_broken_path(installed: Installed, tmp_path: Path) -> None:
    environment = {"PATH": str(tmp_path), "JAVA_HOME": ""}
    done = installed.run("boxcars", "doctor", folder=tmp_path, **environment)
    assert done.returncode == 1
    assert "wrong  Java         not found on the PATH, and JAVA_HOME is not set" in done.stdout
    assert "wrong  bash" in done.stdout
    assert not tracebacks(done.stdout + done.stderr)
