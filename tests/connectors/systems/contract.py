"""The contract of all connectors: base classes of their tests."""

import json
import time
from collections.abc import Callable, Iterator, Sequence
from hashlib import sha256
from pathlib import Path
from typing import Protocol

import polars as pl
import pyarrow as pa
import pytest
from pyspark.sql import SparkSession

import boxcars as bx
from boxcars.connectors.read.base import Offset
from boxcars.connectors.read.journal import JournalReader
from boxcars.connectors.systems.connector import Delivery, Intake, Lost, connect
from boxcars.model.problem import Wrong
from tests.patience import PATIENCE, until

ROWS = 300


class Outside(Protocol):
    """An external system, as the tests see it."""

    def address(self, name: str) -> str:
        """The URL of a stream, topic or table."""

    def send(self, name: str, messages: Sequence[bytes]) -> None:
        """Write messages with a client other than ours."""

    def received(self, name: str) -> list[int]:
        """The stored values of ``t`` in order, read with a client other than ours."""

    def kill(self) -> None:
        """Kill the server."""

    def start(self) -> None:
        """Start it again."""


def network(slack: int = 1000) -> bx.Network:
    net = bx.Network("n")
    rows = net.input("rows", ts="t", fields={"t": "int", "who": "str"}, slack=slack)
    net.output("out", rows.filter("t >= 0"))
    return net


def messages(first: int, end: int) -> list[bytes]:
    return [json.dumps({"t": t, "who": f"ann {t}"}).encode() for t in range(first, end)]


def table(first: int, end: int) -> pa.Table:
    numbers = range(first, end)
    return pa.table({"t": pa.array(numbers, pa.int64()), "who": [f"ann {t}" for t in numbers]})


class Reading:
    """The journal of a URL, which can be closed and reopened."""

    def __init__(self, address: str, home: Path) -> None:
        self.address, self.home, self.offset = address, home, Offset()
        self.home.mkdir(exist_ok=True)
        self.reader: JournalReader | None = None
        self.open()

    def open(self) -> None:
        self.close()
        entity = network().inputs["rows"]
        self.reader = JournalReader("rows", connect(self.address), self.home, entity)

    def close(self) -> None:
        if self.reader is not None:
            self.reader.close()
            self.reader = None

    def take(self, *wanted: int) -> list[int]:
        """Wait until all of these have arrived, and return everything that has."""
        assert self.reader is not None
        entity, found = network().inputs["rows"], list[int]()
        end = time.monotonic() + PATIENCE
        while not set(wanted) <= set(found):
            assert time.monotonic() < end, f"this takes too long: {found}"
            portion = self.reader.take(self.offset, 1000)
            self.offset = portion.offset
            for split in portion.splits:
                found += split.read(entity).tuples["t"].to_list()
            time.sleep(0.01)
        return found


@pytest.fixture
def reading(tmp_path: Path) -> Iterator[Callable[[str], Reading]]:
    """Opens the journal of a URL."""
    found: list[Reading] = []

    def opener(address: str) -> Reading:
        found.append(Reading(address, tmp_path / f"home{len(found)}"))
        return found[-1]

    yield opener
    for one in found:
        one.close()


def delivery(address: str, home: str = "") -> Delivery:
    """A connection for writing; the home defaults to the URL."""
    home = home or sha256(address.encode()).hexdigest()[:32]
    made = connect(address).delivery(network().inputs["rows"].schema, home)
    made.open()
    return made


