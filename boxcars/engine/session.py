"""The Spark session of a run: local by default, tuned for epochs of few, large values."""

from __future__ import annotations

import os
import sys
import warnings
from importlib import import_module
from pathlib import Path

from pyspark.sql import SparkSession

from boxcars.engine.memory import POLARS_KEEPS
from boxcars.model.problem import BoxcarsError

_LOGGING = Path(__file__).with_name("log4j2.properties").as_uri()
_QUICK = "-XX:TieredStopAtLevel=1"
"""Java compiles once: it starts with half the work, and the work of a run is done in Python."""
_SETTINGS = {
    "spark.ui.showConsoleProgress": "false",
    "spark.python.unix.domain.socket.enabled": "true",
    "spark.shuffle.compress": "false",
    **{f"spark.executorEnv.{name}": value for name, value in POLARS_KEEPS.items()},
}
_LOOPBACK = {"spark.driver.host": "127.0.0.1", "spark.driver.bindAddress": "127.0.0.1"}


def make_session(master: str | None, *, quick: bool = True, pages: bool = False) -> SparkSession:
    """A session on this machine, or on the cluster at ``master``; one that is there is used.

    It starts ``quick`` unless there is work for Java in it, such as queries of Spark itself. With
    ``pages`` Spark shows its own, about jobs and executors, at a free port.
    """
    where = master or "local[*,4]"  # a task that fails is tried again, as on a cluster
    java = f"-Dlog4j2.configurationFile={_LOGGING}" + (f" {_QUICK}" if quick else "")
    settings = {**_SETTINGS, "spark.driver.extraJavaOptions": java}
    settings["spark.ui.enabled"] = str(pages).lower()
    settings["spark.pyspark.python"] = sys.executable
    if where.startswith(("local", "spark://127.0.0.1:")):
        os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
        settings |= _LOOPBACK
    builder = SparkSession.builder.appName("boxcars").master(where)
    for name, value in settings.items():
        builder = builder.config(name, value)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", FutureWarning)  # of pandas, which we do not use
            spark = builder.getOrCreate()
    except Exception as error:
        first = (str(error).splitlines() or [type(error).__name__])[0]
        raise BoxcarsError(f"Spark does not start: {first} Boxcars needs Java 17.") from None
    spark.sparkContext.setLogLevel("ERROR")
    return spark


def wake_workers(spark: SparkSession) -> None:
    """Start Python workers and let them load what an epoch needs, so that the first has not to."""
    spark.sparkContext.parallelize([0], 1).foreach(_wake)


def _wake(_: int) -> None:
    import_module("boxcars.engine.job")
