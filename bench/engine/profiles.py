"""Where the time of an epoch goes, compared with a handwritten batch query in Polars.

A batch reads all files, computes, and writes one: no epochs, no checkpoint, no Spark. A run is then
sampled by py-spy, about 200 times per second, in the driver and in Spark's Python workers, without
stopping them; that needs permission (root, or kernel.yama.ptrace_scope 0). Java has no line of its
own; it is the time of the job outside the worker.
"""

import os
import re
import shutil
import signal
import subprocess
import sysconfig
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from statistics import mean, median
from time import perf_counter, sleep

import map_filter
import mobility
import polars as pl
from _beside import WARM, Bench, bench, frames

import boxcars as bx
from boxcars.model.problem import BoxcarsError

RATE = 200
"""Samples per second."""
FILES, ROUNDS = 24, 3
READY = "Sampling process"

DRIVER = {"its job on Spark": "run_job", "other driver code": "_run_epochs"}
"""Activities of the driver, by a function on the stack; the first match counts."""
TASK = {"the task": "_run_alone"}
THREADS = {
    "reading files": "read_split",
    "ordering the input": "take_turn",
    "writing files": "write_output",
    "state": "_states",
    "shuffle and merge": r"split \(boxcars/engine/layout|_merge \(boxcars/engine/epoch",
    "pairs": "Aggregate.step",
    "union": "Union.step",
    "maps and filters": "_run_chain",
    "other": "run_piece",
}
"""Activities of the threads of a worker."""


@dataclass(frozen=True)
class Work:
    """A network, its data, and the handwritten query."""

    title: str
    network: bx.Network
    rows: int
    data: Callable[[int, int], pl.DataFrame]
    by_hand: Callable[[pl.LazyFrame], pl.LazyFrame]


def expensive_calls(calls: pl.LazyFrame) -> pl.LazyFrame:
    expensive = calls.filter((pl.col("price") > 5) & (pl.col("caller") != pl.col("callee")))
    return expensive.select("time", "caller", cents=pl.col("price") * 100 + 1)


def fast_phones(calls: pl.LazyFrame) -> pl.LazyFrame:
    sides = [
        calls.select("time", phone=side, x=f"{side}_x", y=f"{side}_y")
        for side in ("caller", "callee")
    ]
    seen = pl.concat(sides).sort("time", maintain_order=True)
    past = pl.col("time", "x", "y").shift(1).over("phone").name.suffix("1")
    pairs = seen.with_columns(past).filter(pl.col("time") > pl.col("time1"))
    x, y = pl.col("x") - pl.col("x1"), pl.col("y") - pl.col("y1")
    speed = (x.pow(2) + y.pow(2)).sqrt() / (pl.col("time") - pl.col("time1"))
    return pairs.select("phone", time="time1", speed=speed).filter(pl.col("speed") > 110)


WORKS = (
    Work("map and filter", map_filter.network(), 1_000_000, map_filter.calls, expensive_calls),
    Work("high mobility", bx.load(mobility.NETWORK), 500_000, mobility.calls, fast_phones),
)


def batch(work: Work, files: Path, out: Path) -> float:
    """The median seconds of the batch."""
    times = []
    for _ in range(ROUNDS):
        start = perf_counter()
        work.by_hand(pl.scan_parquet(files / "*.parquet")).collect().write_parquet(out)
        times.append(perf_counter() - start)
    return median(times)


@contextmanager
def looked_at(found: Path) -> Iterator[None]:
    """Sample this process and its children."""
    spy = Path(sysconfig.get_path("scripts")) / "py-spy"
    options = ["--subprocesses", "--idle", "--nonblocking", "--rate", str(RATE), "--format", "raw"]
    command = [str(spy), "record", "--pid", str(os.getpid()), *options, "--output", str(found)]
    looking = subprocess.Popen(
        [*command, "--duration", "unlimited"],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    assert looking.stdout is not None
    said = ""
    for line in looking.stdout:
        said = line.strip() or said
        if READY in line:
            break
    else:
        raise BoxcarsError(f"py-spy can't look at this process: {said}")
    sleep(2)  # until it has read the symbols of all processes
    yield
    looking.send_signal(signal.SIGINT)
    looking.communicate(timeout=60)


def stacks(found: Path) -> Counter[str]:
    """The number of samples of each stack."""
    seen: Counter[str] = Counter()
    for line in found.read_text(encoding="utf-8").splitlines():
        stack, _, number = line.rpartition(" ")
        seen[re.sub(r'process \d+:"[^"]*";?', "", stack)] += int(number)
    return seen


def shares(seen: Counter[str], kinds: Mapping[str, str]) -> dict[str, int]:
    """The number of samples of each activity."""
    counts = dict.fromkeys(kinds, 0)
    for stack, number in seen.items():
        kind = next((name for name, mark in kinds.items() if re.search(mark, stack)), None)
        if kind is not None:
            counts[kind] += number
    return counts


def profile(b: Bench, work: Work, files: Path) -> tuple[list[float], Counter[str]]:
    """The seconds of epochs while they are sampled, and the samples."""
    found = b.folder / "stacks"
    b.times(work.network, {"calls": b.first(files, WARM + 1)}, work.rows)
    with looked_at(found):
        times = b.times(work.network, {"calls": files}, work.rows)
    return times, stacks(found)


def agree(work: Work) -> bool:
    """Whether the batch and the network compute the same rows."""
    data = work.data(100_000, 0)
    (output,) = work.network.outputs
    ours = pl.from_arrow(bx.preview(work.network, {"calls": data})[output])
    theirs = work.by_hand(data.lazy()).collect()
    assert isinstance(ours, pl.DataFrame)
    by = ours.columns
    return ours.sort(by).equals(theirs.select(by).sort(by))


def show(title: str, counts: Mapping[str, int], look: float) -> None:
    """Print milliseconds per epoch by activity; a sample stands for ``look`` milliseconds."""
    total = sum(counts.values())
    print(f"    {title:26} {look * total:6.0f} ms")
    for name, number in sorted(counts.items(), key=lambda item: -item[1]):
        if number:
            print(f"      {name:24} {look * number:6.0f} ms {100 * number / total:5.0f} %")


def compare(b: Bench, work: Work) -> None:
    """Print the speeds, their ratio, and the profile."""
    if not agree(work):
        raise BoxcarsError(f"{work.title}: the batch computes different rows.")
    files = b.write(work.title.replace(" ", "-"), frames(FILES, partial(work.data, work.rows)))
    theirs = FILES * work.rows / batch(work, files, b.folder / "batch.parquet")
    ours = work.rows / b.ours(work.network, {"calls": files}, work.rows)
    print(f"  {work.title}, epochs of {work.rows:,}")
    print(f"    handwritten batch {theirs / 1e6:5.1f} M tuples/s")
    print(f"    Boxcars on Spark  {ours / 1e6:5.1f} M tuples/s, {ours / theirs:.2f} times as fast")
    times, seen = profile(b, work, files)
    driver = shares(seen, DRIVER)
    look = 1000 * mean(times) / sum(driver.values())
    print(f"    {sum(driver.values()):,} samples of {len(times)} epochs:")
    show("an epoch", driver, look)
    show("of it in the worker", shares(seen, TASK), look)
    show("its threads", shares(seen, THREADS), look)
    shutil.rmtree(files)


def main() -> None:
    print("where the time goes, local[2]")
    with bench() as b:
        for work in WORKS:
            compare(b, work)


if __name__ == "__main__":
    main()
