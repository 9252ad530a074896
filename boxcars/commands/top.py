"""``boxcars top``: a live view of a running network in the terminal."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console, Group
from rich.live import Live
from rich.table import Table
from rich.text import Text

from boxcars.model.problem import BoxcarsError
from boxcars.service.security import token_from_environment

if TYPE_CHECKING:
    from boxcars.engine.stats.run_stats import RunBoxStats, RunStats

_COLUMNS = ("box", "type", "in/s", "out/s", "µs", "busy", "queue", "state", "hottest bucket")


def top_command(
    address: Annotated[
        str, typer.Argument(help="URL of the run's port.")
    ] = "http://127.0.0.1:7070",
    every: Annotated[float, typer.Option(help="Refresh interval in seconds.", min=0.1)] = 1.0,
    once: Annotated[bool, typer.Option("--once", help="Print the view once and exit.")] = False,
) -> None:
    """Monitor a run that was started with --port: rates, costs, queues and state of its boxes.

    Ctrl-C ends the view, not the run. The token is read from BOXCARS_TOKEN.
    """
    from boxcars.service.client import Client

    client, console = Client(address, token_from_environment()), Console()
    if once or not console.is_terminal:
        console.print(view(client.status(), client.stats()))
        return
    try:
        with Live(console=console, screen=True, auto_refresh=False) as live:
            while True:
                live.update(view(client.status(), client.stats()), refresh=True)
                time.sleep(every)
    except KeyboardInterrupt:
        return
    except BoxcarsError as error:
        console.print(Text(str(error), "red"))
        raise typer.Exit(1) from None


def view(status: dict[str, Any], stats: RunStats) -> Group:
    """The progress of a run: a summary line, a table of boxes, and a table of outputs."""
    latency = "" if stats.p95 is None else f", latency p95 {stats.p95:.2f} s"
    head = Text(
        f"{status['state']}, epoch {status['epoch']}: {stats.in_rate:,.0f} tuples/s in, "
        f"{stats.out_rate:,.0f} out{latency}, up {status['seconds']:,.0f} s",
        "bold",
    )
    boxes = Table(*_COLUMNS[:2], box=None, header_style="dim", pad_edge=False)
    for name in _COLUMNS[2:]:
        boxes.add_column(name, justify="right")
    for name, box in stats.boxes.items():
        boxes.add_row(name, box.type, *_figures(box))
    outputs = Table("output", box=None, header_style="dim", pad_edge=False)
    for name in ("tuples", "tuples/s", "p50", "p95", "p99"):
        outputs.add_column(name, justify="right")
    for name, output in stats.outputs.items():
        took = output.latency
        times = [f"{t:.3f} s" for t in (took.p50, took.p95, took.p99)] if took else [""] * 3
        outputs.add_row(name, f"{output.tuples:,}", f"{output.rate:,.0f}", *times)
    return Group(head, Text(), boxes, Text(), outputs)


def _figures(box: RunBoxStats) -> list[str]:
    """The figures of a box, in the order of ``_COLUMNS``, without its name and type."""
    cost = f"in {box.fused_into}" if box.fused_into else _short(box.cost)
    hottest = max(box.buckets, key=lambda bucket: bucket.in_rate, default=None)
    whole = sum(bucket.in_rate for bucket in box.buckets)
    hot = f"{hottest.bucket} ({100 * hottest.in_rate / whole:.0f} %)" if hottest and whole else ""
    rates = f"{box.in_rate:,.0f}", f"{box.out_rate:,.0f}"
    busy = "" if box.fused_into else f"{100 * box.cpu:.0f} %"
    return [*rates, cost, busy, f"{box.queue:,}", f"{box.state_rows:,} rows", hot]


def _short(number: float | None) -> str:
    return "" if number is None else f"{number:.2f}"
