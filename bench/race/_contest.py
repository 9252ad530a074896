"""What every contestant does: one job over the small data, then timed jobs over the large.

A contestant is a script that runs in an environment of its own, so this needs nothing but Python.
It gives a job: a function that prepares one run over some files and returns the run itself, and
only the run is timed. The first run is over the small data, and its rows are compared with those
of the others. Then come runs over more and more of the large data, until one takes about as long
as was asked for; they warm up. The last are the rounds that count. A round is a run over the first
file alone and one over as many as fit: the difference of the two has neither the start nor the end
of a job in it, which take some engines seconds.
"""

import json
import shutil
import sys
import tempfile
from collections.abc import Callable
from dataclasses import asdict, dataclass
from itertools import accumulate
from pathlib import Path
from time import perf_counter

RESULT = "result.json"
ROWS = "rows.json"
FASTER = 30
"""How many times as much data the next run has, at most, while it warms up."""


@dataclass(frozen=True)
class Task:
    """A workload over the first parts of some data, and where its results go."""

    workload: str
    data: Path
    parts: int
    out: Path
    small: bool = False

    def files(self, kind: str) -> dict[str, list[Path]]:
        """The files of each input, in the order of their time; kinds are parquet and csv."""
        folders = sorted((self.data / kind).iterdir())
        return {folder.name: sorted(folder.iterdir())[: self.parts] for folder in folders}

    def folders(self, kind: str) -> dict[str, Path]:
        """A folder for each input that holds these files only."""
        return {name: self._linked(name, files) for name, files in self.files(kind).items()}

    def _linked(self, name: str, files: list[Path]) -> Path:
        folder = self.out / "in" / name
        folder.mkdir(parents=True)
        for path in files:
            (folder / path.name).symlink_to(path)
        return folder

    @property
    def results(self) -> Path:
        """The folder that the rows are written to."""
        return self.out / "out"


Run = Callable[[], None]
Job = Callable[[Task], Run]


@dataclass(frozen=True)
class Limits:
    """How many seconds a round may take, and how many count; with none, the last warm-up does."""

    seconds: float
    rounds: int


@dataclass(frozen=True)
class Order:
    """What a contestant is told: the workload, the data and where to write."""

    workload: str
    small: Path
    large: Path
    out: Path
    limits: Limits

    def arguments(self) -> list[str]:
        """It as arguments of a command."""
        limits = asdict(self.limits).values()
        return [self.workload, *map(str, (self.small, self.large, self.out, *limits))]

    @classmethod
    def read(cls, arguments: list[str]) -> "Order":
        """The inverse of that."""
        workload, small, large, out, seconds, rounds = arguments
        limits = Limits(float(seconds), int(rounds))
        return cls(workload, Path(small), Path(large), Path(out), limits)


@dataclass(frozen=True)
class Result:
    """The rows of a round, and the seconds that each took."""

    rows: int
    seconds: list[float]


def contest(job: Job) -> None:
    """Do what the command line says, and write rows and seconds of the rounds as JSON."""
    order = Order.read(sys.argv[1:])
    rows = json.loads((order.small / ROWS).read_text())
    job(Task(order.workload, order.small, len(rows), order.out / "small", small=True))()
    (order.out / RESULT).write_text(json.dumps(asdict(measure(job, order))))


def measure(job: Job, order: Order) -> Result:
    """The rounds, over as many parts as fit."""
    totals = list(accumulate(json.loads((order.large / ROWS).read_text())))
    once(job, order, 1)
    first, parts, limit = once(job, order, 1), 2, order.limits.seconds
    while True:
        seconds = once(job, order, parts) - first
        if 2 * seconds > limit:  # or was it only that the machine was busy?
            seconds = min(seconds, once(job, order, parts) - first)
        if parts == len(totals) or 2 * seconds > limit:
            break
        faster = min(limit / max(seconds, 1e-3), FASTER)
        parts = max(parts + 1, fitting(totals, faster * totals[parts - 1]))
    taken = [once(job, order, parts) - once(job, order, 1) for _ in range(order.limits.rounds)]
    return Result(totals[parts - 1] - totals[0], taken or [seconds])


def fitting(totals: list[int], rows: float) -> int:
    """How many parts have no more than so many rows in all; one at least.

    >>> fitting([10, 30, 60], 59)
    2
    """
    return max(1, sum(total <= rows for total in totals))


def name_columns(folder: Path, names: str) -> None:
    """Put a line of names before each file of CSV in a folder."""
    for path in sorted(folder.iterdir()):
        if path.stat().st_size:
            path.with_suffix(".csv").write_text(f"{names}\n{path.read_text()}")


def once(job: Job, order: Order, parts: int) -> float:
    """The seconds of one run over the large data; what it wrote is thrown away."""
    order.out.mkdir(parents=True, exist_ok=True)
    out = Path(tempfile.mkdtemp(prefix="large-", dir=order.out))
    task = Task(order.workload, order.large, parts, out)
    run = job(task)
    start = perf_counter()
    run()
    seconds = perf_counter() - start
    shutil.rmtree(out, ignore_errors=True)  # Flink may be clearing up there too
    return seconds
