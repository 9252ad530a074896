"""A first look at Boxcars: a network finds cloned phones on Spark, is killed, and goes on.

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
"""The newest alerts that are shown."""


@dataclass
class Watch:
    """What is known of a run: the last line that its process has printed, and the alerts."""

    calls: int
    folder: Path
    instances: int
    line: dict[str, Any] = field(default_factory=dict)
    alerts: pl.DataFrame = field(default_factory=pl.DataFrame)
    ending: str = ""
    begun: float = field(default_factory=perf_counter)
    """When its process was started."""
    first: float = 0.0
    """The seconds until it had committed an epoch."""
    spinner: Spinner = field(default_factory=lambda: Spinner("dots"))

    @property
    def epoch(self) -> int:
        """The last epoch that was committed."""
        return int(self.line.get("epoch", 0))

    def hear(self, text: str) -> None:
        """Take in a line, and read what came out of new epochs."""
        before, self.line = self.epoch, json.loads(text)
        if not self.first and self.line["stats"]["boxes"]["calls"]["in_rate"]:
            self.first = perf_counter() - self.begun
        if self.epoch != before and list((self.folder / "clones").glob("part-*.parquet")):
            self.alerts = pl.read_parquet(self.folder / "clones/part-*.parquet")

    def headline(self) -> str:
        """How the run stands, in one line."""
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
        """The headline, a bar, and what the boxes and the alerts are."""
        if not self.first:
            self.spinner.update(text=self.headline())
            return self.spinner
        bar, tables = Table.grid(), Table.grid(padding=(0, 2))
        bar.add_row(ProgressBar(self.calls, self.line["read"], width=72))
        tables.add_row(self._boxes(), self._alerts())
        return Group(self.headline(), bar, tables)

    def _boxes(self) -> Table:
        table = Table("box", title="What each box does", title_justify="left")
        for name in ("tuples/s", "µs each", "kept"):
            table.add_column(name, justify="right")
        for name, box in self.line["stats"]["boxes"].items():
            cost = "" if box["fused_into"] or box["cost"] is None else f"{box['cost']:.2f}"
            table.add_row(name, f"{box['in_rate']:,.0f}", cost, f"{box['state_rows']:,}")
        return table

    def _alerts(self) -> Table:
        table = Table("at", "phone", title="The newest alerts", title_justify="left")
        table.add_column("km/h", justify="right")
        for row in self.alerts.reverse().head(SHOWN).iter_rows(named=True):
            minutes = row["time"] // 60
            at = f"{minutes // 60:02d}:{minutes % 60:02d}"
            table.add_row(at, row["phone"], f"{row['kmh']:,.0f}")
        return table


@contextmanager
def started(watch: Watch) -> Iterator[subprocess.Popen[str]]:
    """A process that runs the network, in a session of its own so that all of it can be killed."""
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
    """Show a run as it goes: a live table, or now and then a line where there is no terminal."""
    live = Live(console=console, get_renderable=watch.view, refresh_per_second=5)
    lines = nullcontext() if console.is_terminal else telling(watch)
    with started(watch) as process, live if console.is_terminal else lines:
        assert process.stdout is not None
        for text in process.stdout:
            watch.hear(text)
            if kill and watch.line["state"] == "running" and watch.line["read"] * 2 >= watch.calls:
                os.killpg(process.pid, signal.SIGKILL)
                watch.ending = " - killed"
                break


@contextmanager
def telling(watch: Watch) -> Iterator[None]:
    """Print how a run stands when it has changed, once a second at most, and in the end."""
    over, said = Event(), ""

    def tell() -> None:
        nonlocal said
        if (line := watch.headline()) != said:
            print(line, flush=True)
            said = line

    def keep_telling() -> None:
        tell()
        while not over.wait(1):
            tell()

    thread = Thread(target=keep_telling)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()
        tell()


def main(number: int) -> int:
    """Draw, preview, run, kill, go on, compare."""
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
            f"give {expected.height} alerts. We shall see whether Spark finds the same.\n"
        )
        console.print("[bold]On Spark[/bold], epoch by epoch, until somebody kills it\n")
        first = Watch(number, folder, BEFORE)
        show_run(first, console, kill=True)
        second = first
        if first.ending:
            console.print(
                f"\n[bold]kill -9[/bold] to all its processes, behind epoch {first.epoch}. "
                f"It goes on, with {AFTER} instances instead of {BEFORE}\n"
            )
            second = Watch(number, folder, AFTER, alerts=first.alerts)
            show_run(second, console, kill=False)
        return summarize(console, first, second, expected, cloned)


def summarize(
    console: Console, first: Watch, second: Watch, expected: pl.DataFrame, cloned: set[str]
) -> int:
    """Say what was seen; 1 if it was not what it should be."""
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
        f"[bold]{rate:,.0f} calls a second[/bold] over the last epochs on Spark; half of the "
        f"alerts were out {latency['p50']:.2f} s after their calls were read."
    )
    if first.ending:
        lines.append(
            f"[bold]Killed[/bold] after epoch {first.epoch}, gone on with {AFTER} instances "
            f"instead of {BEFORE}. The next epoch was there {second.first:.0f} s later, with the "
            "start of Spark."
        )
    lines.append(
        f"The {second.alerts.height} alerts are [bold]the same, tuple by tuple,[/bold] as in one "
        "process: nothing lost, nothing twice."
        if same
        else "[bold red]The alerts are NOT those of one process.[/bold red]"
    )
    lines.append("\nNext: docs/tutorial/first-network.md, ten minutes from nothing to alerts.")
    console.print()
    console.print(Panel("\n".join(lines), title="What you have seen", title_align="left"))
    return 0 if same else 1


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000))
