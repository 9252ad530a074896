"""A first look at Boxcars: find cloned phones on Spark, kill the run, and resume it.

Run it with ``bin/demo`` or ``python examples/first_look.py [CALLS]``.
"""

import json
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import dataclass, field
from pathlib import Path
from threading import Event, Thread
from time import perf_counter
from typing import Any

import polars as pl
from cloned_phones import EPOCHS, generate_calls
from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.panel import Panel
from rich.progress_bar import ProgressBar
from rich.spinner import Spinner
from rich.table import Table

import boxcars as bx
from boxcars.apps.high_mobility import build
from boxcars.draw import draw

BEFORE, AFTER = 2, 3
"""Instances of each subquery, before the kill and after it."""
SHOWN = 7
"""Number of alerts that are shown, newest first."""


@dataclass
class Watch:
    """The state of a run: the last line that its process printed, and the alerts so far."""

    calls: int
    folder: Path
    instances: int
    line: dict[str, Any] = field(default_factory=dict)
    alerts: pl.DataFrame = field(default_factory=pl.DataFrame)
    ending: str = ""
    started_at: float = field(default_factory=perf_counter)
    """When its process was started, by ``perf_counter``."""
    first: float = 0.0
    """Seconds until it committed its first epoch."""
    spinner: Spinner = field(default_factory=lambda: Spinner("dots"))

    @property
    def epoch(self) -> int:
        """The last committed epoch."""
        return int(self.line.get("epoch", 0))

    def update(self, text: str) -> None:
        """Process a line of the run, and read the alerts of new epochs."""
        before, self.line = self.epoch, json.loads(text)
        if not self.first and self.line["stats"]["boxes"]["calls"]["in_rate"]:
            self.first = perf_counter() - self.started_at
        if self.epoch != before and list((self.folder / "clones").glob("part-*.parquet")):
            self.alerts = pl.read_parquet(self.folder / "clones/part-*.parquet")

    def headline(self) -> str:
        """The progress of the run in one line."""
        if not self.first:
            return f"Spark is starting, with {self.instances} instances of each subquery ..."
        output = self.line["stats"]["outputs"]["clones"]
        rate = self.line["stats"]["boxes"]["calls"]["in_rate"]
        latency = output["latency"]
        took = f", latency p95 {latency['p95']:.2f} s" if latency else ""
        return (
            f"epoch {self.epoch}: {self.line['read']:,} of {self.calls:,} calls, "
            f"{rate:,.0f}/s, {self.alerts.height} alerts{took}{self.ending}"
        )

    def view(self) -> RenderableType:
        """The headline, a progress bar, and tables of boxes and alerts."""
        if not self.first:
            self.spinner.update(text=self.headline())
            return self.spinner
        bar, tables = Table.grid(), Table.grid(padding=(0, 2))
        bar.add_row(ProgressBar(self.calls, self.line["read"], width=72))
        tables.add_row(self._boxes(), self._alerts())
        return Group(self.headline(), bar, tables)

    def _boxes(self) -> Table:
        table = Table("box", title="Boxes", title_justify="left")
        for name in ("tuples/s", "µs/tuple", "state rows"):
            table.add_column(name, justify="right")
        for name, box in self.line["stats"]["boxes"].items():
            cost = "" if box["fused_into"] or box["cost"] is None else f"{box['cost']:.2f}"
            table.add_row(name, f"{box['in_rate']:,.0f}", cost, f"{box['state_rows']:,}")
        return table

    def _alerts(self) -> Table:
        table = Table("time", "phone", title="Newest alerts", title_justify="left")
        table.add_column("km/h", justify="right")
        for row in self.alerts.reverse().head(SHOWN).iter_rows(named=True):
            minutes = row["time"] // 60
            at = f"{minutes // 60:02d}:{minutes % 60:02d}"
            table.add_row(at, row["phone"], f"{row['kmh']:,.0f}")
        return table


@contextmanager
def started(watch: Watch) -> Iterator[subprocess.Popen[str]]:
    """Start a process that runs the network, in its own session so that all of it can be killed."""
    program = Path(__file__).with_name("cloned_phones.py")
    log = watch.folder / "log.txt"
    with log.open("w", encoding="utf-8") as errors:
        process = subprocess.Popen(
            [sys.executable, str(program), str(watch.folder), str(watch.instances)],
            stdout=subprocess.PIPE,
            stderr=errors,
            text=True,
            start_new_session=True,
        )
        with process:
            try:
                yield process
            finally:
                with suppress(ProcessLookupError):
                    os.killpg(process.pid, signal.SIGKILL)
    if watch.line.get("state") != "finished" and not watch.ending:
        sys.exit(f"the run failed:\n{log.read_text(encoding='utf-8')[-2000:]}")


