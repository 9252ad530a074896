"""The procedure of every engine: one job over the small data, then timed jobs over the large data.

An engine's script runs in its own environment, so this module only needs Python. The script
provides a job: a function that prepares a run over some files and returns the run; only the run is
timed. The first run is over the small data, and its rows are compared with those of the others.
Then come warm-up runs over more and more of the large data, until one takes about as long as
requested. The last runs are the rounds that count. A round is a run over the first file alone and
one over as many as fit: the difference excludes the start and end of a job, which take seconds on
some engines.
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
"""Maximum growth factor of the data from one warm-up run to the next."""


@dataclass(frozen=True)
class Task:
    """A workload over the first files of some data, and the folder of its results."""

    workload: str
    data: Path
    parts: int
    out: Path
    small: bool = False

    def files(self, kind: str) -> dict[str, list[Path]]:
        """The files of each input, sorted by time; kinds are parquet and csv."""
        folders = sorted((self.data / kind).iterdir())
        return {folder.name: sorted(folder.iterdir())[: self.parts] for folder in folders}

    def folders(self, kind: str) -> dict[str, Path]:
        """A folder for each input with only these files."""
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
    """Seconds and number of rounds; with none, the last warm-up run counts."""

    seconds: float
    rounds: int


@dataclass(frozen=True)
class Order:
    """The order for an engine: the workload, the data and the output folder."""

    workload: str
    small: Path
    large: Path
    out: Path
    limits: Limits

    def arguments(self) -> list[str]:
        """The order as command-line arguments."""
        limits = asdict(self.limits).values()
        return [self.workload, *map(str, (self.small, self.large, self.out, *limits))]

    @classmethod
    def read(cls, arguments: list[str]) -> "Order":
        """Parse command-line arguments."""
        workload, small, large, out, seconds, rounds = arguments
        limits = Limits(float(seconds), int(rounds))
        return cls(workload, Path(small), Path(large), Path(out), limits)


@dataclass(frozen=True)
class Result:
    """The rows of a round, and the seconds of each round."""

    rows: int
    seconds: list[float]


def contest(job: Job) -> None:
    """Execute the order on the command line, and write the result as JSON."""
    order = Order.read(sys.argv[1:])
    rows = json.loads((order.small / ROWS).read_text())
    job(Task(order.workload, order.small, len(rows), order.out / "small", small=True))()
    (order.out / RESULT).write_text(json.dumps(asdict(measure(job, order))))


def measure(job: Job, order: Order) -> Result:
    """Run the rounds, over as many files as fit."""
    totals = list(accumulate(json.loads((order.large / ROWS).read_text())))
    once(job, order, 1)
    first, parts, limit = once(job, order, 1), 2, order.limits.seconds
    while True:
        seconds = once(job, order, parts) - first
        if 2 * seconds > limit:  # repeat once, in case the machine was busy
            seconds = min(seconds, once(job, order, parts) - first)
        if parts == len(totals) or 2 * seconds > limit:
            break
        faster = min(limit / max(seconds, 1e-3), FASTER)
        parts = max(parts + 1, fitting(totals, faster * totals[parts - 1]))
    taken = [once(job, order, parts) - once(job, order, 1) for _ in range(order.limits.rounds)]
    return Result(totals[parts - 1] - totals[0], taken or [seconds])


def fitting(totals: list[int], rows: float) -> int:
    """The number of leading files with at most ``rows`` rows in total; at least one.

    >>> fitting([10, 30, 60], 59)
    2
    """
    return max(1, sum(total <= rows for total in totals))


def name_columns(folder: Path, names: str) -> None:
    """Prepend a header to each CSV file in a folder."""
    for path in sorted(folder.iterdir()):
        if path.stat().st_size:
            path.with_suffix(".csv").write_text(f"{names}\n{path.read_text()}")


def once(job: Job, order: Order, parts: int) -> float:
    """The seconds of one run over the large data; its output is discarded."""
    order.out.mkdir(parents=True, exist_ok=True)
    out = Path(tempfile.mkdtemp(prefix="large-", dir=order.out))
    task = Task(order.workload, order.large, parts, out)
    run = job(task)
    start = perf_counter()
    run()
    seconds = perf_counter() - start
    shutil.rmtree(out, ignore_errors=True)  # Flink may be deleting files too
    return seconds
