"""Connectors: found by entry points, exactly once by the inbox, and patient when they are lost."""

import json
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from pyspark.sql import SparkSession
from typer.testing import CliRunner

import boxcars as bx
from boxcars.cli import app
from boxcars.connectors.read import journal_batches
from boxcars.connectors.read.base import Place
from boxcars.connectors.read.journal import InboxReader
from boxcars.connectors.systems import connector
from boxcars.connectors.systems.connector import connect, connector_class, schemes
from boxcars.model.problem import BoxcarsError, Wrong
from boxcars.service.logs import LogKind, RunLog
from tests.connectors.systems import toy
from tests.connectors.systems.toy import BROKER, END
from tests.patience import PATIENCE, until

FIELDS = {"t": "int", "who": "str"}


@pytest.fixture(autouse=True)
def _entry(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    """Install the toy as others install their connectors: by an entry point of a package."""
    folder = tmp_path_factory.mktemp("site")
    info = folder / "toy-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: toy\nVersion: 1.0\n")
    lines = [
        "toy = tests.connectors.systems.toy:Toy",
        "none = tests.connectors.systems.toy:Broker",
        "bad = no:No",
    ]
    (info / "entry_points.txt").write_text(f"[{connector.GROUP}]\n" + "\n".join(lines) + "\n")
    monkeypatch.syspath_prepend(str(folder))
    connector_class.cache_clear()
    BROKER.forget()


def network() -> bx.Network:
    net = bx.Network("n")
    rows = net.input("rows", ts="t", fields=FIELDS)
    net.output("out", rows.filter("t <> 13"))
    return net


def send(topic: str, *rows: tuple[int, str]) -> None:
    BROKER.messages[topic] += [json.dumps({"t": t, "who": who}).encode() for t, who in rows]


def received() -> list[int]:
    return [row["t"] for _, _, rows in BROKER.delivered for row in rows]


def test_entry_points() -> None:
    assert "toy" in schemes()
    assert connector_class("toy") is toy.Toy
    with pytest.raises(Wrong, match=r"no connector 'tyo://'\. Did you mean 'toy'\?"):
        connect("tyo://host/x")
    with pytest.raises(Wrong, match="is no Connector"):
        connect("none://host/x")
    with pytest.raises(Wrong, match="'bad://' can't be loaded: No module named 'no'"):
        connect("bad://host/x")
    with pytest.raises(Wrong, match=r"no option 'fromat'\. Did you mean 'format'\?"):
        connect("toy://host/x?fromat=csv").intake()
    with pytest.raises(Wrong, match="expected a topic behind the host"):
        connect("toy://host").intake()


def test_the_list() -> None:
    shown = CliRunner().invoke(app, ["connectors"]).stdout
    assert "toy://  a toy\n  source: exactly once\n  sink: exactly once\n" in shown
    assert "redis://, rediss://  Redis Streams\n" in shown


def test_from_outside_to_outside(spark: SparkSession) -> None:
    send("calls", *((n, "ann") for n in range(250)))
    BROKER.messages["calls"].append(END)
    running = bx.run(network(), {"rows": "toy://h/calls"}, {"out": "toy://h/alarms"}, spark=spark)
    running.wait(60)
    assert received() == [n for n in range(250) if n != 13]
    assert BROKER.safe["calls"] == 251
    assert running.status().state == "finished"


def test_dead_letters(spark: SparkSession, tmp_path: Path) -> None:
    send("calls", (1, "ann"))
    BROKER.messages["calls"] += [b"{oops", b'{"t": null, "who": "bob"}', END]
    running = bx.run(
        network(),
        {"rows": toy.Toy("toy://h/calls?most=2")},
        {"out": toy.Toy("toy://h/alarms")},
        checkpoint=tmp_path / "c",
        spark=spark,
    )
    running.wait(60)
    assert received() == [1]
    assert running.stats().boxes["rows"].dead == 2
    letters = pl.concat([pl.read_parquet(part) for part in (tmp_path / "c" / "dead").iterdir()])
    assert set(letters["record"]) == {b"{oops", b'{"t":null,"who":"bob"}'}


@pytest.fixture
def opened(tmp_path: Path) -> Iterator[Callable[[str], InboxReader]]:
    """Opens the inbox of an address, and closes the one before."""
    found: list[InboxReader] = []
    entity = network().inputs["rows"]

    def opener(address: str) -> InboxReader:
        for reader in found:
            reader.close()
        found.append(InboxReader("rows", connect(address), tmp_path / "home", entity))
        return found[-1]

    (tmp_path / "home").mkdir()
    yield opener
    for reader in found:
        reader.close()


