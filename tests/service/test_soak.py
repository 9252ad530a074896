"""A service under load: tuples over a socket, on Spark, into a SQL table, each of them once.

First what it can take is measured, then it gets four fifths of that for ``BOXCARS_SOAK`` seconds,
an hour if nothing is said. In the middle the database's table is locked for a while, as if it was
slow. In the end every tuple is in the table, once, and memory has not grown.
"""

import os
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import polars as pl
import pytest
import sqlalchemy as sa
from pyspark.sql import SparkSession

import boxcars as bx
from boxcars.inject import AsFastAsCanBe, AtRate, Batch, Injector, Pace
from boxcars.service.client import Client
from boxcars.service.security import Access
from boxcars.service.server import Server
from boxcars.service.target import Service
from tests.engine.test_soak import Sample, grown, sample

SECONDS = float(os.environ.get("BOXCARS_SOAK", "3600"))
PROBE, BATCH = 100_000, 500


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
    running = bx.run(
        network(),
        {"rows": "enqueue://"},
        {"ledger": f"{postgres}?table=ledger&key=n"},
        checkpoint=tmp_path / "check",
        spark=spark,
    )
    with Server(running, Access(port=0)) as server:
        client = Client(server.access.url)
        begun = time.monotonic()
        inject(client, 0, PROBE, AsFastAsCanBe())
        wait_for(running, PROBE)
        rate = 0.8 * PROBE / (time.monotonic() - begun)
        stop = PROBE + int(rate * SECONDS)
        feeding = threading.Thread(target=inject, args=(client, PROBE, stop, AtRate(rate)))
        feeding.start()
        trouble = threading.Timer(SECONDS / 2, lock_for, args=(postgres, min(SECONDS / 20, 60)))
        trouble.start()
        while feeding.is_alive():
            samples.append(sample(tmp_path / "check"))
            time.sleep(SECONDS / 240)
        running.feeds["rows"].finish()
        running.wait(600)
    latency = running.stats().outputs["ledger"].latency
    print(f"\n{rate:,.0f} tuples/s for {SECONDS:,.0f} s, latency {latency}")
    assert stored(postgres) == (stop, stop, 0, stop - 1)
    assert not grown(samples)


def wait_for(running: bx.Run, rows: int) -> None:
    while sum(running.status().read.values()) < rows:
        time.sleep(0.05)


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
