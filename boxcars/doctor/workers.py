"""Checks of Spark and its workers: that they start, and match the driver's versions."""

from __future__ import annotations

import platform
import socket
import sys
from collections.abc import Iterator
from importlib.metadata import version
from pathlib import Path
from typing import Any
from uuid import uuid4

from pyspark.sql import SparkSession

from boxcars.doctor.finding import Finding, ok, wrong
from boxcars.engine.exec.session import make_session
from boxcars.engine.exec.spark_errors import explain
from boxcars.model.problem import BoxcarsError

_COMPARED = ("boxcars", "pyspark", "polars", "pyarrow", "numba", "numpy")
_TASKS = 4
"""Tasks per core, so that every executor gets some."""

Report = tuple[str, str, str, dict[str, str]]
"""A worker: its host, interpreter path, Python version, and package versions."""


def look_at_workers(master: str | None, folder: str | None) -> Iterator[Finding]:
    """Start Spark and query every executor; all of them must be able to use ``folder``."""
    try:
        spark = make_session(master, patience=0)
    except BoxcarsError as error:
        yield wrong("Spark", str(error), "Fix the Java findings above, or check --master.")
        return
    context = spark.sparkContext
    yield ok("Spark", f"{spark.version} at {context.master}, {context.defaultParallelism} cores")
    try:
        reports = _ask(spark)
    except Exception as error:  # whatever Spark throws
        mend = f"Workers run {context.pythonExec}; set PYSPARK_PYTHON to use another Python."
        yield wrong("workers", explain(error, context.pythonExec), mend)
        return
    yield from compare(reports, _report())
    if folder is not None:
        yield _shared(spark, folder)


def _ask(spark: SparkSession) -> list[Report]:
    """One report for each pair of host and interpreter among the executors."""
    number = _TASKS * spark.sparkContext.defaultParallelism
    found = spark.sparkContext.parallelize(range(number), number).map(lambda _: _report()).collect()
    return list({report[:2]: report for report in found}.values())


def _report() -> Report:
    versions = {name: version(name) for name in _COMPARED}
    return socket.gethostname(), sys.executable, platform.python_version(), versions


def compare(workers: list[Report], driver: Report) -> Iterator[Finding]:
    """Compare the versions of workers with those of the driver."""
    for host, python, python_version, versions in workers:
        where = f"{python} on {host}"
        if python_version.split(".")[:2] != driver[2].split(".")[:2]:
            seen = f"Python {python_version} at {where}; the driver has {driver[2]}"
            yield wrong(
                "workers", seen, "Set PYSPARK_PYTHON to a Python of the same minor version."
            )
        other = {name: have for name, have in versions.items() if have != driver[3][name]}
        for name, have in other.items():
            mend = f"On {host}: `{python} -m pip install {name}=={driver[3][name]}`."
            yield wrong(
                "workers", f"{name} {have} at {where}; the driver has {driver[3][name]}", mend
            )
        if not other:
            yield ok("workers", f"Python {python_version} at {where}, packages as on the driver")


def _shared(spark: SparkSession, folder: str) -> Finding:
    """Whether executors see the files that the driver writes in a folder, and can write there."""
    mark = Path(folder) / f".boxcars-doctor-{uuid4().hex}"

    def look(_: int) -> Any:
        try:
            seen = mark.exists()
            mark.with_suffix(".worker").touch()
            return None if seen else f"{socket.gethostname()} does not see it"
        except OSError as error:
            return f"{socket.gethostname()}: {error.strerror}"

    try:
        mark.touch()
        number = spark.sparkContext.defaultParallelism
        said = spark.sparkContext.parallelize(range(number), number).map(look).collect()
        problems = sorted({one for one in said if one})
    except OSError as error:
        problems = [f"the driver: {error.strerror}"]
    finally:
        mark.unlink(missing_ok=True)
        mark.with_suffix(".worker").unlink(missing_ok=True)
    if problems:
        mend = "On a cluster the checkpoint must be on a filesystem that all machines share."
        return wrong("checkpoint", f"{folder}: {', '.join(problems)}", mend)
    return ok("checkpoint", f"{folder} is readable and writable on all executors")
