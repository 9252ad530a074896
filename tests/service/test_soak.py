"""A service under load: tuples over a socket, on Spark, into a SQL table, exactly once.

First what it can take is measured: a burst to warm it up, then another, until the last tuple is in
the table. Then it gets four fifths of that for ``BOXCARS_SOAK`` seconds, an hour if nothing is
said. In the middle the database's table is locked for a minute, as if it had failed. In the end
every tuple is in the table, once, and memory has not grown.
"""

import os
import threading
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest
import sqlalchemy as sa
from pyspark.sql import SparkSession

import boxcars as bx
from boxcars.engine.stats.latency import Latency
from boxcars.inject import AtRate, Batch, Injector, Pace, Unthrottled
from boxcars.service.client import Client
from boxcars.service.security import Access
from boxcars.service.server import Server
from boxcars.service.target import Service
from tests.engine.test_soak import NOISE, Sample, grown, sample

SECONDS = float(os.environ.get("BOXCARS_SOAK", "3600"))
BURST, BATCH = 500_000, 1_000
JOURNAL = 10_000
"""Kilobytes of tuples in flight: roughly what arrives during one epoch."""


def network() -> bx.Network:
    net = bx.Network("ledger")
    rows = net.input("rows", ts="n", fields={"n": "int", "phone": "str"})
    net.output("ledger", rows.filter("n >= 0"))
    return net


def numbered(first: int, stop: int) -> Iterator[Batch]:
    for start in range(first, stop, BATCH):
        numbers = range(start, min(start + BATCH, stop))
        yield {"rows": pl.DataFrame({"n": numbers, "phone": [f"p{n % 977}" for n in numbers]})}


def inject(client: Client, first: int, stop: int, pace: Pace) -> None:
    Injector(numbered(first, stop), Service(client, {"rows": "rows"}), pace).inject()


@pytest.mark.long
def test_a_service_under_load(spark: SparkSession, postgres: str, tmp_path: Path) -> None:
    samples: list[Sample] = []
    latencies: list[Latency] = []
    running = bx.run(
        network(),
        {"rows": "enqueue://"},
        {"ledger": f"{postgres}?table=ledger&key=n"},
        checkpoint=tmp_path / "check",
        spark=spark,
    )
    with Server(running, Access(port=0)) as server:
        client = Client(server.access.url)
        burst(client, running, 0)
        rate = 0.8 * burst(client, running, BURST)
        first, stop = 2 * BURST, 2 * BURST + int(rate * SECONDS)
        feeding = threading.Thread(target=inject, args=(client, first, stop, AtRate(rate)))
        feeding.start()
        trouble = threading.Timer(SECONDS / 2, lock_for, args=(postgres, min(SECONDS / 20, 60)))
        trouble.start()
        while feeding.is_alive():
            samples.append(sample(tmp_path / "check"))
            latencies += filter(None, [running.stats().outputs["ledger"].latency])
            time.sleep(SECONDS / 240)
        running.feeds["rows"].finish()
        running.wait(600)
    print(f"\n{rate:,.0f} tuples/s for {SECONDS:,.0f} s; {stop:,} in all")
    for name in ("p50", "p99"):
        seen = sorted(getattr(latency, name) for latency in latencies)
        print(f"latency {name}: median {seen[len(seen) // 2]:.2f} s, worst {seen[-1]:.2f} s")
    assert stored(postgres) == (stop, stop, 0, stop - 1)
    assert not grown(samples, replace(NOISE, kilobytes=JOURNAL))


def burst(client: Client, running: bx.Run, first: int) -> float:
    """The maximum throughput end to end, in tuples per second."""
    begun = time.monotonic()
    inject(client, first, first + BURST, Unthrottled())
    last = 1  # It leaves its input when a later one has come.
    while running.status().out["ledger"] < first + BURST - last:
        time.sleep(0.05)
    return BURST / (time.monotonic() - begun)


def stored(address: str) -> tuple[int, ...]:
    engine = sa.create_engine(address.replace("postgresql:", "postgresql+psycopg:"))
    query = "SELECT count(*), count(DISTINCT n), min(n), max(n) FROM ledger"
    with engine.connect() as connection:
        found = tuple(connection.execute(sa.text(query)).one())
    engine.dispose()
    return found


def lock_for(address: str, seconds: float) -> None:
    engine = sa.create_engine(address.replace("postgresql:", "postgresql+psycopg:"))
    with engine.begin() as connection:
        connection.execute(sa.text("LOCK TABLE ledger IN ACCESS EXCLUSIVE MODE"))
        time.sleep(seconds)
    engine.dispose()
