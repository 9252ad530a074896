"""MQTT, against a Mosquitto broker."""

import json
import signal
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any
from urllib.parse import quote

import pytest
from paho.mqtt.client import Client
from paho.mqtt.enums import CallbackAPIVersion

from boxcars.connectors.systems.connector import connect
from boxcars.model.problem import Wrong
from tests.connectors.systems import servers
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
from tests.patience import until
from tests.postgres import free_port

__all__ = ["reading"]


class There:
    """A broker, and a subscriber to all published messages."""

    def __init__(self, server: servers.Server) -> None:
        self.server, self.kill = server, server.kill
        server.killer = signal.SIGTERM  # otherwise it may lose messages it has just acknowledged
        self.heard: list[tuple[str, bytes]] = []
        self.ear = self.listen()

    def client(self, name: str) -> Any:
        client = Client(CallbackAPIVersion.VERSION2, client_id=name, clean_session=False)
        client.username_pw_set("ann", servers.PASSWORD)
        return client

    def listen(self) -> Any:
        ear = self.client("ear")
        ear.on_message = lambda _c, _d, m: self.heard.append((m.topic, m.payload))
        ear.connect("127.0.0.1", self.server.port)
        ear.loop_start()
        until(ear.is_connected)
        ear.subscribe("#", 1)
        return ear

    def close(self) -> None:
        self.ear.disconnect()
        self.ear.loop_stop()

    def start(self) -> None:
        self.close()
        self.server.start()
        self.ear = self.listen()

    def address(self, name: str, password: str = servers.PASSWORD) -> str:
        return f"mqtt://ann:{quote(password)}@127.0.0.1:{self.server.port}/{name}"

    def send(self, name: str, messages: Sequence[bytes]) -> None:
        client = self.client("mouth")
        client.connect("127.0.0.1", self.server.port)
        client.loop_start()
        for info in [client.publish(name, message, 1) for message in messages]:
            info.wait_for_publish(10)
        client.disconnect()
        client.loop_stop()

    def received(self, name: str) -> list[int]:
        number = -1
        while len(self.heard) != number:
            number = len(self.heard)
            time.sleep(0.3)
        return [json.loads(text)["t"] for topic, text in self.heard if topic == name]


@pytest.fixture(scope="module")
def there() -> Iterator[There]:
    with servers.serving(servers.mosquitto) as server:
        there = There(server)
        yield there
        there.close()


class TestSource(Source):
    exactly_once = False

    def test_messages_while_no_run_reads(
        self, there: There, reading: Callable[[str], Reading]
    ) -> None:
        journal = reading(there.address("away"))
        until(lambda: any((journal.home / "batches").iterdir()))  # the client id is stored
        journal.close()
        there.send("away", messages(0, 50))
        journal.open()
        assert journal.take(*range(50)) == list(range(50))

    def test_unacknowledged_messages_are_redelivered(self, there: There) -> None:
        intake = connect(there.address("kept")).intake()
        intake.open(None)
        begin = intake.pull(10, 1)
        assert begin is not None
        there.send("kept", messages(0, 1))
        first = intake.pull(1, 5)
        intake.close()
        intake = connect(there.address("kept")).intake()
        intake.open(begin.position)
        again = intake.pull(1, 5)
        intake.safe(begin.position)
        intake.close()
        assert first is not None
        assert again is not None
        assert first.data == again.data == messages(0, 1)

    def test_a_pattern(self, there: There, reading: Callable[[str], Reading]) -> None:
        journal = reading(there.address("rooms/%2B/%23"))
        there.send("rooms/1/lamp", messages(0, 1))
        there.send("rooms/2/lamp/red", messages(1, 2))
        assert journal.take(0, 1) == [0, 1]


class TestSink(Sink):
    exactly_once = False

    def test_a_pattern(self, there: There) -> None:
        refuses(there.address("rooms/%23"), "can't be published to a wildcard topic", source=False)

    def test_without_acknowledgement(self, there: There) -> None:
        sink = delivery(there.address("plain") + "?qos=0")
        sink.deliver(table(0, 100), 1)
        sink.close()
        assert there.received("plain") == list(range(100))


def test_a_broker_that_has_lost_the_session(there: There, caplog: pytest.LogCaptureFixture) -> None:
    intake = connect(there.address("x")).intake()
    intake.open("nobody")
    intake.close()
    assert "has lost the session" in caplog.text


def test_mistakes(there: There) -> None:
    said = refuses(there.address("x", "geheim"), "MQTT refused the request: Not authorized")
    assert "geheim" not in said
    refuses(f"mqtt://127.0.0.1:{free_port()}/x", "MQTT does not answer: .*refused")
    refuses(there.address(""), "expected a topic after the host")
    refuses(there.address("x?qos=2"), "expected 1 or 0 for 'qos'")
    refuses(there.address("x?quos=2"), "Did you mean 'qos'")
    refuses("mqtts://127.0.0.1/x?ca=/nowhere", "'ca' can't be read")


def test_errors_name_the_source(there: There, reading: Callable[[str], Reading]) -> None:
    with pytest.raises(Wrong, match=r"^mqtt://ann@127\.0\.0\.1:\d+/x: MQTT refused the request"):
        reading(there.address("x", "geheim"))


def test_tls() -> None:
    with servers.serving(servers.mosquitto_tls) as server:
        address = f"mqtts://127.0.0.1:{server.port}/safe"
        trusting = f"{address}?ca={server.folder}/cert.pem"
        intake = open_intake(trusting)
        assert intake.pull(10, 1) is not None
        sink = delivery(trusting)
        sink.deliver(table(0, 1), 1)
        sink.close()
        received = intake.pull(10, 5)
        intake.close()
        assert received is not None
        assert received.data == [b'{"t":0,"who":"ann 0"}']
