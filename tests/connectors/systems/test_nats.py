"""NATS JetStream, against a NATS server."""

import asyncio
import json
import time
from collections.abc import Awaitable, Callable, Iterator, Sequence
from typing import Any
from urllib.parse import quote

import nats
import pytest

from boxcars.connectors.systems.connector import Lost, connect
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
from tests.postgres import free_port

__all__ = ["reading"]


class There:
    """A NATS server; each name is a stream with one subject."""

    def __init__(self, server: servers.Server) -> None:
        self.server = server
        self.start, self.kill = server.start, server.kill

    def address(self, name: str, password: str = servers.PASSWORD) -> str:
        """The URL of a stream, which is created if it does not exist."""
        self.ask(lambda js: js.add_stream(name=name, subjects=[f"{name}.in"]))
        return self.base(password) + name

    def base(self, password: str = servers.PASSWORD) -> str:
        return f"nats://ann:{quote(password)}@127.0.0.1:{self.server.port}/"

    def ask(self, work: Callable[[Any], Awaitable[Any]]) -> Any:
        async def answer() -> Any:
            client = await nats.connect(
                f"nats://127.0.0.1:{self.server.port}", user="ann", password=servers.PASSWORD
            )
            try:
                return await work(client.jetstream())
            finally:
                await client.close()

        return asyncio.run(answer())

    def send(self, name: str, messages: Sequence[bytes]) -> None:
        async def send(js: Any) -> None:
            await asyncio.gather(*(js.publish(f"{name}.in", message) for message in messages))

        self.ask(send)

    def received(self, name: str) -> list[int]:
        async def receive(js: Any) -> list[int]:
            state = (await js.stream_info(name)).state
            found = [await js.get_msg(name, seq) for seq in range(1, state.last_seq + 1)]
            return [json.loads(message.data)["t"] for message in found]

        found: list[int] = self.ask(receive)
        return found


@pytest.fixture(scope="module")
def there() -> Iterator[There]:
    with servers.serving(servers.nats) as server:
        yield There(server)


class TestSource(Source):
    def test_only_new_messages(self, there: There) -> None:
        address = there.address("new")
        there.send("new", messages(0, 5))
        intake = open_intake(address + "?from=new")
        there.send("new", messages(5, 7))
        received = intake.pull(10, 1)
        intake.close()
        assert received is not None
        assert (received.data, received.position) == (messages(5, 7), 7)

    def test_a_subject_of_several(self, there: There) -> None:
        there.ask(lambda js: js.add_stream(name="many", subjects=["many.*"]))
        there.ask(lambda js: js.publish("many.a", b"1"))
        there.ask(lambda js: js.publish("many.b", b"2"))
        intake = open_intake(there.base() + "many?subject=many.b")
        received = intake.pull(10, 1)
        intake.close()
        assert received is not None
        assert received.data == [b"2"]

    def test_a_removed_consumer(self, there: There, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("boxcars.connectors.systems.nats._LOOK", 0.1)
        intake = open_intake(there.address("forgotten"))

        async def forget(js: Any) -> None:
            for consumer in await js.consumers_info("forgotten"):
                await js.delete_consumer("forgotten", consumer.name)

        there.ask(forget)
        time.sleep(0.2)
        with pytest.raises(Lost, match="removed the consumer"):
            intake.pull(10, 0.05)
        intake.close()

    def test_deleted_messages(self, there: There, caplog: pytest.LogCaptureFixture) -> None:
        address = there.address("short")
        there.send("short", messages(0, 10))
        there.ask(lambda js: js.purge_stream("short", keep=2))
        intake = connect(address).intake()
        intake.open(5)
        received = intake.pull(10, 1)
        intake.close()
        assert received is not None
        assert received.data == messages(8, 10)
        assert "has deleted messages 6 to 8 before they were read" in caplog.text

    def test_another_stream(self, there: There) -> None:
        intake = connect(there.address("another")).intake()
        with pytest.raises(Wrong, match="read up to message 5, but the stream ends at 0"):
            intake.open(5)
        intake.close()

    def test_a_queue(self, there: There) -> None:
        there.ask(lambda js: js.add_stream(name="jobs", subjects=["jobs"], retention="workqueue"))
        refuses(there.base() + "jobs", "retention of the stream is 'workqueue'", sink=False)


class TestSink(Sink):
    def test_which_subject(self, there: There) -> None:
        there.ask(lambda js: js.add_stream(name="wide", subjects=["wide.>", "else"]))
        base = there.base() + "wide"
        refuses(base, "expected a subject of the stream, .* it has wide.>, else", source=False)
        refuses(base + "?subject=wide.*", "expected a subject of the stream", source=False)
        refuses(base + "?subject=other", "expected a subject of the stream", source=False)
        sink = delivery(base + "?subject=wide.a.b")
        sink.deliver(table(0, 2500), 1)
        sink.close()
        assert there.received("wide") == list(range(2500))

    def test_too_long_a_message(self, there: There) -> None:
        sink = delivery(there.address("long"))
        row = table(0, 1).set_column(1, "who", [["x" * 2**21]])
        with pytest.raises(Wrong, match="NATS refused the request: .*maximum payload"):
            sink.deliver(row, 1)
        sink.close()


def test_mistakes(there: There) -> None:
    said = refuses(there.address("x", "geheim"), "NATS refused the request: .*Authorization")
    assert "geheim" not in said
    refuses(f"nats://127.0.0.1:{free_port()}/x", "NATS does not answer: ")
    refuses(there.base() + "nowhere", "there is no stream 'nowhere'")
    refuses(there.base(), "expected a stream after the host")
    refuses(there.base() + "x?subjects=a", "Did you mean 'subject'")
    refuses(there.base() + "x?tls=maybe", "expected no or yes for 'tls'")
    refuses(there.base() + "x?tls=yes&ca=/nowhere", "'ca' can't be read")


def test_errors_name_the_source(there: There, reading: Callable[[str], Reading]) -> None:
    with pytest.raises(Wrong, match=r"^nats://ann@127\.0\.0\.1:\d+/x: NATS refused the request"):
        reading(there.address("x", "geheim"))


def test_tls_and_a_token() -> None:
    with servers.serving(servers.nats_tls) as server:
        address = f"nats://127.0.0.1:{server.port}/safe?tls=yes"
        trusting = f"{address}&ca={server.folder}/cert.pem"
        refuses(f"{address}&token=geheim", "the certificate is not trusted")
        said = refuses(f"{trusting}&token=falsch", "NATS refused the request: .*Authorization")
        assert "falsch" not in said
        refuses(f"{trusting}&token=geheim", "there is no stream 'safe'")
