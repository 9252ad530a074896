"""Kafka, against librdkafka's mock cluster in a separate process, as there is no broker.

It speaks the protocol, but does not undo transactions, does not keep their offsets and forgets all
when it ends. So a broker that is lost is one that is frozen here, and the ledger is written as a
broker would do it.
"""

import json
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka import OFFSET_BEGINNING, Consumer, Producer, TopicPartition

from boxcars.connectors.systems.connector import Lost, connect
from boxcars.model.problem import BoxcarsError, Wrong
from tests.connectors.systems import mock_kafka
from tests.connectors.systems.contract import (
    Reading,
    Sink,
    Source,
    delivery,
    messages,
    open_intake,
    reading,
    refuses,
    table,
)
from tests.connectors.systems.servers import freeze
from tests.patience import until
from tests.postgres import free_port

__all__ = ["reading"]
PARTITIONS = range(4)


class There:
    """A mock cluster; its topics have four partitions."""

    def __init__(self, folder: Path) -> None:
        self.process = subprocess.Popen([sys.executable, mock_kafka.__file__, str(folder)])
        until((folder / "address").exists)
        self.server = (folder / "address").read_text()
        self.settings: dict[str, Any] = {"bootstrap.servers": self.server, "log_level": 2}

    def address(self, name: str) -> str:
        """The URL of a topic, which is created if it does not exist."""
        Producer(self.settings).list_topics(name, timeout=10)
        return f"kafka://{self.server}/{name}"

    def send(self, name: str, messages: Sequence[bytes]) -> None:
        producer = Producer(self.settings)
        for message in messages:
            producer.produce(name, message)
        assert producer.flush(10) == 0

    def messages(self, name: str) -> list[Any]:
        consumer = Consumer({**self.settings, "group.id": "test", "enable.partition.eof": True})
        consumer.assign([TopicPartition(name, n, OFFSET_BEGINNING) for n in PARTITIONS])
        found, ends = [], 0
        while ends < len(PARTITIONS):
            for message in consumer.consume(10_000, 0.1):
                ends += message.error() is not None
                found += [message] if message.error() is None else []
        consumer.close()
        return found

    def received(self, name: str) -> list[int]:
        return sorted(json.loads(message.value())["t"] for message in self.messages(name))

    def kill(self) -> None:
        freeze(self.process)

    def start(self) -> None:
        self.process.send_signal(signal.SIGCONT)


@pytest.fixture(scope="module")
def there() -> Iterator[There]:
    folder = Path(tempfile.mkdtemp(prefix="boxcars-kafka-"))
    there = There(folder)
    yield there
    there.process.kill()
    there.process.wait(10)
    shutil.rmtree(folder)


class TestSource(Source):
    def test_only_new_messages(self, there: There) -> None:
        address = there.address("new")
        there.send("new", messages(0, 5))
        intake = open_intake(address + "?from=new")
        there.send("new", messages(5, 7))
        found: list[bytes] = []
        until(lambda: _pull(intake, found) and len(found) >= 2)
        intake.close()
        assert sorted(found) == messages(5, 7)

    def test_a_partition_that_is_new(self, there: There) -> None:
        address = there.address("wider")
        there.send("wider", messages(0, 40))
        intake = connect(address).intake()
        intake.open({"0": 0})
        found: list[bytes] = []
        until(lambda: _pull(intake, found) and len(found) >= 40)
        intake.close()
        assert sorted(found) == sorted(messages(0, 40))

    def test_new_partitions_are_detected(
        self, there: There, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("boxcars.connectors.systems.kafka._LOOK", 0)
        intake = open_intake(there.address("wide"))
        intake.pull(10, 0.05)
        monkeypatch.setattr(
            "boxcars.connectors.systems.kafka._Link.partitions", lambda _: [0, 1, 2, 3, 4]
        )
        with pytest.raises(Lost, match="the topic has new partitions"):
            intake.pull(10, 0.05)
        intake.close()

    def test_a_deleted_message(self, there: There) -> None:
        intake = connect(there.address("gone")).intake()
        intake.open(dict.fromkeys("0123", 99))
        with pytest.raises(Wrong, match=r"offset 99 of partition \d was deleted"):
            until(lambda: intake.pull(10, 0.5))
        intake.close()

    def test_offsets_for_monitoring(self, there: There, reading: Callable[[str], Reading]) -> None:
        journal = reading(there.address("watched") + "?group=watchers")
        there.send("watched", messages(0, 100))
        assert len(journal.take(*range(100))) == 100
        consumer = Consumer({**there.settings, "group.id": "watchers"})
        places = [TopicPartition("watched", n) for n in PARTITIONS]

        def committed() -> int:
            return sum(max(0, place.offset) for place in consumer.committed(places, timeout=5))

        until(lambda: committed() == 100)
        consumer.close()


class TestSink(Sink):
    exactly_once = False  # the mock has no ledger: see below

    @pytest.fixture(autouse=True)
    def _impatient(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("boxcars.connectors.systems.kafka._SECONDS", 2.0)

    def test_the_ledger(self, there: There) -> None:
        sink = delivery(there.address("ledger"), "ledger-home")
        sink.deliver(table(0, 10), 1)
        consumer = Consumer({**there.settings, "group.id": "boxcars-ledger-home"})
        consumer.commit(offsets=[TopicPartition("ledger", 0, 1)], asynchronous=False)
        consumer.close()
        sink.close()
        sink.open()
        sink.deliver(table(0, 10), 1)
        with pytest.raises(BoxcarsError, match="epoch 1 of this run was delivered already"):
            sink.deliver(table(0, 10), 0)
        sink.deliver(table(10, 20), 2)
        sink.close()
        assert there.received("ledger") == list(range(20))

    def test_keys(self, there: There) -> None:
        sink = delivery(there.address("keys") + "?key=who")
        sink.deliver(table(0, 20), 1)
        sink.deliver(table(0, 20), 2)
        sink.close()
        places = {(m.key(), m.partition()) for m in there.messages("keys")}
        assert len(places) == 20
        assert {key for key, _ in places} == {f"ann {t}".encode() for t in range(20)}

    def test_too_long_a_message(self, there: There) -> None:
        sink = delivery(there.address("long"))
        row = table(0, 1).set_column(1, "who", [["x" * 2**21]])
        with pytest.raises(Wrong, match="Kafka refused the request: .*[Mm]essage size too large"):
            sink.deliver(row, 1)
        sink.close()


def _pull(intake: Any, found: list[bytes]) -> bool:
    received = intake.pull(100, 0.1)
    found += received.data if received is not None else []
    return True


def test_mistakes(there: There, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("boxcars.connectors.systems.kafka._SECONDS", 2.0)
    refuses(f"kafka://127.0.0.1:{free_port()}/x", "Kafka does not answer: ")
    refuses(f"kafka://{there.server}/nowhere", "there is no topic 'nowhere'")
    refuses(f"kafka://{there.server}", "expected a topic after the host")
    refuses(f"kafka://{there.server}/x?grop=a", "Did you mean 'group'")
    refuses(f"kafka://{there.server}/x?key=whom", "Did you mean 'who'", source=False)
    refuses(f"kafka://{there.server}/x?key=t&format=arrow", "rows are one message", source=False)
    refuses(f"kafka://{there.server}/x?sasl=none", "expected plain or scram-sha-256")