def show_run(watch: Watch, console: Console, kill: bool) -> None:
    """Show the progress of a run: a live table, or lines if there is no terminal."""
    live = Live(console=console, get_renderable=watch.view, refresh_per_second=5)
    lines = nullcontext() if console.is_terminal else printing_progress(watch)
    with started(watch) as process, live if console.is_terminal else lines:
        assert process.stdout is not None
        for text in process.stdout:
            watch.update(text)
            if kill and watch.line["state"] == "running" and watch.line["read"] * 2 >= watch.calls:
                os.killpg(process.pid, signal.SIGKILL)
                watch.ending = " - killed"
                break


@contextmanager
def printing_progress(watch: Watch) -> Iterator[None]:
    """Print the headline when it changes, at most once a second, and at the end."""
    ended, printed = Event(), ""

    def print_change() -> None:
        nonlocal printed
        if (line := watch.headline()) != printed:
            print(line, flush=True)
            printed = line

    def print_changes() -> None:
        print_change()
        while not ended.wait(1):
            print_change()

    thread = Thread(target=print_changes)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()
        print_change()


def main(number: int) -> int:
    """Draw, preview, run, kill, resume and compare."""
    console = Console(highlight=False)
    net = build()
    console.print("[bold]A network[/bold]: boxes and arrows, checked before anything runs\n")
    print(draw(net, "text", width=console.width))
    calls, cloned = generate_calls(number)
    with tempfile.TemporaryDirectory(prefix="boxcars-demo-") as name:
        folder = Path(name)
        calls.write_parquet(folder / "calls.parquet", row_group_size=max(number // EPOCHS, 1))
        bx.preview(net, {"calls": calls[:1000]})
        start = perf_counter()
        expected = pl.DataFrame(bx.preview(net, {"calls": calls}, trains=5)["clones"])
        console.print(
            f"[bold]In this process[/bold]: {number:,} calls in {perf_counter() - start:.1f} s "
            f"give {expected.height} alerts. Spark must find the same.\n"
        )
        console.print("[bold]On Spark[/bold], epoch by epoch, until it is killed\n")
        first = Watch(number, folder, BEFORE)
        show_run(first, console, kill=True)
        second = first
        if first.ending:
            console.print(
                f"\n[bold]kill -9[/bold] to all its processes after epoch {first.epoch}. "
                f"Resuming with {AFTER} instances instead of {BEFORE}\n"
            )
            second = Watch(number, folder, AFTER, alerts=first.alerts)
            show_run(second, console, kill=False)
        return summarize(console, first, second, expected, cloned)


def summarize(
    console: Console, first: Watch, second: Watch, expected: pl.DataFrame, cloned: set[str]
) -> int:
    """Print the summary; return 1 if the results differ from those of one process."""
    found, same = set(second.alerts["phone"]), second.alerts.equals(expected)
    stats = second.line["stats"]
    latency = stats["outputs"]["clones"]["latency"]
    rate = stats["boxes"]["calls"]["in_rate"]
    lines: list[str] = []
    lines.append(
        f"[bold]{len(found & cloned)} of {len(cloned)} cloned phones found[/bold] in "
        f"{second.calls:,} calls, and {len(found - cloned)} false alarms."
    )
    lines.append(
        f"[bold]{rate:,.0f} calls per second[/bold] over the last epochs on Spark; half of the "
        f"alerts were written within {latency['p50']:.2f} s after their calls were read."
    )
    if first.ending:
        lines.append(
            f"[bold]Killed[/bold] after epoch {first.epoch}, resumed with {AFTER} instances "
            f"instead of {BEFORE}. The next epoch was committed {second.first:.0f} s later, "
            "including the start of Spark."
        )
    lines.append(
        f"The {second.alerts.height} alerts are [bold]the same, tuple for tuple,[/bold] as in one "
        "process: nothing lost, nothing duplicated."
        if same
        else "[bold red]The alerts are NOT the same as in one process.[/bold red]"
    )
    lines.append("\nNext: docs/tutorial/first-network.md, your own network in ten minutes.")
    console.print()
    console.print(Panel("\n".join(lines), title="Summary", title_align="left"))
    return 0 if same else 1


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000))
