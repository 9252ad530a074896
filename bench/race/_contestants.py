"""Who races: the script of each, where it runs, and what it promises while it is measured."""

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
"""How many times as long as a round, and how many seconds more, all of it may take."""


@dataclass(frozen=True)
class Contestant:
    """An engine; ``promise`` says how it was set, and what it guarantees so."""

    name: str
    title: str
    version: str
    promise: str

    @cached_property
    def python(self) -> Path:
        """Its interpreter."""
        return environment(self.name) if self.name in PINS else Path(sys.executable)

    def run(self, order: Order) -> Result:
        """What it took; its rows of the small data are in the folder of the order."""
        order.out.mkdir(parents=True)
        script = Path(__file__).with_name(f"_{self.name}.py")
        command = [str(self.python), str(script), *order.arguments()]
        log = order.out / "log"
        with log.open("w", encoding="utf-8") as said:
            code = finish(
                subprocess.Popen(
                    command, stdout=said, stderr=subprocess.STDOUT, start_new_session=True
                ),
                SLACK * (1 + order.limits.seconds),
            )
        if code is None:
            raise BoxcarsError(f"{self.title} took too long.")
        if code:
            raise BoxcarsError(f"{self.title} failed: {last_line(log)}")
        return Result(**json.loads((order.out / RESULT).read_text(encoding="utf-8")))


def finish(process: subprocess.Popen[bytes], seconds: float) -> int | None:
    """Its exit code; if it takes longer, none, and it is ended with all that it started."""
    try:
        return process.wait(seconds)
    except subprocess.TimeoutExpired:
        return None
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()


def last_line(log: Path) -> str:
    """The last line of what was said."""
    lines = log.read_text(encoding="utf-8", errors="replace").strip().splitlines()
    return lines[-1].strip() if lines else "it said nothing."


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
            "for its Parquet is not in its package",
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
