"""A run on a real cluster: a master and two workers of Spark on this machine, for this test.

The run is stopped and goes on with more instances; then an executor is killed, and a whole worker.
"""

import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pyspark

import boxcars as bx
from tests.engine.test_networks import crowd
from tests.engine.test_pieces import same, written

NETWORK = Path(__file__).parent.parent / "networks" / "levels.yaml"
DRIVER = """
import sys
import time
import boxcars as bx
from boxcars.engine import job

job.ALONE = 0
network, source, sink, check, master = sys.argv[1:]
net = bx.load(network)
sinks = {name: f"{sink}/{name}" for name in net.outputs}

def tell(status):
    print("epoch", status.epoch, flush=True)
    if instances == 2 or status.epoch in (3, 5):
        time.sleep(1)  # for who kills


for instances in (2, 3):
    run = bx.run(net, {"calls": source}, sinks, checkpoint=check, epoch_rows=20,
                 instances=instances, master=master, tell=tell)
    if instances == 2:
        while run.status().epoch < 1:
            run.wait(0.2)
        run.stop()
    else:
        print(run.wait().state)
"""


@contextmanager
def daemon(log: Path, *command: str) -> Iterator[int]:
    """A daemon of Spark, ended with all that it started."""
    home = Path(pyspark.__file__).parent
    environment = {**os.environ, "SPARK_HOME": str(home), "SPARK_LOCAL_IP": "127.0.0.1"}
    with log.open("w") as out:
        process = subprocess.Popen(
            [home / "bin" / "spark-class", *command],
            env=environment,
            stdout=out,
            stderr=out,
            start_new_session=True,
        )
    try:
        yield process.pid
    finally:
        end_session(process.pid)
        process.wait()


def end_session(daemon: int, only: str = "") -> int:
    """Kill a daemon and what it started, or only those whose command has a word; how many."""
    killed = 0
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            session = int((folder / "stat").read_text().rpartition(")")[2].split()[3])
            if session == daemon and only in (folder / "cmdline").read_text():
                os.kill(int(folder.name), signal.SIGKILL)
                killed += 1
        except (OSError, ValueError):
            continue
    return killed


def wait_for(log: Path, pattern: str) -> str:
    """What a daemon says, once it says so."""
    end = time.monotonic() + 60
    while time.monotonic() < end:
        if found := re.search(pattern, log.read_text()):
            return found.group(0)
        time.sleep(0.1)
    raise AssertionError(f"no {pattern} in: {log.read_text()[-2000:]}")


def drive(arguments: list[str], one: int, two: int) -> list[str]:
    """Run the driver; kill the executor of one worker in its middle, and later the other worker."""
    kills = {"epoch 3": (one, "CoarseGrainedExecutorBackend"), "epoch 5": (two, "")}
    environment = {**os.environ, "SPARK_LOCAL_IP": "127.0.0.1", "PYTHONPATH": str(Path.cwd())}
    lines = []
    with subprocess.Popen(
        [sys.executable, "-c", DRIVER, *arguments],
        env=environment,
        stdout=subprocess.PIPE,
        text=True,
    ) as driver:
        assert driver.stdout is not None
        for line in driver.stdout:
            lines.append(line.strip())
            if lines[-1] in kills:
                assert end_session(*kills.pop(lines[-1])), "there was somebody to kill"
    assert not kills
    return lines


def test_a_cluster(tmp_path: Path) -> None:
    net = bx.load(NETWORK)
    data = crowd(net)
    data["calls"].write_parquet(tmp_path / "calls.parquet")
    deploy = "org.apache.spark.deploy"
    master_log, worker_logs = tmp_path / "master", [tmp_path / "worker1", tmp_path / "worker2"]
    ports = ["--host", "127.0.0.1", "--port", "0", "--webui-port", "0"]
    with daemon(master_log, f"{deploy}.master.Master", *ports):
        address = wait_for(master_log, r"spark://127\.0\.0\.1:\d+")
        worker = [f"{deploy}.worker.Worker", *ports, "--cores", "1", "--memory", "1g"]
        worker += ["--work-dir", str(tmp_path / "work"), address]
        with daemon(worker_logs[0], *worker) as one, daemon(worker_logs[1], *worker) as two:
            for log in worker_logs:
                wait_for(log, "Successfully registered with master")
            folders = [tmp_path / name for name in ("calls.parquet", "out", "check")]
            lines = drive([*map(str, [NETWORK, *folders]), address], one, two)
    assert lines[-1] == "finished", lines
    for name, table in bx.preview(net, data).items():
        assert same(written(tmp_path / "out" / name), table.to_pylist())
    starts = [log.read_text().count("Asked to launch executor") for log in worker_logs]
    assert all(starts), "both workers had a part"
