"""The same workloads on Boxcars and other engines: throughput, and a comparison of the results.

``python bench/race/race.py [--quick] [--results FOLDER] [NAME ...]`` runs some of the workloads
(map-filter, sliding, mobility, join, aggregates) or engines (spark, flink, bytewax, pathway;
boxcars is always included); ``boxcars bench race`` reads the same arguments from BOXCARS_RACE. Each
query is written idiomatically, and runs in a separate environment, which is created on first use.
First all engines process the same small data, and their rows must equal those of Boxcars, except
for windows that are open at the end. Then each processes as much of the large data as it can in
some seconds.
"""

import argparse
import os
import shlex
import signal
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import polars as pl
from _compare import closed, difference, read_rows
from _contest import Limits, Order
from _contestants import BOXCARS, CONTESTANTS, Contestant
from _report import NOT_WARM, WARM, Entry, report
from _workloads import (
    SMALL,
    WINDOW,
    WORKLOADS,
    Workload,
    large_data,
    large_rows,
    small_data,
    write,
)
from rich.console import Console

from boxcars.model.problem import BoxcarsError

RESULTS = Path("bench-results")


@dataclass(frozen=True)
class Size:
    """Rows of the large data, and the limits of each engine."""

    rows: int
    limits: Limits


FULL, QUICK = Size(4_000_000, Limits(8, 2)), Size(500_000, Limits(3, 0))


@dataclass(frozen=True)
class Race:
    """A workload with its data and output folder."""

    workload: Workload
    folder: Path
    limits: Limits

    @classmethod
    def prepare(cls, workload: Workload, folder: Path, size: Size) -> "Race":
        """Write its data."""
        write(small_data(workload), SMALL, folder / "small")
        write(large_data(workload, size.rows), large_rows(size.rows), folder / "large")
        return cls(workload, folder, size.limits)

    def enter(self, contestant: Contestant) -> Entry:
        """Run an engine, and compare its rows with those of Boxcars, which runs first."""
        empty = Entry(self.workload.name, self.workload.sentence, contestant.name, contestant.title)
        out = self.folder / contestant.name
        order = Order(
            self.workload.name, self.folder / "small", self.folder / "large", out, self.limits
        )
        try:
            result = contestant.run(order)
            ours, theirs = self.rows(BOXCARS), self.rows(contestant.name)
        except BoxcarsError as error:
            return replace(empty, trouble=str(error))
        return replace(
            empty,
            rows=result.rows,
            seconds=tuple(result.seconds),
            compared=ours.height,
            trouble=difference(ours, theirs),
        )

    def rows(self, name: str) -> pl.DataFrame:
        """The rows of the small data that can be compared."""
        rows = read_rows(self.folder / name / "small" / "out", self.workload.fields)
        return closed(rows, self.end(), WINDOW) if self.workload.windows else rows

    def end(self) -> int:
        """The time of the last tuple of the small data."""
        files = self.folder / "small" / "parquet" / "*" / "*.parquet"
        return int(pl.scan_parquet(files).select(pl.col("time").max()).collect().item())


def entries(
    workloads: Sequence[Workload], contestants: Sequence[Contestant], size: Size, console: Console
) -> Iterator[Entry]:
    """Run every engine on every workload, one after the other."""
    for workload in workloads:
        console.print(f"{workload.name}: {workload.sentence}")
        with tempfile.TemporaryDirectory(prefix="boxcars-race-") as folder:
            race = Race.prepare(workload, Path(folder), size)
            for contestant in contestants:
                entry = race.enter(contestant)
                outcome = entry.trouble or f"{entry.speed or 0:,.0f} tuples/s, the same rows"
                console.print(f"  {contestant.title}: {outcome}", highlight=False, markup=False)
                yield entry


def installed(contestants: Sequence[Contestant], console: Console) -> Iterator[Contestant]:
    """Engines that are or can be installed; for the others print the reason."""
    for contestant in contestants:
        try:
            contestant.python.resolve()
        except BoxcarsError as error:
            console.print(str(error), markup=False)
            continue
        yield contestant


def options() -> argparse.Namespace:
    """The options on the command line, or in BOXCARS_RACE."""
    parser = argparse.ArgumentParser(
        prog="race.py", description="Compare Boxcars with other engines."
    )
    parser.add_argument("names", nargs="*", help="workloads or engines; default: all")
    parser.add_argument("--quick", action="store_true", help="little data, no warm-up")
    parser.add_argument("--results", type=Path, default=RESULTS, help="output folder")
    given = parser.parse_args(sys.argv[1:] or shlex.split(os.environ.get("BOXCARS_RACE", "")))
    if unknown := set(given.names) - {*WORKLOADS, *CONTESTANTS}:
        known = ", ".join((*WORKLOADS, *CONTESTANTS))
        parser.error(f"there is no {', '.join(sorted(unknown))}; expected some of {known}")
    return given


def chosen(everything: dict[str, Any], names: Sequence[str], always: str = "") -> list[Any]:
    """The named ones, or all if none is named."""
    if not set(everything) & set(names) - {always}:
        return list(everything.values())
    return [each for name, each in everything.items() if name in names or name == always]


def main() -> None:
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # cleans up, and ends the running engine
    given, console = options(), Console()
    racing = list(installed(chosen(CONTESTANTS, given.names, BOXCARS), console))
    size = QUICK if given.quick else FULL
    found = list(entries(chosen(WORKLOADS, given.names), racing, size, console))
    promises = {f"{each.title} {each.version}": each.promise for each in racing}
    measured = NOT_WARM if given.quick else WARM
    report(found, promises, measured, given.results, console)
    if any(entry.trouble for entry in found):
        sys.exit("not every engine computed the same rows as Boxcars.")


if __name__ == "__main__":
    main()
