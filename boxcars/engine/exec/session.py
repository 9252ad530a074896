"""The Spark session of a run: local by default, tuned for epochs of few, large values."""

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
"""Java compiles once: it starts with half the work, and the work of a run is done in Python."""
_SETTINGS = {
    "spark.ui.showConsoleProgress": "false",
    "spark.python.unix.domain.socket.enabled": "true",
    "spark.shuffle.compress": "false",
    **{f"spark.executorEnv.{name}": value for name, value in POLARS_KEEPS.items()},
    "spark.executorEnv.PYTHONSAFEPATH": "1",
}
"""Workers begin as ``python -m`` in the current folder, which may have come with a network: they
do not import from it. Code of the user's is sent to them as a bundle."""
_ANSWERS, _LOOK, _PATIENCE = 10.0, 0.5, 60.0
"""Seconds for one try to connect to a master, between two of them, and for all, as in Spark."""
_LOOPBACK = {"spark.driver.host": "127.0.0.1", "spark.driver.bindAddress": "127.0.0.1"}


def make_session(
    master: str | None, *, quick: bool = True, pages: bool = False, patience: float = _PATIENCE
) -> SparkSession:
    """A session on this machine, or on the cluster at ``master``; one that is there is used.

    It starts ``quick`` unless there is work for Java in it, such as queries of Spark itself. With
    ``pages`` Spark shows its own, about jobs and executors, at a free port. A cluster that is just
    starting is waited for, ``patience`` seconds.
    """
    where = master or "local[*,4]"  # a task that fails is tried again, as on a cluster
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
            f"Spark does not start: {first}. Boxcars needs Java {NEEDED} or newer; boxcars doctor "
            "says what is there and what to do."
        ) from None
    spark.sparkContext.setLogLevel("ERROR")
    choose_python(spark.sparkContext)
    _quiet_accumulators(spark.sparkContext)
    return spark


def check_master(master: str, patience: float) -> None:
    """Say so if no master of a standalone cluster takes a connection within some seconds.

    >>> check_master("local[*]", 0)
    """
    end = monotonic() + patience
    while master.startswith("spark://"):
        for address in master.removeprefix("spark://").split(","):
            host, _, port = address.rpartition(":")
            with suppress(OSError, ValueError), create_connection((host, int(port)), _ANSWERS):
                return
        if monotonic() >= end:
            break
        sleep(_LOOK)
    else:
        return
    raise Wrong(f"no Spark master answers at {master}: is it running, and is the address right?")


def choose_python(context: SparkContext) -> None:
    """Let workers run the interpreter of the driver, unless the user chose another.

    PySpark reads ``PYSPARK_PYTHON`` alone and else takes the first ``python3`` on the ``PATH``,
    which is not the one of a virtual environment that was never activated.
    """
    chosen = os.environ.get("PYSPARK_PYTHON") or context.getConf().get("spark.pyspark.python")
    context.pythonExec = chosen or sys.executable


def _quiet_accumulators(context: SparkContext) -> None:
    """Keep PySpark from printing a stack trace when Java is gone: the epoch says so."""
    server: Any = context._accumulatorServer
    server.handle_error = lambda *_: None


def wake_workers(spark: SparkSession) -> None:
    """Start Python workers and let them load what an epoch needs, so that the first has not to."""
    spark.sparkContext.parallelize([0], 1).foreach(_wake)


def _wake(_: int) -> None:
    import_module("boxcars.engine.exec.spark_job")
