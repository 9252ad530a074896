"""The Spark session of a run: local by default, tuned for jobs with few, large records."""

from __future__ import annotations

import os
import sys
import warnings
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from socket import create_connection
from time import monotonic, sleep
from typing import Any

from pyspark import SparkConf, SparkContext
from pyspark.sql import SparkSession

from boxcars.engine.exec.java import NEEDED, start_java
from boxcars.engine.exec.memory import POLARS_KEEPS
from boxcars.model.problem import BoxcarsError, Wrong

_LOGGING = Path(__file__).with_name("log4j2.properties").as_uri()
_QUICK = "-XX:TieredStopAtLevel=1"
"""Only the fast JIT tier: Java starts in half the time, and a run computes in Python anyway."""
_SETTINGS = {
    "spark.ui.showConsoleProgress": "false",
    "spark.python.unix.domain.socket.enabled": "true",
    "spark.shuffle.compress": "false",
    **{f"spark.executorEnv.{name}": value for name, value in POLARS_KEEPS.items()},
    "spark.executorEnv.PYTHONSAFEPATH": "1",
}
"""Safe path: workers start as ``python -m`` in the current folder, which may have been downloaded
with a network. They must not import from it; the user's code is shipped to them as a bundle."""
_CONNECT, _RETRY, _TIMEOUT = 10.0, 0.5, 60.0
"""Seconds: timeout of one connection attempt to a master, pause between attempts, and the total
timeout, which is that of Spark."""
_LOOPBACK = {"spark.driver.host": "127.0.0.1", "spark.driver.bindAddress": "127.0.0.1"}


def make_session(
    master: str | None, *, quick: bool = True, pages: bool = False, patience: float = _TIMEOUT
) -> SparkSession:
    """Return a session on this machine or on the cluster at ``master``; reuse an existing one.

    ``quick`` limits the JIT for a faster start; turn it off if Java does the work, such as Spark's
    own queries. With ``pages`` Spark serves its web UI at a free port. ``patience`` is the time in
    seconds to wait for a cluster that is still starting.
    """
    where = master or "local[*,4]"  # up to 4 attempts for each task, as on a cluster
    java = f"-Dlog4j2.configurationFile={_LOGGING}" + (f" {_QUICK}" if quick else "")
    settings = {**_SETTINGS, "spark.driver.extraJavaOptions": java}
    settings["spark.ui.enabled"] = str(pages).lower()
    if where.startswith(("local", "spark://127.0.0.1:")):
        os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
        settings |= _LOOPBACK
    check_master(where, patience)
    conf = SparkConf().setAppName("boxcars").setMaster(where).setAll(list(settings.items()))
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", FutureWarning)  # of pandas, which we do not use
            start_java(conf)
            spark = SparkSession.builder.config(conf=conf).getOrCreate()
    except Exception as error:
        first = (str(error).splitlines() or [type(error).__name__])[0].rstrip(".")
        raise BoxcarsError(
            f"Spark failed to start: {first}. Boxcars needs Java {NEEDED} or newer; run boxcars "
            "doctor to see what is installed and what to do."
        ) from None
    spark.sparkContext.setLogLevel("ERROR")
    choose_python(spark.sparkContext)
    _quiet_accumulators(spark.sparkContext)
    return spark


def check_master(master: str, patience: float) -> None:
    """Raise if no master of a standalone cluster accepts a connection in time.

    >>> check_master("local[*]", 0)
    """
    end = monotonic() + patience
    while master.startswith("spark://"):
        for address in master.removeprefix("spark://").split(","):
            host, _, port = address.rpartition(":")
            with suppress(OSError, ValueError), create_connection((host, int(port)), _CONNECT):
                return
        if monotonic() >= end:
            break
        sleep(_RETRY)
    else:
        return
    raise Wrong(f"no Spark master answers at {master}: is it running, and is the address right?")


def choose_python(context: SparkContext) -> None:
    """Make workers run the interpreter of the driver, unless the user chose another.

    Without ``PYSPARK_PYTHON`` PySpark runs the first ``python3`` on the ``PATH``, which is the
    wrong one if the virtual environment is not activated.
    """
    chosen = os.environ.get("PYSPARK_PYTHON") or context.getConf().get("spark.pyspark.python")
    context.pythonExec = chosen or sys.executable


def _quiet_accumulators(context: SparkContext) -> None:
    """Keep PySpark from printing a stack trace when Java dies: the epoch reports it."""
    server: Any = context._accumulatorServer
    server.handle_error = lambda *_: None


def wake_workers(spark: SparkSession) -> None:
    """Warm up: start a Python worker and load its modules before the first epoch."""
    spark.sparkContext.parallelize([0], 1).foreach(_wake)


def _wake(_: int) -> None:
    import_module("boxcars.engine.exec.spark_job")
