"""Stored tables in SQLite: lookups in a read-only table, and a shared table that is written."""

import statistics
import sys
from collections.abc import Callable
from time import perf_counter

import numpy as np
import polars as pl

import boxcars as bx

RECORDS = int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000
TUPLES = RECORDS
STEPS = 3_000
ROUNDS = 3


def phones(numbers: np.ndarray) -> pl.Series:
    return pl.select(pl.format("+34-600-{}", pl.Series(numbers))).to_series()


def look_up(numbers: np.ndarray, trains: int) -> float:
    """The seconds of a select, including its three outputs."""
    net = bx.Network("look-up")
    net.table("known", fields={"phone": "str", "owner": "int"}, key="phone")
    calls = net.input("calls", ts="time", fields={"time": "int", "phone": "str"})
    drawn = calls.select("SELECT * FROM known WHERE phone = input.phone").named("box")
    for port, stream in enumerate(drawn):
        net.output(f"out{port}", stream)
    known = pl.DataFrame({"phone": phones(np.arange(RECORDS)), "owner": np.arange(RECORDS)})
    data = pl.DataFrame({"time": np.arange(len(numbers)), "phone": phones(numbers)})
    result = bx.preview(net, {"calls": data}, trains=trains, tables={"known": known})
    assert result["out2"].num_rows == len(numbers)
    return result.stats["box"].seconds


def share() -> float:
    """The seconds of a whole preview: new callers are stored, and looked up from then on."""
    net = bx.Network("share")
    net.table("seen", fields={"phone": "str", "since": "int"}, key="phone")
    calls = net.input("calls", ts="time", fields={"time": "int", "phone": "str"})
    known, new, _ = calls.select("SELECT since FROM seen WHERE phone = input.phone")
    net.output("known", known)
    net.output("new", new.insert("INSERT INTO seen VALUES (input.phone, input.time)"))
    data = pl.DataFrame({"time": np.arange(STEPS), "phone": phones(np.arange(STEPS) % 1_000)})
    start = perf_counter()
    result = bx.preview(net, {"calls": data})
    assert result["new"].num_rows == 1_000
    return perf_counter() - start


def report(name: str, number: int, run: Callable[[], float]) -> None:
    seconds = statistics.median(run() for _ in range(ROUNDS))
    print(f"{name:44} {number / seconds:>11,.0f}/s")


def main() -> None:
    rng = np.random.default_rng(1)
    distinct, few = rng.permutation(TUPLES), rng.integers(0, RECORDS // 10, TUPLES)
    half = rng.integers(0, 2 * RECORDS, TUPLES)
    print(f"select over {RECORDS:,} records, tuples (median of {ROUNDS})")
    for trains in (1, 10):
        for name, numbers in {
            "all different": distinct,
            "a tenth": few,
            "half unknown": half,
        }.items():
            how = f"  {name}, {trains} train{'s' * (trains > 1)}"
            report(how, TUPLES, lambda n=numbers, t=trains: look_up(n, t))  # type: ignore[misc]
    print("a shared table, order values")
    report("  select, then insert", STEPS, share)


if __name__ == "__main__":
    main()
