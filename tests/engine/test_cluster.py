"""A run on a real cluster: a master and two workers of Spark on this machine, for this test."""

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
import boxcars as bx
from boxcars.engine import job

job.ALONE = 0
network, source, sink, check, master = sys.argv[1:]
net = bx.load(network)
sinks = {name: f"{sink}/{name}" for name in net.outputs}
for instances, rows in ((2, 60), (3, 60)):
    run = bx.run(net, {"calls": source}, sinks, checkpoint=check, epoch_rows=rows,
                 instances=instances, master=master)
    if instances == 2:
        while run.status().epoch < 1:
            run.wait(0.2)
        run.stop()
    else:
        print(run.wait().state)
"""


@contextmanager
def daemon(log: Path, *command: str) -> Iterator[None]:
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
        yield
    finally:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def wait_for(log: Path, pattern: str) -> str:
    """What a daemon says, once it says so."""
    end = time.monotonic() + 60
    while time.monotonic() < end:
        if found := re.search(pattern, log.read_text()):
            return found.group(0)
        time.sleep(0.1)
    raise AssertionError(f"no {pattern} in: {log.read_text()[-2000:]}")


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
        with daemon(worker_logs[0], *worker), daemon(worker_logs[1], *worker):
            for log in worker_logs:
                wait_for(log, "Successfully registered with master")
            folders = [tmp_path / name for name in ("calls.parquet", "out", "check")]
            done = subprocess.run(
                [sys.executable, "-c", DRIVER, *map(str, [NETWORK, *folders]), address],
                env={**os.environ, "SPARK_LOCAL_IP": "127.0.0.1", "PYTHONPATH": str(Path.cwd())},
                capture_output=True,
                text=True,
                timeout=180,
                check=False,
            )
    assert done.stdout.split() == ["finished"], done.stderr[-3000:]
    for name, table in bx.preview(net, data).items():
        assert same(written(tmp_path / "out" / name), table.to_pylist())
    starts = [log.read_text().count("Asked to launch executor") for log in worker_logs]
    assert all(starts), "both workers had a part"
