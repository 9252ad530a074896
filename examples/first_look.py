"""A first look at Boxcars: draw a network, look at it, and let it find cloned phones.

A phone that calls from two places, too far apart for the time between the calls, has been cloned:
the high mobility query of StreamCloud. Run it with ``bin/demo`` or
``python examples/first_look.py [CALLS]``.
"""

import sys
import tempfile
from time import perf_counter

import numpy as np
import polars as pl
import pyarrow as pa
from rich.console import Console
from rich.table import Table

import boxcars as bx
from boxcars.draw import draw
from boxcars.engine.stats import stats_table

CALLS = int(sys.argv[1]) if len(sys.argv) > 1 else 500_000
PHONES, CLONES, DAY = 50_000, 25, 86_400


def generate_calls(number: int) -> tuple[pl.DataFrame, set[str]]:
    """Calls of a day between phones that stay at home, and the phones whose clones call too."""
    rng = np.random.default_rng(7)
    phones = pl.Series([f"+34-6{n:08d}" for n in range(PHONES)])
    homes = rng.uniform(0, 1_000, (PHONES, 2))
    caller, callee = rng.integers(0, PHONES, number), rng.integers(0, PHONES, number)
    places = homes[caller].copy()
    cloned = rng.choice(number, CLONES, replace=False)
    places[cloned] += rng.uniform(5_000, 9_000, (CLONES, 2))
    calls = pl.DataFrame(
        {
            "caller": phones.gather(caller),
            "callee": phones.gather(callee),
            "time": np.sort(rng.integers(0, DAY, number)),
            "caller_x": places[:, 0],
            "caller_y": places[:, 1],
            "callee_x": homes[callee, 0],
            "callee_y": homes[callee, 1],
        }
    )
    return calls, set(phones.gather(caller[cloned]))


def build_network() -> bx.Network:
    """Each call is a sign of life of two phones; two in a row give a speed."""
    net = bx.Network("high-mobility")
    fields = {"caller": "str", "callee": "str", "time": "int"}
    fields |= dict.fromkeys(("caller_x", "caller_y", "callee_x", "callee_y"), "float")
    calls = net.input("calls", ts="time", fields=fields)
    callers = calls.map(time="time", phone="caller", x="caller_x", y="caller_y").named("callers")
    callees = calls.map(time="time", phone="callee", x="callee_x", y="callee_y").named("callees")
    pairs = (
        (callers | callees)
        .named("both")
        .aggregate(
            bx.tuples(2, advance=1),
            by="phone",
            seconds="delta(time)",
            x1="first(x)",
            y1="first(y)",
            x2="last(x)",
            y2="last(y)",
        )
    )
    speed = pairs.named("pairs").map(
        time="time", phone="phone", kmh="round(3600 * distance(x1, y1, x2, y2) / seconds)"
    )
    net.output("frauds", speed.named("speed").filter("kmh > 1000").named("fast"))
    return net


def main() -> None:
    """Draw, run, show."""
    console = Console()
    net = build_network()
    console.print("[bold]The network[/bold]: boxes and arrows, checked before anything runs\n")
    print(draw(net, "text", width=console.width))
    calls, cloned = generate_calls(CALLS)
    with console.status(f"running {CALLS:,} calls in this process ..."):
        bx.preview(net, {"calls": calls[:1000]})
        start = perf_counter()
        result = bx.preview(net, {"calls": calls}, trains=5)
        seconds = perf_counter() - start
    frauds = result["frauds"]
    show_alerts(frauds, console)
    found = set(frauds["phone"].to_pylist())
    console.print("\n[bold]What each box did[/bold]\n")
    print(stats_table(result.stats.values()))
    console.print(
        f"\n{len(found & cloned)} of {len(cloned)} cloned phones found, "
        f"{len(found - cloned)} false alarms.\n{CALLS:,} calls in {seconds:.2f} s: "
        f"[bold]{CALLS / seconds:,.0f} calls a second[/bold], in this process.\n"
    )
    run_on_spark(net, calls, frauds, console)
    console.print("Next: docs/tutorial/first-network.md")


def show_alerts(frauds: pa.Table, console: Console) -> None:
    """A table of the first few."""
    table = Table(title=f"The first of {frauds.num_rows} alerts", title_justify="left")
    for column in frauds.column_names:
        table.add_column(column, justify="left" if column == "phone" else "right")
    for row in frauds.slice(0, 8).to_pylist():
        table.add_row(*(f"{v:,.0f}" if isinstance(v, float) else str(v) for v in row.values()))
    console.print(table)


def run_on_spark(net: bx.Network, calls: pl.DataFrame, frauds: pa.Table, console: Console) -> None:
    """The same network on Spark, in epochs, with a checkpoint; it must find the same."""
    console.print("[bold]The same on Spark[/bold], epoch by epoch, exactly once\n")

    def tell(status: bx.Status) -> None:
        alerts = status.out.get("frauds", 0)
        read = status.read["calls"]
        console.print(f"  epoch {status.epoch}: {read:,} calls, {alerts} new alerts in all")

    with tempfile.TemporaryDirectory(prefix="boxcars-demo-") as folder:
        sinks = {"frauds": f"{folder}/frauds"}
        rows = max(CALLS // 5, 1)
        run = bx.run(
            net, {"calls": calls}, sinks, checkpoint=f"{folder}/run", epoch_rows=rows, tell=tell
        )
        run.wait()
        same = pl.read_parquet(f"{folder}/frauds/*.parquet").equals(pl.from_arrow(frauds))
    console.print(f"\nThe results are {'the same' if same else 'NOT THE SAME'}, tuple by tuple.")


if __name__ == "__main__":
    main()
