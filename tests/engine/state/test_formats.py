"""Checkpoints of every format are finished by this version, with the output of an undisturbed run.

``tests/engine/state/formats/N`` has a run that was stopped in the middle, in format N: the folder
``check`` and the parts that were written until then. When the format changes, this module writes a
new one: ``python -m tests.engine.state.test_formats``. Those that are there are never removed.
"""

import shutil
import sys
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from pyspark.sql import SparkSession

import boxcars as bx
from boxcars.connectors.documents import FORMAT, READABLE
from tests.engine.checkpoints import edit

KEPT = Path(__file__).parent / "formats"
ROWS = 120


def network() -> bx.Network:
    """One of each kind of state."""
    net = bx.Network("kept")
    fields = {"t": "int", "k": "str", "x": "float"}
    left, right = (net.input(name, ts="t", fields=fields) for name in ("left", "right"))
    net.output("time", left.aggregate(bx.time(20, advance=5), by="k", n="count()", s="sum(x)"))
    net.output("tuples", left.aggregate(bx.tuples(3, advance=1), by="k", a="first(x)", b="last(x)"))
    net.output("value", left.aggregate(bx.value("x", 4, advance=2), by="k", n="count()"))
    net.output("distinct", right.aggregate(bx.landmark(emit="change"), n="count_distinct(k)"))
    net.output("join", left.join(right, on="left.k = right.k", window=bx.time(3)))
    net.output("sorted", right.bsort(slack=3))
    net.output("filled", left.resample(right, bx.time(6), y="interpolate(x)"))
    ready, gone = left.waitfor(right, on="left.k = right.k", timeout=6)
    net.output("ready", ready)
    net.output("gone", gone)
    return net


def data() -> dict[str, pl.DataFrame]:
    numbers = range(ROWS)
    names = ["ann", "bob", None, "a name of more than twelve bytes"]
    return {
        name: pl.DataFrame(
            {
                "t": [n // step for n in numbers],
                "k": [names[n * step % 4] for n in numbers],
                "x": [n * step % 11 / 2 + n // 9 for n in numbers],
            }
        )
        for name, step in (("left", 1), ("right", 2))
    }


def run(folder: Path, spark: SparkSession | None, stop: int | None = None) -> bx.Status:
    given: list[bx.Run] = []

    def tell(status: bx.Status) -> None:
        if status.epoch == stop:
            given[0].stop()

    net = network()
    options: dict[str, Any] = {"spark": spark} if spark else {"master": "local[1]"}
    sinks = {name: folder / "out" / name for name in net.outputs}
    given.append(
        bx.run(
            net,
            data(),
            sinks,
            checkpoint=folder / "check",
            epoch_rows=25,
            instances=2,
            buckets=4,
            tell=tell,
            **options,
        )
    )
    return given[0].wait()


def rows(folder: Path, name: str) -> list[dict[str, Any]]:
    parts = sorted((folder / "out" / name).glob("part-*"))
    return [row for part in parts for row in pl.read_parquet(part).to_dicts()]


@pytest.mark.parametrize("number", sorted(READABLE))
def test_a_kept_checkpoint_is_finished(spark: SparkSession, tmp_path: Path, number: int) -> None:
    shutil.copytree(KEPT / str(number), tmp_path, dirs_exist_ok=True)
    before = {name: len(rows(tmp_path, name)) for name in network().outputs}
    assert sum(before.values()) > 100
    assert run(tmp_path, spark).state == "finished"
    for name, table in bx.preview(network(), data()).items():
        found = rows(tmp_path, name)
        assert found == table.to_pylist()
        assert len(found) > before[name] or name == "distinct"


def test_there_is_one_of_each_format() -> None:
    assert {int(path.name) for path in KEPT.iterdir()} == READABLE
    assert FORMAT in READABLE


if __name__ == "__main__":
    target = KEPT / str(FORMAT)
    if target.exists():
        sys.exit(f"{target} is there, and is never written again.")
    run(target, None, stop=3)
    (target / "check" / "lock").unlink()
    edit(target / "check", "head", lambda head: {**head, "done": None})  # it has paths