class Source:
    """A source. Give it the fixture ``there``."""

    exactly_once = True

    def expect(self, found: list[int], numbers: range) -> None:
        """All of them, and without duplicates if that is guaranteed."""
        if self.exactly_once:
            assert sorted(found) == list(numbers)
        else:
            assert sorted(set(found)) == list(numbers)

    def test_a_run_that_is_stopped_and_resumed(
        self, there: Outside, spark: SparkSession, tmp_path: Path
    ) -> None:
        address, found = there.address("calls"), list[int]()

        def run() -> bx.Run:
            sink = bx.callback(lambda rows, _: found.extend(rows["t"].to_pylist()))
            return bx.run(
                network(), {"rows": address}, {"out": sink}, checkpoint=tmp_path / "c", spark=spark
            )

        running = run()
        there.send("calls", [*messages(0, 100), b"{oops", *messages(100, ROWS)])
        until(lambda: running.status().read.get("rows", 0) >= 50)
        running.stop()
        there.send("calls", messages(ROWS, 2 * ROWS))
        running = run()
        until(lambda: running.status().read.get("rows", 0) >= 2 * ROWS)
        there.send("calls", messages(5000, 5001))  # pushes out the tuples held back by the slack
        until(lambda: len(set(found)) >= 2 * ROWS)
        running.stop()
        self.expect([t for t in found if t < 5000], range(2 * ROWS))
        letters = pl.concat([pl.read_parquet(p) for p in (tmp_path / "c" / "dead").iterdir()])
        assert set(letters["record"]) == {b"{oops"}

    def test_the_server_is_killed(self, there: Outside, reading: Callable[[str], Reading]) -> None:
        journal = reading(there.address("killed"))
        there.send("killed", messages(0, 100))
        found = journal.take(*range(100))
        there.kill()
        time.sleep(0.3)
        there.start()
        there.send("killed", messages(100, 200))
        found += journal.take(*range(100, 200))
        self.expect(found, range(200))
        journal.open()
        there.send("killed", messages(200, 201))
        again = journal.take(200)
        if self.exactly_once:
            assert again == [200]


class Sink:
    """A sink. Give it the fixture ``there``."""

    exactly_once = True

    def expect(self, found: list[int], numbers: range) -> None:
        """All of them, and without duplicates if that is guaranteed."""
        if self.exactly_once:
            assert found == list(numbers)
        else:
            assert sorted(set(found)) == list(numbers)

    def test_a_run_whose_server_is_killed(
        self, there: Outside, spark: SparkSession, tmp_path: Path
    ) -> None:
        source = bx.rate(ROWS, rows=ROWS, t="value", who="'ann'")
        address = there.address("alarms")
        net, folder = network(slack=0), tmp_path / "c"
        running = bx.run(net, {"rows": source}, {"out": address}, checkpoint=folder, spark=spark)
        until(lambda: there.received("alarms"))
        there.kill()
        time.sleep(0.3)
        there.start()
        assert running.wait(PATIENCE).state == "finished"
        until(lambda: set(there.received("alarms")) >= set(range(ROWS)))
        self.expect(there.received("alarms"), range(ROWS))

    def test_a_replayed_epoch(self, there: Outside) -> None:
        address = there.address("again")
        for _ in range(2):  # as if the process had ended before the ledger was written
            sink = delivery(address)
            sink.deliver(table(0, 10), 1)
            sink.close()
        sink = delivery(address)
        sink.deliver(table(10, 20), 2)
        sink.close()
        self.expect(there.received("again"), range(20))

    def test_a_lost_server(self, there: Outside) -> None:
        sink = delivery(there.address("lost"))
        sink.deliver(table(0, 10), 1)
        there.kill()
        with pytest.raises(Lost):
            sink.deliver(table(10, 20), 2)
        sink.close()
        with pytest.raises(Lost):
            sink.open()
        sink.close()
        there.start()
        sink.open()
        sink.deliver(table(10, 20), 2)
        sink.close()
        self.expect(there.received("lost"), range(20))


def open_intake(address: str) -> Intake:
    made = connect(address).intake()
    made.open(None)
    return made


def refuses(address: str, match: str, *, source: bool = True, sink: bool = True) -> str:
    """Check that opening it fails with one sentence, and return the sentence."""
    said = ""
    for open_ in _openers(source, sink):
        with pytest.raises((Wrong, Lost), match=match) as refused:
            open_(address)
        said += str(refused.value)
    assert "\n" not in said
    return said


def _openers(source: bool, sink: bool) -> list[Callable[[str], object]]:
    return [open_intake] * source + [delivery] * sink
