"""``boxcars linear-road``: run the benchmark, validate the answers, and report the result."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import TYPE_CHECKING, Annotated, Self

import typer
from rich.console import Console

from boxcars.linear_road.facts import DURATION
from boxcars.model.problem import Wrong

if TYPE_CHECKING:
    import polars as pl

    from boxcars.linear_road.report import Report
    from boxcars.linear_road.run import Drive

_INTERVAL = 10.0
"""Seconds between two progress lines if there is no terminal."""


def linear_road_command(
    expressways: Annotated[
        float,
        typer.Option(
            help="Number of expressways; 0.5 is one direction of one expressway.", min=0.5
        ),
    ] = 1.0,
    start: Annotated[
        str, typer.Option("--from", help="Simulated time (h:mm) to fast-forward to, such as 2:45.")
    ] = "0:00",
    stop: Annotated[str, typer.Option("--to", help="Simulated time (h:mm) of the end.")] = "3:00",
    speed: Annotated[
        float, typer.Option(help="Input rate, as a multiple of real time.", min=0.01)
    ] = 1.0,
    seed: Annotated[int, typer.Option(help="Seed of the generated traffic.")] = 1,
    find: Annotated[
        bool, typer.Option("--find", help="Search for the largest valid number of expressways.")
    ] = False,
    out: Annotated[
        Path | None, typer.Option(help="A new folder for the answers of the run.")
    ] = None,
) -> None:
    """Run the Linear Road benchmark: generated traffic, all five queries on Spark, the validator.

    A full run takes three hours. The exit code is 1 if answers are invalid.
    """
    from boxcars.linear_road.run import Drive

    drive = Drive(expressways, seed, read_time(start), read_time(stop), speed)
    if not 0 <= drive.start < drive.stop <= DURATION:
        raise Wrong(f"expected 0:00 <= --from < --to <= 3:00, got {start} and {stop}.")
    if expressways * 2 != round(expressways * 2):
        raise Wrong(f"--expressways must be a multiple of 0.5, got {expressways}.")
    if out is not None and out.exists() and any(out.iterdir()):
        raise Wrong(f"{out}: the folder is not empty. Give a new one.")
    console = Console(highlight=False)
    valid = search(drive, console) if find else judge_drive(drive, console, out).valid
    if not valid:
        raise typer.Exit(1)


def judge_drive(drive: Drive, console: Console, out: Path | None = None) -> Report:
    """Run the benchmark once, and validate the answers."""
    from boxcars.linear_road.past import Seeded
    from boxcars.linear_road.run import answers, drive_on_spark
    from boxcars.linear_road.validator import validate

    console.print(f"\n[bold]Linear Road[/bold], {drive.title()}")
    with ExitStack() as closing:
        folder = out or Path(closing.enter_context(TemporaryDirectory(prefix="boxcars-road-")))
        folder.mkdir(parents=True, exist_ok=True)
        with _ProgressLine(console) as progress_line:
            progress = drive_on_spark(
                drive, folder, lambda progress: progress_line.show(progress.line())
            )
            past = Seeded(drive.expressways, drive.seed)
            given = answers(folder, progress)
            report = validate(_followed(drive, progress_line), given, past, timed_from=drive.start)
    seconds = progress.wall
    console.print(str(report), soft_wrap=True)
    console.print(
        f"[bold]{'valid' if report.valid else 'NOT valid'}[/bold]: {drive.title()}, "
        f"{progress.feeder.read:,} tuples in {seconds:,.0f} s"
    )
    return report


def _followed(drive: Drive, progress_line: _ProgressLine) -> Iterator[pl.DataFrame]:
    """Generate the traffic again for the validator, and show the progress."""
    from boxcars.linear_road.run import hms

    for tuples in drive.traffic():
        if tuples.height:
            progress_line.show(f"validating: {hms(tuples['time'][0])}")
        yield tuples


class _ProgressLine:
    """Show progress: in a terminal on one line, otherwise as a line every few seconds."""

    def __init__(self, console: Console) -> None:
        self._console, self._shown = console, 0.0
        self._status = console.status("Spark is starting ...") if console.is_terminal else None

    def __enter__(self) -> Self:
        if self._status is not None:
            self._status.start()
        return self

    def __exit__(self, *_: object) -> None:
        if self._status is not None:
            self._status.stop()

    def show(self, line: str) -> None:
        """Show a line; without a terminal at most one per interval."""
        if self._status is not None:
            self._status.update(line)
        elif perf_counter() - self._shown > _INTERVAL:
            self._shown = perf_counter()
            self._console.print(line)


def search(drive: Drive, console: Console) -> bool:
    """Double the expressways while the run is valid, then bisect down to half an expressway."""
    good, bad = 0.0, float("inf")
    while bad - good > 0.5:
        tried = drive.expressways if not good and bad == float("inf") else 2 * good
        if bad < float("inf"):
            tried = max(round(good + bad) / 2, good + 0.5)
        if judge_drive(replace(drive, expressways=tried), console).valid:
            good = tried
        else:
            bad = tried
    console.print(f"\nlargest valid number of expressways: [bold]{good:g}[/bold]")
    return good > 0


def read_time(text: str) -> int:
    """Parse a time such as 2:45 or 0:10:30 to seconds.

    >>> read_time("2:45"), read_time("0:10:30")
    (9900, 630)
    """
    if not re.fullmatch(r"\d+:\d\d(:\d\d)?", text):
        raise Wrong(f"expected a time such as 2:45, got '{text}'.")
    hours, minutes, *seconds = map(int, text.split(":"))
    return hours * 3600 + minutes * 60 + sum(seconds)
