"""A real cluster of Spark on this machine: a master and workers, for one test or several."""

import os
import re
import signal
import subprocess
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

import pyspark

from tests.patience import PATIENCE

DEPLOY = "org.apache.spark.deploy"
PORTS = ("--host", "127.0.0.1", "--port", "0", "--webui-port", "0")


@dataclass(frozen=True)
class Cluster:
    """Where its master is, and the process and the log of each worker."""

    master: str
    workers: Sequence[int]
    logs: Sequence[Path]


@contextmanager
def cluster(folder: Path, workers: int = 1) -> Iterator[Cluster]:
    """A master and workers of one core each; their logs are in the folder."""
    logs = [folder / f"worker{number}.log" for number in range(workers)]
    with ExitStack() as daemons:
        daemons.enter_context(daemon(folder / "master.log", f"{DEPLOY}.master.Master", *PORTS))
        master = wait_for(folder / "master.log", r"spark://127\.0\.0\.1:\d+")
        command = [f"{DEPLOY}.worker.Worker", *PORTS, "--cores", "1", "--memory", "1g"]
        command += ["--work-dir", str(folder / "work"), master]
        pids = [daemons.enter_context(daemon(log, *command)) for log in logs]
        for log in logs:
            wait_for(log, "Successfully registered with master")
        yield Cluster(master, pids, logs)


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
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        if found := re.search(pattern, log.read_text()):
            return found.group(0)
        time.sleep(0.1)
    raise AssertionError(f"no {pattern} in: {log.read_text()[-2000:]}")
