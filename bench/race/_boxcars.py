"""Boxcars: the networks of the workloads, from Parquet files to Parquet files.

Exactly once: input, state and output of each epoch are in a checkpoint on disk.
"""

from _contest import Run, Task, contest
from _workloads import WORKLOADS

import boxcars as bx
from boxcars.engine.exec.session import make_session

EPOCH, SMALL = 1_000_000, 2_000
"""Rows per epoch and input; few enough that the small data has several epochs."""


def job(task: Task) -> Run:
    net = WORKLOADS[task.workload].network()
    inputs = task.folders("parquet")
    (output,) = net.outputs
    spark = make_session("local[2]", quick=False)

    def run() -> None:
        bx.run(
            net,
            inputs,
            {output: task.results},
            checkpoint=task.out / "checkpoint",
            epoch_rows=SMALL if task.small else EPOCH,
            spark=spark,
        ).wait()

    return run


if __name__ == "__main__":
    contest(job)
