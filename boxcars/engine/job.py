"""The Spark job of an epoch."""

from __future__ import annotations

from pyspark.sql import SparkSession

from boxcars.engine.epoch import Done, Task, run_tasks
from boxcars.model.problem import BoxcarsError


def run_job(spark: SparkSession, task: Task) -> Done:
    """Run an epoch on Spark; what went wrong is said in a sentence."""
    try:
        job = spark.sparkContext.parallelize([task], 1).mapPartitions(run_tasks)
        (done,) = job.collect()
    except Exception as error:
        first = (str(error).splitlines() or [type(error).__name__])[0]
        raise BoxcarsError(f"epoch {task.plan.epoch} failed on Spark: {first}") from error
    if isinstance(done, str):
        raise BoxcarsError(done)
    return done
