"""Redis Streams, against a Redis server."""

import json
import sys
from collections.abc import Callable, Iterator, Sequence
from typing import Any
from urllib.parse import quote

import pyarrow as pa
import pytest
import redis

from boxcars.connectors.systems.connector import connect
from boxcars.model.problem import BoxcarsError, Wrong
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
    """A Redis server."""

    def __init__(self, server: servers.Server) -> None:
        self.server = server
        self.start, self.kill = server.start, server.kill

    def address(self, name: str, password: str = servers.PASSWORD) -> str:
        return f"redis://:{quote(password)}@127.0.0.1:{self.server.port}/{name}"

    def client(self) -> Any:
        return redis.Redis(port=self.server.port, password=servers.PASSWORD)

    def send(self, name: str, messages: Sequence[bytes]) -> None:
        with self.client() as client, client.pipeline() as pipe:
            for message in messages:
                pipe.xadd(name, {"data": message})
            pipe.execute()

    def received(self, name: str) -> list[int]:
        with self.client() as client:
            return [json.loads(fields[b"data"])["t"] for _, fields in client.xrange(name)]


@pytest.fixture(scope="module")
def there() -> Iterator[There]:
    with servers.serving(servers.redis) as server:
        yield There(server)


class TestSource(Source):
    def test_only_new_messages(self, there: There) -> None:
        there.send("new", messages(0, 5))
        intake = connect(there.address("new") + "?from=new").intake()
        intake.open(None)
        there.send("new", messages(5, 7))
        received = intake.pull(10, 1)
        intake.close()
        assert received is not None
        assert received.data == messages(5, 7)

    def test_an_entry_without_the_field(self, there: There) -> None:
        with there.client() as client:
            client.xadd("odd", {"t": "1"})
        intake = connect(there.address("odd")).intake()
        intake.open(None)
        received = intake.pull(10, 1)
        intake.close()
        assert received is not None
        assert received.data == [b"""no field 'data': {"t": "b'1'"}"""]


class TestSink(Sink):
    def test_outputs_have_separate_ledgers(self, there: There) -> None:
        for home in ("one", "two"):
            sink = delivery(there.address("both"), home)
            sink.deliver(table(0, 3), 1)
            sink.close()
        assert there.received("both") == [0, 1, 2, 0, 1, 2]

    def test_an_outdated_checkpoint(self, there: There) -> None:
        sink = delivery(there.address("old"))
        sink.deliver(table(0, 3), 2)
        with pytest.raises(BoxcarsError, match="epoch 2 of this run was delivered already"):
            sink.deliver(table(0, 3), 1)
        sink.close()

    def test_a_stream_is_trimmed(self, there: There) -> None:
        sink = delivery(there.address("short") + "?maxlen=100")
        sink.deliver(table(0, 5000), 1)
        sink.close()
        assert 100 <= len(there.received("short")) < 1000

    def test_a_key_that_is_no_stream(self, there: There) -> None:
        sink = delivery(there.address("text"))
        with there.client() as client:
            client.set("text", "x")
        with pytest.raises(Wrong, match="'text' is a string, not a stream"):
            sink.deliver(table(0, 3), 1)
        sink.close()

    def test_a_format(self, there: There) -> None:
        sink = delivery(there.address("csv") + "?format=csv&format.delimiter=;")
        sink.deliver(table(0, 2), 1)
        sink.close()
        with there.client() as client:
            assert [f[b"data"] for _, f in client.xrange("csv")] == [b"0;ann 0", b"1;ann 1"]

    def test_arrow(self, there: There) -> None:
        sink = delivery(there.address("arrow") + "?format=arrow")
        sink.deliver(table(0, 2), 1)
        sink.close()
        with there.client() as client:
            ((_, fields),) = client.xrange("arrow")
        assert pa.ipc.open_stream(fields[b"data"]).read_all()["t"].to_pylist() == [0, 1]


def test_mistakes(there: There) -> None:
    said = refuses(there.address("x", "geheim"), "Redis refused the request: .*password")
    assert "geheim" not in said
    refuses(there.address("x", ""), "Redis refused the request: .*Authentication required")
    refuses(f"redis://127.0.0.1:{free_port()}/x", "Redis does not answer: .*refused")
    refuses(there.address(""), "expected a stream after the host")
    refuses(there.address("x?form=new"), r"no option 'form'\. Did you mean 'format'\?")
    refuses(there.address("x?from=old"), "expected first or new for 'from'", sink=False)
    refuses(there.address("x?format=jsnol"), "unknown format 'jsnol'", source=False)


def test_without_the_library(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "redis", None)
    needs = r"redis:// needs the package redis: pip install 'boxcars\[connectors\]'"
    refuses("redis://127.0.0.1/x", needs)


def test_errors_name_the_source(there: There, reading: Callable[[str], Reading]) -> None:
    with pytest.raises(Wrong, match=rf"^redis://127\.0\.0\.1:{there.server.port}/x: Redis refused"):
        reading(there.address("x", "geheim"))


def test_tls() -> None:
    with servers.serving(servers.redis_tls) as server:
        address = f"rediss://127.0.0.1:{server.port}/safe"
        refuses(address, "the certificate is not trusted")
        trusting = f"{address}?ca={server.folder}/cert.pem"
        sink = delivery(trusting)
        sink.deliver(table(0, 1), 1)
        sink.close()
        intake = open_intake(trusting)
        received = intake.pull(10, 1)
        intake.close()
        assert received is not None
        assert received.data == [b'{"t":0,"who":"ann 0"}']