def take_all(reader: InboxReader, place: Place, rows: int) -> tuple[list[int], Place]:
    """Wait for so many rows behind a place."""
    found: list[int] = []
    entity = network().inputs["rows"]
    end = time.monotonic() + PATIENCE
    while len(found) < rows:
        assert time.monotonic() < end, "this takes too long"
        portion = reader.take(place, rows - len(found))
        place = portion.place
        for split in portion.splits:
            found += split.read(entity).tuples["t"].to_list()
    return found, place


def test_the_next_process_goes_on_behind_what_was_kept(
    opened: Callable[[str], InboxReader],
) -> None:
    send("calls", *((n, "ann") for n in range(10)))
    reader = opened("toy://h/calls?most=4")
    until(lambda: BROKER.safe.get("calls") == 10)
    first, place = take_all(reader, Place(), 6)
    BROKER.safe["calls"] = 3  # as if the other side had not heard of the rest
    reader = opened("toy://h/calls?most=4")
    send("calls", (10, "bob"))
    rest, _ = take_all(reader, place, 5)
    assert first + rest == list(range(11))
    again, _ = take_all(reader, Place(), 11)
    assert again == list(range(11))


def test_a_lost_connection_is_opened_again(
    opened: Callable[[str], InboxReader], capsys: pytest.CaptureFixture[str]
) -> None:
    RunLog(LogKind.JSON, "n")
    reader = opened("toy://h/calls")
    BROKER.there = False
    until(lambda: BROKER.missed)
    send("calls", (1, "ann"))
    BROKER.there = True
    assert take_all(reader, Place(), 1)[0] == [1]
    assert BROKER.opened >= 2
    lost, back = map(json.loads, capsys.readouterr().err.splitlines())
    assert lost["text"].endswith("Trying again.")
    assert back["text"] == "toy://h/calls: connected again"
    assert (lost["box"], back["box"]) == ("rows", "rows")


def test_the_other_side_waits_while_nobody_reads(opened: Callable[[str], InboxReader]) -> None:
    send("calls", *((n, "ann") for n in range(100)))
    reader = opened("toy://h/calls?most=1")
    time.sleep(0.5)
    assert BROKER.safe["calls"] <= journal_batches.AHEAD + 1
    found, place = take_all(reader, Place(), 100)
    assert found == list(range(100))
    reader.forget(place)
    assert len(list(reader._batches._staged.iterdir())) == 1


def test_who_is_not_there_at_first(spark: SparkSession) -> None:
    BROKER.there = False
    begin: list[Any] = [{"rows": "toy://h/x"}, {}]
    end: list[Any] = [{"rows": [{"t": 1, "who": "a"}]}, {"out": "toy://h/y"}]
    for ends in (begin, end):
        with pytest.raises(Wrong, match=r"toy://h/.: nobody answers\. Is it running\?"):
            bx.run(network(), *ends, spark=spark)


class Trouble:
    """A sink that is lost while a run writes to it."""

    def run(self, spark: SparkSession, folder: Path, patience: float) -> bx.Run:
        send("calls", (1, "ann"), (2, "bob"))
        running = bx.run(
            network(),
            {"rows": "toy://h/calls"},
            {"out": f"toy://h/alarms?patience={patience}"},
            checkpoint=folder / "c",
            spark=spark,
        )
        until(lambda: received() == [1])
        BROKER.there = False
        send("calls", (3, "cid"))
        return running


class TestALostSink(Trouble):
    def test_it_is_waited_for(self, spark: SparkSession, tmp_path: Path) -> None:
        running = self.run(spark, tmp_path, 60)
        BROKER.there = True
        until(lambda: received() == [1, 2])
        running.stop()

    def test_a_run_that_waits_can_be_stopped_and_goes_on(
        self, spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        running = self.run(spark, tmp_path, 60)
        lost = toy.ToyDelivery.deliver
        monkeypatch.setattr(toy.ToyDelivery, "deliver", fail)
        BROKER.there = True
        until(lambda: FAILED)
        with pytest.raises(BoxcarsError, match="Epoch 2 was not delivered"):
            running.stop()
        monkeypatch.setattr(toy.ToyDelivery, "deliver", lost)
        BROKER.messages["calls"].append(END)
        again = bx.run(
            network(),
            {"rows": "toy://h/calls"},
            {"out": "toy://h/alarms"},
            checkpoint=tmp_path / "c",
            spark=spark,
        )
        again.wait(60)
        assert received() == [1, 2, 3]
        assert len({home for home, _, _ in BROKER.delivered}) == 1


FAILED: list[bool] = []


def fail(*_: object) -> None:
    FAILED.append(True)
    raise connector.Lost("it is gone.")
