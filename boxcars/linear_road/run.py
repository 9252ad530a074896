"""Run Linear Road on Spark: traffic in, answers with their emission times out."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import polars as pl

import boxcars as bx
from boxcars.linear_road.expenditure import write_tolls
from boxcars.linear_road.facts import ANSWERS, DURATION, SEGMENTS
from boxcars.linear_road.feeder import Clock, Feeder
from boxcars.linear_road.history import write_travel_history
from boxcars.linear_road.network import build
from boxcars.linear_road.traffic import Traffic

EPOCH_ROWS = 1_000_000
_TICK = 0.25
"""Seconds between two polls of the run."""
_STRIDE = 30
"""Seconds of traffic per file in the fast-forward."""


@dataclass(frozen=True)
class Drive:
    """The parameters of a run: expressways, seed, interval in seconds, and speed."""

    expressways: float = 1.0
    seed: int = 1
    start: int = 0
    stop: int = DURATION
    speed: float = 1.0

    def title(self) -> str:
        """A description of the run.

        >>> Drive(2.5, start=9_900, speed=2).title()
        'L = 2.5, fast-forward to 2:45:00, until 3:00:00 at 2 times real time'
        """
        ahead = f", fast-forward to {hms(self.start)}" if self.start else ""
        rate = "in real time" if self.speed == 1 else f"at {self.speed:g} times real time"
        return f"L = {self.expressways:g}{ahead}, until {hms(self.stop)} {rate}"

    def traffic(self) -> Iterator[pl.DataFrame]:
        """Yield all tuples: in frames of ``_STRIDE`` seconds up to the start, then per second."""
        roads = Traffic(self.expressways, self.seed)
        while roads.time < self.stop:
            stride = min(_STRIDE, self.start - roads.time) if roads.time < self.start else 1
            yield roads.next(stride)


@dataclass
class Progress:
    """The progress of a run."""

    drive: Drive
    clock: Clock
    feeder: Feeder
    emitted: dict[int, float] = field(default_factory=dict)
    """When each epoch was committed, in seconds of event time."""
    out: dict[str, int] = field(default_factory=dict)
    stats: bx.RunStats = field(default_factory=bx.RunStats)
    wall: float = 0.0
    """Wall-clock seconds of the whole run, without the start of Spark."""

    def line(self) -> str:
        """The progress in one line."""
        feeder = self.feeder
        tolls = self.out.get("tolls", 0)
        if not self.clock.running:
            head = f"fast-forward: {hms(feeder.time)}, {feeder.read:,} tuples"
        else:
            lag = feeder.written - feeder.read
            head = f"{hms(self.clock.now())}: {feeder.read:,} tuples, lag {lag:,}"
        return f"{head}, {self.stats.in_rate:,.0f}/s, {tolls:,} toll notifications"


def drive_on_spark(
    drive: Drive, folder: Path, report: Callable[[Progress], None] = lambda _: None
) -> Progress:
    """Run the benchmark; the answers are in ``folder/answers``, see :func:`answers`."""
    past, tolls = folder / "past.npy", folder / "tolls.npy"
    write_travel_history(past, drive.expressways, drive.seed)
    write_tolls(tolls, drive.expressways, drive.seed)
    clock = Clock(drive.start, drive.speed)
    feeder = Feeder(drive.traffic(), folder / "road", clock)
    progress = Progress(drive, clock, feeder)
    roads = round(drive.expressways * 2) + round(drive.expressways * 2) % 2
    segments = {"segment": list(range(roads * SEGMENTS))}

    def on_epoch(status: bx.Status) -> None:
        progress.emitted[status.epoch] = clock.now()
        progress.out = dict(status.out)
        feeder.acknowledge(sum(status.read.values()))

    feeder.start()
    try:
        running = bx.run(
            build(str(past), str(tolls)),
            {"road": bx.files(folder / "road", follow=True)},
            {name: folder / "answers" / name for name in ANSWERS},
            tables={"segments": segments},
            checkpoint=folder / "checkpoint",
            epoch_rows=EPOCH_ROWS,
            tell=on_epoch,
        )
        while (status := running.wait(_TICK)).state in ("running", "waiting"):
            if feeder.error is not None:
                running.stop()
                raise feeder.error
            progress.stats = running.stats()
            report(progress)
        progress.wall = status.seconds
    finally:
        feeder.stop()
    return progress


def answers(folder: Path, progress: Progress) -> dict[str, pl.LazyFrame]:
    """The answers of each kind with their emission times.

    Those of the fast-forward count as emitted immediately.
    """
    found = {}
    before = pl.col("time") < progress.clock.start
    emit = pl.when(before).then("time").otherwise("emitted").cast(pl.Float64)
    for kind, schema in ANSWERS.items():
        parts = sorted((folder / "answers" / kind).glob("part-*.parquet"))
        if not parts:
            found[kind] = pl.LazyFrame(schema=schema)
            continue
        emitted = [progress.emitted[int(path.stem.removeprefix("part-"))] for path in parts]
        known = pl.LazyFrame({"part": list(map(str, parts)), "emitted": emitted})
        rows = pl.scan_parquet(parts, include_file_paths="part")
        rows = rows.join(known, on="part", how="left", maintain_order="left")
        found[kind] = rows.with_columns(emit=emit).select(list(schema))
    return found


def hms(seconds: float) -> str:
    """Format a time.

    >>> hms(9_905.7)
    '2:45:05'
    """
    minutes, second = divmod(int(seconds), 60)
    return f"{minutes // 60}:{minutes % 60:02d}:{second:02d}"
