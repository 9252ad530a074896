"""A network that finds cloned phones, calls to find them in, and its run on Spark.

A phone that is seen in two places, too far apart for the time between the calls, has been cloned:
the high mobility query of StreamCloud. ``python examples/cloned_phones.py FOLDER INSTANCES`` runs
it over ``FOLDER/calls.parquet`` and prints a line of JSON a few times a second; started again, it
goes on where it was. ``examples/first_look.py`` shows what these lines say.
"""

import json
import sys
from pathlib import Path

import numpy as np
import polars as pl

import boxcars as bx

PHONES, CLONES, DAY = 50_000, 25, 86_400
EPOCHS = 40
TICK = 0.2


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


def run_on_spark(folder: Path, instances: int) -> None:
    """Run the network from where it was, and tell how it goes."""
    calls = folder / "calls.parquet"
    rows = max(pl.scan_parquet(calls).select(pl.len()).collect().item() // EPOCHS, 1)
    run = bx.run(
        build_network(),
        sources={"calls": calls},
        sinks={"frauds": folder / "frauds"},
        checkpoint=folder / "run",
        epoch_rows=rows,
        instances=instances,
    )
    state = "running"
    while state == "running":
        status = run.wait(TICK)
        state, read, epoch = status.state, status.read.get("calls", 0), status.epoch
        line = {"state": state, "epoch": epoch, "read": read, "stats": run.stats().to_plain()}
        print(json.dumps(line), flush=True)


if __name__ == "__main__":
    run_on_spark(Path(sys.argv[1]), int(sys.argv[2]))
