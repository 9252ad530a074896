"""Set-up and clean-up of Spark workers around tasks."""

import signal
import subprocess
import sys
from collections.abc import Iterable, Iterator

from pyspark.sql import SparkSession

from boxcars.engine.exec.worker import worker_task

LOST = """
import os
from boxcars.engine.exec.worker import worker_task

reader, writer = os.pipe()
os.close(reader)
with worker_task():
    try:
        os.write(writer, b"during a task")
    except BrokenPipeError:
        print("an error", flush=True)
os.write(writer, b"between tasks")
print("never said", flush=True)
"""


def test_a_connection_that_is_lost_between_tasks_ends_a_worker_without_a_word() -> None:
    ended = subprocess.run(
        [sys.executable, "-c", LOST], capture_output=True, text=True, timeout=60, check=False
    )
    assert (ended.returncode, ended.stdout, ended.stderr) == (-signal.SIGPIPE, "an error\n", "")


def test_in_a_worker_of_spark(spark: SparkSession) -> None:
    def look(_: Iterable[int]) -> Iterator[tuple[str, str]]:
        with worker_task():
            during = signal.getsignal(signal.SIGPIPE)
        yield str(during), str(signal.getsignal(signal.SIGPIPE))

    found = spark.sparkContext.parallelize([0], 1).mapPartitions(look).collect()
    assert found == [(str(signal.SIG_IGN), str(signal.SIG_DFL))]
