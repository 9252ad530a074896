"""A run on a real cluster: a Spark master and two workers on this machine, for this test.

The run is stopped and resumes with more instances; then an executor is killed, and a worker.
"""

import os
import subprocess
import sys
from pathlib import Path

import boxcars as bx
from tests.cluster import cluster, end_session
from tests.engine.layout.test_pieces import same, written
from tests.engine.test_networks import crowd

NETWORK = Path(__file__).parents[2] / "networks" / "levels.yaml"
DRIVER = """
import sys
import time
import boxcars as bx
from boxcars.engine.exec import spark_job

spark_job.ONE_TASK_ROWS = 0
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


def drive(arguments: list[str], one: int, two: int) -> list[str]:
    """Run the driver; kill the executor of one worker meanwhile, and later the other worker."""
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
    with cluster(tmp_path, workers=2) as spark:
        folders = [tmp_path / name for name in ("calls.parquet", "out", "check")]
        lines = drive([*map(str, [NETWORK, *folders]), spark.master], *spark.workers)
    assert lines[-1] == "finished", lines
    for name, table in bx.preview(net, data).items():
        assert same(written(tmp_path / "out" / name), table.to_pylist())
    starts = [log.read_text().count("Asked to launch executor") for log in spark.logs]
    assert all(starts), "both workers had a part"
