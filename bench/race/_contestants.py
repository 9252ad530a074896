"""The engines: scripts, environments, and their guarantees during the measurement."""

import json
import os
import signal
import subprocess
import sys
from dataclasses import dataclass
from functools import cached_property
from importlib import metadata
from pathlib import Path

import pyspark
from _contest import RESULT, Order, Result
from _environments import PINS, environment, version

from boxcars.model.problem import BoxcarsError

SLACK = 60.0
"""Timeout of all runs of an engine, as a multiple of the seconds of a round plus one."""


@dataclass(frozen=True)
class Contestant:
    """An engine; ``promise`` describes its configuration and guarantees."""

    name: str
    title: str
    version: str
    promise: str

    @cached_property
    def python(self) -> Path:
        """Its interpreter."""
        return environment(self.name) if self.name in PINS else Path(sys.executable)

    def run(self, order: Order) -> Result:
        """Run the order; the rows of the small data are in its folder."""
        order.out.mkdir(parents=True)
        script = Path(__file__).with_name(f"_{self.name}.py")
        command = [str(self.python), str(script), *order.arguments()]
        log = order.out / "log"
        with log.open("w", encoding="utf-8") as output:
            code = finish(
                subprocess.Popen(
                    command, stdout=output, stderr=subprocess.STDOUT, start_new_session=True
                ),
                SLACK * (1 + order.limits.seconds),
            )
        if code is None:
            raise BoxcarsError(f"{self.title} took too long.")
        if code:
            raise BoxcarsError(f"{self.title} failed: {last_line(log)}")
        return Result(**json.loads((order.out / RESULT).read_text(encoding="utf-8")))


def finish(process: subprocess.Popen[bytes], seconds: float) -> int | None:
    """Return the exit code, or None after a timeout; then kill it with its children."""
    try:
        return process.wait(seconds)
    except subprocess.TimeoutExpired:
        return None
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()


def last_line(log: Path) -> str:
    """The last line of a log."""
    lines = log.read_text(encoding="utf-8", errors="replace").strip().splitlines()
    return lines[-1].strip() if lines else "no output."


BOXCARS = "boxcars"
CONTESTANTS = {
    contestant.name: contestant
    for contestant in (
        Contestant(
            BOXCARS,
            "Boxcars",
            metadata.version("boxcars"),
            "exactly once, a checkpoint on disk for each epoch of a million rows; Parquet",
        ),
        Contestant(
            "spark",
            "Spark",
            pyspark.__version__,
            "Structured Streaming, exactly once, a checkpoint on disk for each trigger of "
            "a million rows, state in memory; Parquet",
        ),
        Contestant(
            "flink",
            "Flink SQL",
            version("flink"),
            "exactly once, a checkpoint on disk every second, state on the heap; CSV, "
            "because its package does not include Parquet",
        ),
        Contestant(
            "bytewax",
            "Bytewax",
            version("bytewax"),
            "no recovery, two processes; Parquet to CSV",
        ),
        Contestant(
            "pathway",
            "Pathway",
            version("pathway"),
            "no persistence, static mode: all data in one commit; CSV",
        ),
    )
}
