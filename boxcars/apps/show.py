"""Run an application on Spark, with generated data, a live view and a summary."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import polars as pl
from pyspark.sql import SparkSession
from rich.console import Console
from rich.live import Live
from rich.markup import escape
from rich.panel import Panel
from rich.progress import Progress

import boxcars as bx
from boxcars.apps.app import App, Verdict, judge
from boxcars.apps.inject import injector_of
from boxcars.apps.watch import Reports, Watch
from boxcars.engine.exec.session import make_session, wake_workers
from boxcars.inject import Injector

EPOCH_ROWS = 500_000
"""Rows of an epoch."""
_TICK, _LINES = 0.2, 2.0
"""Seconds between two polls of a run, and between two lines if there is no terminal."""


@dataclass(frozen=True)
class Outcome:
    """The outcome of a run: a verdict for each output with planted cases, status and statistics."""

    verdicts: Mapping[str, Verdict]
    status: bx.Status
    stats: bx.RunStats

    @property
    def right(self) -> bool:
        """Whether the run finished, found all cases, and raised no false alarm."""
        judged = all(
            not (verdict.missed.height or verdict.false.height)
            for verdict in self.verdicts.values()
        )
        return judged and self.status.state == "finished"


def run_app(
    app: App,
    folder: Path,
    console: Console,
    *,
    rows: int,
    seed: int = 1,
    rate: float | None = None,
    master: str | None = None,
    instances: int | None = None,
) -> Outcome:
    """Generate data, run, show progress and judge; everything is stored in ``folder``."""
    net, feed = app.build(), app.feed(rows, seed)
    bx.save(net, folder / f"{app.name}.yaml")
    inputs = {name: folder / "in" / name for name in net.inputs}
    outputs = {name: folder / "out" / name for name in net.outputs}
    injector = injector_of(feed, inputs, rate)
    watch = Watch(app, rows, {name: Reports(outputs[name]) for name in feed.planted})
    with ThreadPoolExecutor(1, "boxcars-spark") as pool:
        session = pool.submit(_start_spark, master)
        try:
            if rate is None:
                _generate(injector, app, rows, console)
            with _showing(watch, console):
                spark = session.result()
                if rate is not None:
                    injector.start()
                running = bx.run(
                    net,
                    {name: bx.files(where, follow=True) for name, where in inputs.items()},
                    outputs,
                    tables=dict(feed.tables),
                    checkpoint=folder / "checkpoint",
                    epoch_rows=EPOCH_ROWS,
                    instances=instances,
                    spark=spark,
                )
                status = _follow(running, injector, watch)
        finally:
            injector.stop()
    verdicts = {name: _judge(cases, watch.reports[name]) for name, cases in feed.planted.items()}
    outcome = Outcome(verdicts, status, running.stats())
    console.print(summary(app, outcome))
    return outcome


def _start_spark(master: str | None) -> SparkSession:
    """Start Spark and its workers, while the data is still being generated."""
    spark = make_session(master)
    wake_workers(spark)
    return spark


def _generate(injector: Injector, app: App, rows: int, console: Console) -> None:
    with Progress(console=console, transient=True) as progress:
        task = progress.add_task(f"generating {rows:,} {app.unit}", total=rows)
        injector.inject(lambda written: progress.update(task, completed=written))


def _follow(running: bx.Run, injector: Injector, watch: Watch) -> bx.Status:
    """Poll a run until it has ended; Ctrl-C stops it after its epoch."""
    try:
        status = running.status()
        while status.state in ("running", "waiting"):
            if injector.error is not None:
                running.stop()
                raise injector.error
            status = running.wait(_TICK)
            watch.update(status.epoch, sum(status.read.values()), running.stats())
    except KeyboardInterrupt:
        status = running.stop()
        watch.update(status.epoch, sum(status.read.values()), running.stats())
    return status


@contextmanager
def _showing(watch: Watch, console: Console) -> Iterator[None]:
    """Show a live view in a terminal; otherwise print a line when it changes."""
    if console.is_terminal:
        with Live(console=console, get_renderable=watch.view, refresh_per_second=5):
            yield
        return
    ended = threading.Event()

    def print_changes() -> None:
        printed = ""
        while True:
            if (line := watch.headline()) != printed:
                console.print(line)
                printed = line
            if ended.wait(_LINES):
                break

    thread = threading.Thread(target=print_changes, name="boxcars-lines", daemon=True)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()


def _judge(cases: pl.DataFrame, reports: Reports) -> Verdict:
    rows = reports.refresh()
    return judge(cases, rows if rows.width else cases.clear())


def summary(app: App, outcome: Outcome) -> Panel:
    """The summary of a run: cases found and missed, false alarms, and throughput."""
    status, lines = outcome.status, list[str]()
    for name, verdict in outcome.verdicts.items():
        planted = verdict.found.height + verdict.missed.height
        lines.append(
            f"[bold]{name}[/bold]: {verdict.found.height:,} of {planted:,} planted cases found, "
            f"{verdict.missed.height:,} missed, {verdict.false.height:,} false alarms"
        )
        lines += _some("missed", verdict.missed) + _some("false", verdict.false)
    for name, output in outcome.stats.outputs.items():
        utility = "" if output.utility is None else f", average utility {output.utility:.2f}"
        if name not in outcome.verdicts or utility:
            lines.append(f"[bold]{name}[/bold]: {output.tuples:,} results{utility}")
    read = sum(status.read.values())
    lines.append(
        f"{read:,} {app.unit} in {status.seconds:.1f} s on Spark, "
        f"[bold]{read / status.seconds:,.0f} per second[/bold]"
        + ("" if status.state == "finished" else f"; {status.state} before the end")
    )
    return Panel("\n".join(lines), title=app.name, title_align="left", expand=False)


def _some(word: str, cases: pl.DataFrame) -> list[str]:
    """The first few cases, as examples."""
    return [f"  {word}: {escape(str(row))}" for row in cases.head(3).iter_rows(named=True)]
