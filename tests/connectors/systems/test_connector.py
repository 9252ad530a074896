"""Connectors: registered as entry points, exactly once through the journal, with reconnects."""

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
from boxcars.connectors.read.base import Offset
from boxcars.connectors.read.journal import JournalReader
from boxcars.connectors.systems import connector
from boxcars.connectors.systems.connector import connect, connector_class, schemes
from boxcars.events.event import Kind
from boxcars.model.problem import BoxcarsError, Wrong
from boxcars.service.logs import LogKind, RunLog
from tests.connectors.systems import toy
from tests.connectors.systems.toy import BROKER, END
from tests.patience import PATIENCE, until

FIELDS = {"t": "int", "who": "str"}


@pytest.fixture(autouse=True)
def _entry(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    """Install the toy connector like any other: as an entry point of a package."""
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
    with pytest.raises(Wrong, match="is not a Connector"):
        connect("none://host/x")
    with pytest.raises(Wrong, match="'bad://' can't be loaded: No module named 'no'"):
        connect("bad://host/x")
    with pytest.raises(Wrong, match=r"no option 'fromat'\. Did you mean 'format'\?"):
        connect("toy://host/x?fromat=csv").intake()
    with pytest.raises(Wrong, match="expected a topic after the host"):
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
def opened(tmp_path: Path) -> Iterator[Callable[[str], JournalReader]]:
    """Opens the journal of a URL, and closes the previous one."""
    found: list[JournalReader] = []
    entity = network().inputs["rows"]

    def opener(address: str) -> JournalReader:
        for reader in found:
            reader.close()
        found.append(JournalReader("rows", connect(address), tmp_path / "home", entity))
        return found[-1]

    (tmp_path / "home").mkdir()
    yield opener
    for reader in found:
        reader.close()


def take_all(reader: JournalReader, offset: Offset, rows: int) -> tuple[list[int], Offset]:
    """Wait for ``rows`` rows after an offset."""
    found: list[int] = []
    entity = network().inputs["rows"]
    end = time.monotonic() + PATIENCE
    while len(found) < rows:
        assert time.monotonic() < end, "this takes too long"
        portion = reader.take(offset, rows - len(found))
        offset = portion.offset
        for split in portion.splits:
            found += split.read(entity).tuples["t"].to_list()
    return found, offset


def test_the_next_process_resumes_after_the_durable_messages(
    opened: Callable[[str], JournalReader],
) -> None:
    send("calls", *((n, "ann") for n in range(10)))
    reader = opened("toy://h/calls?most=4")
    until(lambda: BROKER.safe.get("calls") == 10)
    first, offset = take_all(reader, Offset(), 6)
    BROKER.safe["calls"] = 3  # as if the other acknowledgments were lost
    reader = opened("toy://h/calls?most=4")
    send("calls", (10, "bob"))
    rest, _ = take_all(reader, offset, 5)
    assert first + rest == list(range(11))
    again, _ = take_all(reader, Offset(), 11)
    assert again == list(range(11))


def test_a_lost_connection_is_opened_again(
    opened: Callable[[str], JournalReader], capsys: pytest.CaptureFixture[str]
) -> None:
    RunLog(LogKind.JSON, "n")
    reader = opened("toy://h/calls")
    BROKER.there = False
    until(lambda: BROKER.missed)
    send("calls", (1, "ann"))
    BROKER.there = True
    assert take_all(reader, Offset(), 1)[0] == [1]
    assert BROKER.opened >= 2
    lost, back = map(json.loads, capsys.readouterr().err.splitlines())
    assert lost["text"].endswith("Reconnecting.")
    assert back["text"] == "toy://h/calls: reconnected"
    assert (lost["box"], back["box"]) == ("rows", "rows")


def test_backpressure_while_nothing_is_read(opened: Callable[[str], JournalReader]) -> None:
    send("calls", *((n, "ann") for n in range(100)))
    reader = opened("toy://h/calls?most=1")
    time.sleep(0.5)
    assert BROKER.safe["calls"] <= journal_batches.AHEAD + 1
    found, offset = take_all(reader, Offset(), 100)
    assert found == list(range(100))
    reader.forget(offset)
    assert len(list(reader._batches._staged.iterdir())) == 1


def test_a_system_that_is_down_at_the_start(spark: SparkSession) -> None:
    BROKER.there = False
    begin: list[Any] = [{"rows": "toy://h/x"}, {}]
    end: list[Any] = [{"rows": [{"t": 1, "who": "a"}]}, {"out": "toy://h/y"}]
    for ends in (begin, end):
        with pytest.raises(Wrong, match=r"toy://h/.: the server does not answer\. Is it running\?"):
            bx.run(network(), *ends, spark=spark)


class Trouble:
    """A sink that goes down while a run writes to it."""

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
    def test_the_run_waits_for_it(self, spark: SparkSession, tmp_path: Path) -> None:
        running = self.run(spark, tmp_path, 60)
        until(lambda: {e.kind for e in running.events()} >= {"connection_lost"})
        BROKER.there = True
        until(lambda: received() == [1, 2])
        until(lambda: {e.kind for e in running.events()} >= {"connection_back"})
        running.stop()
        found = {event.kind: event for event in running.events()}
        lost, back = found[Kind.CONNECTION_LOST], found[Kind.CONNECTION_BACK]
        assert (lost.box, back.box) == ("rows", "rows")
        assert lost.cause == "toy://h/calls: the server does not answer. Reconnecting."
        assert back.figures["seconds"] >= 0

    def test_a_waiting_run_can_be_stopped_and_resumed(
        self, spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        running = self.run(spark, tmp_path, 60)
        lost = toy.ToyDelivery.deliver
        monkeypatch.setattr(toy.ToyDelivery, "deliver", fail)
        BROKER.there = True
        until(lambda: FAILED)
        until(lambda: any(event.kind == Kind.SINK_WAITING for event in running.events()))
        with pytest.raises(BoxcarsError, match="Epoch 2 was not delivered"):
            running.stop()
        (waiting,) = (e for e in running.events() if e.kind == Kind.SINK_WAITING)
        assert (waiting.box, waiting.epoch, waiting.figures) == ("out", 2, {"patience": 60.0})
        assert running.events()[-1].kind == Kind.FAILED
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
        assert [str(event.kind) for event in again.events()][-2:] == ["started", "finished"]
        assert len({home for home, _, _ in BROKER.delivered}) == 1


FAILED: list[bool] = []


def fail(*_: object) -> None:
    FAILED.append(True)
    raise connector.Lost("it is gone.")
