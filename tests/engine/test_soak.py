"""The memory and the checkpoint of a long run do not grow.

Time windows, tuple windows by keys that come and go, and a join, for 20 minutes or ``BOXCARS_SOAK``
seconds. The samples of the last quarter must not exceed those of the second one.
"""

import os
import statistics
import subprocess
import time
from dataclasses import astuple, dataclass, fields
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

import boxcars as bx

SECONDS = float(os.environ.get("BOXCARS_SOAK", "1200"))
RATE = 2000
SAMPLES = 240
MARGIN = 1.15
"""Factor by which the last quarter may exceed the second."""


@dataclass(frozen=True)
class Sample:
    """Resources of a run: memory in MiB, and the contents of its checkpoint."""

    driver: float
    jvm: float
    workers: float
    files: float
    kilobytes: float


NOISE = Sample(driver=30, jvm=60, workers=60, files=20, kilobytes=200)
"""Absolute tolerance in addition, for small values."""


def network() -> bx.Network:
    net = bx.Network("soak")
    calls = net.input("calls", ts="time", fields={"time": "int", "phone": "str", "price": "float"})
    visits = net.input("visits", ts="time", fields={"time": "int", "phone": "str"})
    counts = calls.aggregate(bx.time(60, 10), by="phone", n="count()", mean="avg(price)")
    net.output("counts", counts.named("counts"))
    pairs = calls.aggregate(bx.tuples(3, 1, timeout=60), by="phone", last="last(price)")
    net.output("pairs", pairs.named("pairs"))
    joined = calls.join(visits, on="left.phone = right.phone", window=bx.time(5)).named("joined")
    net.output("joined", joined)
    return net


def sources() -> dict[str, object]:
    """Ten seconds of the stream per second; every half minute of it has new phones."""
    time, rows = f"value // {RATE // 10}", RATE * 3
    phone = f"concat('p', cast(value // {rows} * 500 + value * 7919 % 1000 as varchar))"
    return {
        "calls": bx.rate(RATE, time=time, phone=phone, price="value % 97 * 0.1"),
        "visits": bx.rate(RATE, time=time, phone=phone),
    }


def sample(checkpoint: Path) -> Sample:
    """Sample the resources now."""
    listed = subprocess.run(
        ["ps", "-A", "-o", "pid=,ppid=,rss=,comm="], capture_output=True, text=True, check=True
    )
    rows = [line.split(None, 3) for line in listed.stdout.splitlines()]
    sizes = {int(pid): int(rss) / 1024 for pid, _, rss, _ in rows}
    parents = {int(pid): int(parent) for pid, parent, _, _ in rows}
    jvms = [int(pid) for pid, _, _, name in rows if "java" in name and _under(int(pid), parents)]
    below = [
        pid for pid in parents if any(pid != jvm and _under(pid, parents, jvm) for jvm in jvms)
    ]
    paths = [Path(folder, name) for folder, _, names in os.walk(checkpoint) for name in names]
    found = [size for path in paths if (size := _size(path)) is not None]
    return Sample(
        sizes[os.getpid()],
        sum(sizes[pid] for pid in jvms),
        sum(sizes[pid] for pid in below),
        len(found),
        sum(found) / 1024,
    )


def _size(path: Path) -> int | None:
    """The size of a file, or None if it was removed."""
    try:
        return path.stat().st_size
    except FileNotFoundError:
        return None


def _under(pid: int, parents: dict[int, int], root: int | None = None) -> bool:
    """Whether a process descends from another one, or from this."""
    while pid in parents:
        if pid == (root or os.getpid()):
            return True
        pid = parents[pid]
    return False


def typical(samples: list[Sample]) -> Sample:
    """The medians."""
    return Sample(
        *(statistics.median(column) for column in zip(*map(astuple, samples), strict=True))
    )


def grown(samples: list[Sample], noise: Sample = NOISE) -> list[str]:
    """The resources that have grown from the second quarter to the last."""
    quarter = len(samples) // 4
    second, last = typical(samples[quarter : 2 * quarter]), typical(samples[3 * quarter :])
    print(f"{second}\n{last}")
    both = zip(fields(Sample), astuple(second), astuple(last), astuple(noise), strict=True)
    return [field.name for field, before, now, most in both if now > before * MARGIN + most]


@pytest.mark.long
def test_memory_and_checkpoint_do_not_grow(spark: SparkSession, tmp_path: Path) -> None:
    net, check = network(), tmp_path / "check"
    sinks = {name: tmp_path / name for name in net.outputs}
    running = bx.run(net, sources(), sinks, checkpoint=check, spark=spark)
    samples = []
    for _ in range(SAMPLES):
        time.sleep(SECONDS / SAMPLES)
        assert running.status().state in ("running", "waiting")
        samples.append(sample(check))
    status = running.stop()
    assert min(status.out.values()) > 0
    print(f"{status.epoch} epochs, {status.read}")
    assert not grown(samples)
