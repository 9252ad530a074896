"""A first look at Boxcars: draw a network, look at it, run it over generated calls.

Run it with ``bin/demo`` or ``python examples/first_look.py [ROWS]``.
"""

import sys
from time import perf_counter

import numpy as np
import polars as pl
from rich.console import Console
from rich.table import Table

import boxcars as bx
from boxcars.draw import draw
from boxcars.engine.stats import stats_table

ROWS = int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000


def generate_calls(rows: int) -> pl.DataFrame:
    """Calls of a day, some of them by fraudsters: very long, very dear, or to premium numbers."""
    rng = np.random.default_rng(7)
    phones = pl.Series([f"+34-6{n:08d}" for n in range(50_000)])
    premium = rng.random(rows) < 0.002
    minutes = rng.exponential(4, rows) + 60 * (rng.random(rows) < 0.0003)
    callee = phones.gather(rng.integers(0, len(phones), rows))
    return pl.DataFrame(
        {
            "caller": phones.gather(rng.integers(0, len(phones), rows)),
            "callee": pl.select(
                pl.when(pl.Series(premium)).then(pl.lit("+90-0-") + callee).otherwise(callee)
            ).to_series(),
            "time": np.sort(rng.integers(0, 86_400, rows)),
            "minutes": minutes,
            "price": minutes * np.where(premium, 2.5, 0.1),
        }
    )


def build_network() -> bx.Network:
    """Dear calls and premium calls at night become alerts; everything else is counted as normal."""
    net = bx.Network("first-look")
    fields = {"caller": "str", "callee": "str", "time": "int", "minutes": "float", "price": "float"}
    calls = net.input("calls", ts="time", fields=fields)
    dear, premium, normal = calls.filter(
        "price > 20", "starts_with(callee, '+90') and (time < 6 * 3600)", otherwise=True
    ).named("suspects")
    why_dear = dear.map(time="time", phone="caller", price="round(price, 2)", why="'dear call'")
    at_night = premium.map(
        time="time", phone="caller", price="round(price, 2)", why="'premium number at night'"
    )
    net.output("alerts", (why_dear.named("why-dear") | at_night.named("at-night")).named("alerts"))
    net.output("normal", normal.map(time="time", phone="caller").named("who"))
    return net


def main() -> None:
    """Draw, run, show."""
    console = Console()
    net = build_network()
    console.print("[bold]The network[/bold]: boxes and arrows, checked before it runs\n")
    print(draw(net, "text", width=console.width))
    calls = generate_calls(ROWS)
    with console.status(f"running {ROWS:,} calls ..."):
        start = perf_counter()
        result = bx.preview(net, {"calls": calls}, trains=10)
        seconds = perf_counter() - start
    alerts = result["alerts"]
    table = Table(title=f"The first of {alerts.num_rows:,} alerts", title_justify="left")
    for column in alerts.column_names:
        table.add_column(column, justify="right" if column in ("time", "price") else "left")
    for row in alerts.slice(0, 8).to_pylist():
        table.add_row(*map(str, row.values()))
    console.print(table)
    console.print("\n[bold]What each box did[/bold]\n")
    console.print(stats_table(result.stats.values()), highlight=False, markup=False)
    rate = ROWS / seconds / 1e6
    console.print(
        f"\n{ROWS:,} calls in {seconds:.2f} s: [bold]{rate:.1f} million tuples a second[/bold], "
        "in this process.\nNext: docs/tutorial/first-network.md"
    )


if __name__ == "__main__":
    main()
