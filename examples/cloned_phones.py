"""Find cloned phones on Spark: the application high-mobility, epoch by epoch.

``python examples/cloned_phones.py FOLDER INSTANCES`` runs it over ``FOLDER/calls.parquet`` and
prints a line of JSON a few times a second; when it is restarted, it resumes from its checkpoint.
``examples/first_look.py`` displays these lines.
"""

import json
import sys
from pathlib import Path

import polars as pl

import boxcars as bx
from boxcars.apps.high_mobility import build, feed

EPOCHS = 40
TICK = 0.2


def generate_calls(number: int) -> tuple[pl.DataFrame, set[str]]:
    """Generate ``number`` calls; return them with the set of cloned phones."""
    made = feed(number, seed=7)
    calls = pl.concat([chunk["calls"] for chunk in made.chunks])
    return calls, set(made.planted["clones"]["phone"])


def run_on_spark(folder: Path, instances: int) -> None:
    """Run the network from its checkpoint, and print its progress as JSON lines."""
    calls = folder / "calls.parquet"
    rows = max(pl.scan_parquet(calls).select(pl.len()).collect().item() // EPOCHS, 1)
    run = bx.run(
        build(),
        sources={"calls": calls},
        sinks={"clones": folder / "clones"},
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
