"""Partial aggregation compared with aggregation in one step, for few and for many keys.

Count and sum, 60 s every 10 s, by key; epochs of a million tuples through all pieces in this
process, without Spark. The baseline is the engine without partial aggregation.
"""

import json
import statistics
import sys
import tempfile
from pathlib import Path
from time import perf_counter
from unittest.mock import patch

import numpy as np
import polars as pl

import boxcars as bx
from boxcars.connectors.read.splits import FileSplit
from boxcars.engine.epoch.messages import EpochTask
from boxcars.engine.epoch.piece_runner import run_in_process
from boxcars.engine.exec.memory import keep_memory
from boxcars.engine.layout import pieces
from boxcars.engine.state.epoch_records import EpochPlan
from boxcars.engine.state.state_files import StateRef
from boxcars.engine.state.storage import LocalStorage
from boxcars.model.serialize import network_to_plain

ROWS = int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000
EPOCHS = 5


def network() -> str:
    net = bx.Network("counts")
    calls = net.input("calls", ts="t", fields={"t": "int", "k": "str", "n": "int"})
    counts = calls.aggregate(bx.time(60, 10), by="k", c="count()", s="sum(n)")
    net.output("out", counts.named("counts"))
    return json.dumps(network_to_plain(net))


def generate(folder: Path, keys: int) -> None:
    rng = np.random.default_rng(1)
    for epoch in range(EPOCHS):
        pl.DataFrame(
            {
                "t": np.sort(rng.integers(epoch * 250, (epoch + 1) * 250, ROWS)),
                "k": rng.integers(0, keys, ROWS).astype(str),
                "n": rng.integers(0, 9, ROWS),
            }
        ).write_parquet(folder / f"{epoch}.parquet")


def run(folder: Path) -> float:
    """The median time of an epoch in seconds, without the first."""
    shape, times = pieces.Shape(2, 64), []
    before: tuple[StateRef, ...] = ()
    text = network()
    for epoch in range(EPOCHS):
        split = FileSplit(str(folder / f"{epoch}.parquet"), 0, ROWS, ROWS * epoch)
        plan = EpochPlan(epoch, {"calls": (split,)}, {"calls": epoch == EPOCHS - 1})
        start = perf_counter()
        done = run_in_process(
            EpochTask(
                text,
                LocalStorage(folder, durable=False),
                str(folder),
                1,
                plan,
                before,
                {"out": str(folder)},
                shape,
                durable=False,
            )
        )
        times.append(perf_counter() - start)
        before = tuple(entry for piece in done for entry in piece.state)
    return statistics.median(times[1:])


def main() -> None:
    keep_memory()
    for keys in (20, 2_000, 100_000):
        with tempfile.TemporaryDirectory(prefix="boxcars-bench-") as name:
            folder = Path(name)
            generate(folder, keys)
            seconds: dict[str, list[float]] = {"one step": [], "halves": []}
            for _ in range(3):
                pieces.make_layout.cache_clear()
                with patch.object(pieces, "split_boxes", lambda checked: checked):
                    seconds["one step"].append(run(folder))
                pieces.make_layout.cache_clear()
                seconds["halves"].append(run(folder))
        whole, halves = (statistics.median(found) for found in seconds.values())
        print(
            f"{keys:>7,} keys: {whole:.2f} s per epoch in one step, {halves:.2f} s with partial "
            f"aggregation: {whole / halves:.1f} times as fast"
        )


if __name__ == "__main__":
    main()
