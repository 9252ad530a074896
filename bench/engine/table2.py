"""Table 2 of the Aurora retrospective: the cost of sending a tuple through a network.

One process enqueues tuples of 64 bytes in batches, and others dequeue the results; measured from
the first tuple until all are stored, or until the slowest dequeuer has the last one, per tuple.
Aurora's figures are from 2004, in memory and on one machine; ours include a network port, a journal
on disk, Spark, and results that survive a crash. So the absolute figures are hard to compare; the
paper's question is the marginal cost of a box, a dequeuer and a batch.
"""

import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from _shown import keep, panel
from pyspark.sql import SparkSession

import boxcars as bx
from boxcars.engine.exec.session import make_session, wake_workers
from boxcars.service.client import Client
from boxcars.service.security import Access
from boxcars.service.server import Server

FIELDS = {"time": "int"} | {f"f{n}": "int" for n in range(7)}
"""Eight numbers of eight bytes."""
MOST, SECONDS = 2_000_000, 10
"""The paper's number of tuples, and the approximate limit in seconds that reduces it."""
GUESS = {1: 20_000, 10: 200_000, 100: 2_000_000, 1000: 2_000_000}
"""The number of tuples to enqueue for a batch size."""


@dataclass(frozen=True)
class Row:
    """A row of the table: the network, dequeuers, the batch size, and Aurora's nanoseconds."""

    name: str
    network: str
    dequeuers: int
    batch: int
    aurora: int


ROWS = [
    Row("A", "NULL", 0, 1, 1211),
    Row("B", "NULL", 0, 10, 176),
    Row("C", "NULL", 0, 100, 70),
    Row("D", "NULL", 0, 1000, 60),
    Row("E", "NULL", 1, 10, 321),
    Row("F", "NULL", 1, 100, 204),
    Row("G", "NULL", 1, 1000, 191),
    Row("H", "NULL", 5, 1000, 764),
    Row("I", "NULL", 10, 1000, 1748),
    Row("J", "FILTER", 1, 1000, 484),
    Row("K", "UNION", 1, 1000, 322),
    Row("L", "UNION-CHAIN", 1, 1000, 858),
]


def network(kind: str) -> bx.Network:
    """One of the paper's networks; a union merges the stream with an empty one."""
    net = bx.Network(kind.lower())
    stream = net.input("tuples", ts="time", fields=FIELDS)
    if kind == "FILTER":
        stream = stream.filter("f0 >= 0")
    for number in range({"UNION": 1, "UNION-CHAIN": 5}.get(kind, 0)):
        nothing = stream.filter("f0 < 0").named(f"nothing{number}")
        stream = stream.union(nothing).named(f"union{number}")
    net.output("out", stream)
    return net


def tuples(number: int) -> pa.Table:
    """``number`` tuples with increasing times; the last one advances the frontier past the rest."""
    rng = np.random.default_rng(7)
    times = np.arange(number, dtype=np.int64) // 1000
    times[-1] += 1
    columns = {f"f{n}": rng.integers(0, 2**40, number) for n in range(7)}
    return pa.table({"time": times, **columns})


@contextmanager
def served(spark: SparkSession, row: Row) -> Iterator[str]:
    """A run of a row's network, and the address of its service."""
    sinks = {"out": "dequeue://?keep=1e12"} if row.dequeuers else {}
    with tempfile.TemporaryDirectory(prefix="boxcars-bench-") as folder:
        running = bx.run(
            network(row.network),
            {"tuples": "enqueue://"},
            sinks,
            checkpoint=folder,
            epoch_rows=500_000,
            spark=spark,
        )
        with Server(running, Access(port=0)) as server:
            yield server.access.url
            running.stop()


def measure(spark: SparkSession, row: Row) -> tuple[int, float]:
    """The number of tuples, and the nanoseconds per tuple."""
    number = min(MOST, GUESS[row.batch])
    with served(spark, row) as address:
        command = [sys.executable, __file__]
        readers = [
            subprocess.Popen(
                [*command, "dequeue", address, str(number - 1)], stdout=subprocess.PIPE
            )
            for _ in range(row.dequeuers)
        ]
        feeder = [*command, "enqueue", address, str(number), str(row.batch)]
        fed = json.loads(subprocess.run(feeder, check=True, stdout=subprocess.PIPE).stdout)
        ends = [json.loads(reader.communicate()[0])["end"] for reader in readers]
    return number, 1e9 * (max(ends, default=fed["end"]) - fed["begin"]) / number


def enqueue(address: str, number: int, batch: int) -> None:
    """Enqueue, and print the start time and the time when all tuples were stored."""
    table = tuples(number)
    with Client(address).feed("tuples", batch) as feed:
        begin = time.time()
        feed.send(table)
        feed.flush()
        end = time.time()
    print(json.dumps({"begin": begin, "end": end}))


def dequeue(address: str, number: int) -> None:
    """Dequeue, and print the time of the last tuple."""
    left = number
    for _, table in Client(address).dequeue("out"):
        left -= table.num_rows
        if left <= 0:
            break
    print(json.dumps({"end": time.time()}))


COSTS: dict[str, Callable[[Mapping[str, float]], float]] = {
    "batches of 1 instead of 1000": lambda t: t["A"] - t["D"],
    "the first dequeuer": lambda t: t["G"] - t["D"],
    "each of nine more": lambda t: (t["I"] - t["G"]) / 9,
    "a box (a union; mean of five)": lambda t: (t["L"] - t["G"]) / 5,
    "a predicate": lambda t: t["J"] - t["K"],
}
"""Marginal costs, from differences between rows."""


def main() -> None:
    spark = make_session("local[2]", quick=False)
    wake_workers(spark)
    measure(spark, Row("", "NULL", 1, 1000, 0))
    print("  row  network      dequeuers  batch      tuples  Aurora (2004)   Boxcars, ns/tuple")
    found = {}
    for row in ROWS:
        number, found[row.name] = measure(spark, row)
        print(
            f"  {row.name:3}  {row.network:12} {row.dequeuers:9} {row.batch:6} {number:11,} "
            f"{row.aurora:13,} {found[row.name]:14,.0f}",
            flush=True,
        )
    paper = {row.name: row.aurora for row in ROWS}
    rows = [{"row": r.name, "aurora": r.aurora, "boxcars": found[r.name]} for r in ROWS]
    panels = [
        panel(
            f"{r.name}: {r.network}, dequeuers: {r.dequeuers}, batches of {r.batch}",
            {"Boxcars": found[r.name], "Aurora": float(r.aurora)},
        )
        for r in ROWS
    ]
    note = "Aurora: 2004, in memory. Boxcars: a network port, a journal on disk, Spark."
    keep("table2", rows, panels, "Table 2: nanoseconds per tuple (log scale)", note)
    for words, cost in COSTS.items():
        print(f"  {words:34} {cost(paper):8,.0f} {cost(found):10,.0f}")


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["enqueue", where, count, size]:
            enqueue(where, int(count), int(size))
        case ["dequeue", where, count]:
            dequeue(where, int(count))
        case _:
            main()
