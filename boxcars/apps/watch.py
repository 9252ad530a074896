"""The progress of an application, as a live table and as a line."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import polars as pl
from rich.console import Group, RenderableType
from rich.progress_bar import ProgressBar
from rich.spinner import Spinner
from rich.table import Table

from boxcars.apps.app import App
from boxcars.engine.stats.run_stats import RunStats

REPORTS, BOXES, COLUMNS = 12, 8, 7
"""Maximum numbers shown: reports over all outputs, boxes, and columns of a report."""
_WIDTH = 72
"""Characters of the progress bar."""


class Reports:
    """The reports of an output, read from its folder."""

    def __init__(self, folder: Path) -> None:
        self._folder, self._seen = folder, set[str]()
        self.rows = pl.DataFrame()

    def refresh(self) -> pl.DataFrame:
        """Read new parts, and return all reports."""
        new = sorted(path for path in self._folder.glob("part-*.parquet"))
        new = [path for path in new if path.name not in self._seen]
        if new:
            self._seen.update(path.name for path in new)
            frames = [pl.read_parquet(path) for path in new]
            self.rows = pl.concat([*([self.rows] if self.rows.width else []), *frames])
        return self.rows


@dataclass
class Watch:
    """The state of a run: progress, statistics, and reports."""

    app: App
    rows: int
    reports: Mapping[str, Reports]
    read: int = 0
    epoch: int = 0
    stats: RunStats = field(default_factory=RunStats)
    _spinner: Spinner = field(default_factory=lambda: Spinner("dots"))

    def update(self, epoch: int, read: int, stats: RunStats) -> None:
        """Store the progress of the run, and read the reports of new epochs."""
        if epoch != self.epoch:
            for reports in self.reports.values():
                reports.refresh()
        self.epoch, self.read, self.stats = epoch, read, stats

    def headline(self) -> str:
        """The progress of the run in one line."""
        if not self.epoch:
            return "Spark is starting ..."
        out = sum(output.tuples for output in self.stats.outputs.values())
        latency = "" if self.stats.p95 is None else f", latency p95 {self.stats.p95:.2f} s"
        return (
            f"epoch {self.epoch}: {self.read:,} of {self.rows:,} {self.app.unit}, "
            f"{self.stats.in_rate:,.0f}/s, {out:,} results{latency}"
        )

    def view(self) -> RenderableType:
        """The headline, a progress bar, the newest reports, and the busiest boxes."""
        if not self.epoch:
            self._spinner.update(text=self.headline())
            return self._spinner
        bar = Table.grid()
        bar.add_row(ProgressBar(self.rows, self.read, width=_WIDTH))
        most = max(REPORTS // max(len(self.reports), 1), 1)
        newest = [_newest(name, reports.rows, most) for name, reports in self.reports.items()]
        return Group(self.headline(), bar, *newest, self._boxes())

    def _boxes(self) -> Table:
        """The boxes with the most time; fused boxes are one line."""
        boxes = {name: box for name, box in self.stats.boxes.items() if not box.fused_into}
        busiest = sorted(boxes, key=lambda name: -boxes[name].seconds)[:BOXES]
        title = f"The busiest {len(busiest)} of {len(self.stats.boxes)} boxes and inputs"
        table = _plain_table(title)
        table.add_column("box")
        for name in ("in", "out", "tuples/s", "µs/tuple", "state rows"):
            table.add_column(name, justify="right")
        for name in busiest:
            box = boxes[name]
            counts = (f"{box.tuples_in:,}", f"{box.tuples_out:,}", f"{box.in_rate:,.0f}")
            cost = "" if box.cost is None else f"{box.cost:.2f}"
            table.add_row(name, *counts, cost, f"{box.state_rows:,}")
        return table


def _newest(output: str, rows: pl.DataFrame, most: int) -> RenderableType:
    """The first columns of the last reports of an output."""
    if not rows.height:
        return f"{output}: nothing yet"
    table = _plain_table(f"{output}: the newest of {rows.height:,}")
    for name, kind in list(rows.schema.items())[:COLUMNS]:
        table.add_column(name, justify="right" if kind.is_numeric() else "left")
    for row in rows.reverse().head(most).iter_rows():
        table.add_row(*map(_shown, row[:COLUMNS]))
    return table


def _plain_table(title: str) -> Table:
    """A table without borders, so that several fit on a screen."""
    return Table(
        title=f"\n{title}",
        title_justify="left",
        title_style="bold",
        header_style="dim",
        box=None,
        pad_edge=False,
        padding=(0, 2, 0, 0),
    )


def _shown(value: object) -> str:
    return f"{value:,.2f}" if isinstance(value, float) else str(value)
