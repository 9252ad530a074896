"""Webhooks, against an HTTP server of the standard library in a separate process."""

import json
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from boxcars.connectors.systems.connector import Lost
from boxcars.model.problem import BoxcarsError
from tests.connectors.systems import receiver, servers
from tests.connectors.systems.contract import Sink, delivery, refuses, table
from tests.postgres import free_port


def command(folder: Path, port: int) -> list[str]:
    return [sys.executable, receiver.__file__, str(folder), str(port)]


def secure(folder: Path, port: int) -> list[str]:
    return [*command(folder, port), *map(str, servers.certificate(folder))]


class There:
    """A receiver that accepts each key once."""

    def __init__(self, server: servers.Server) -> None:
        self.server = server
        self.start, self.kill = server.start, server.kill

    def address(self, name: str) -> str:
        return f"http://127.0.0.1:{self.server.port}/{name}"

    def send(self, name: str, messages: Sequence[bytes]) -> None:
        raise NotImplementedError

    def answer(self, *statuses: int) -> None:
        (self.server.folder / "answers").write_text(" ".join(map(str, statuses)))

    def requests(self, path: str) -> list[dict[str, Any]]:
        taken = self.server.folder / "taken.jsonl"
        lines = taken.read_text().splitlines() if taken.exists() else []
        return [request for line in lines if (request := json.loads(line))["path"] == path]

    def received(self, name: str) -> list[int]:
        bodies = [request["body"] for request in self.requests(f"/{name}")]
        return [json.loads(line)["t"] for body in bodies for line in body.splitlines()]


@pytest.fixture(scope="module")
def there() -> Iterator[There]:
    with servers.serving(command) as server:
        yield There(server)


class TestSink(Sink):
    """Exactly once, because this receiver accepts each key once."""

    def test_what_is_sent(self, there: There) -> None:
        options = "?format=json&rows=2&token=geheim&header.X-Own=a b&query.who=ann&query.n=%261"
        sink = delivery(there.address("sent") + options, "home")
        sink.deliver(table(0, 3), 7)
        sink.close()
        one, two = there.requests("/sent?who=ann&n=%261")
        assert json.loads(one["body"]) == [{"t": 0, "who": "ann 0"}, {"t": 1, "who": "ann 1"}]
        assert json.loads(two["body"]) == [{"t": 2, "who": "ann 2"}]
        assert [r["headers"]["Idempotency-Key"] for r in (one, two)] == ["home-7-0", "home-7-1"]
        assert one["headers"]["Content-Type"] == "application/json"
        assert one["headers"]["Authorization"] == "Bearer geheim"
        assert one["headers"]["X-Own"] == "a b"

    def test_lines_and_a_password(self, there: There) -> None:
        address = there.address("lines").replace("//", "//ann:a%20b@")
        sink = delivery(address)
        sink.deliver(table(0, 2), 1)
        sink.close()
        (request,) = there.requests("/lines")
        assert request["body"] == '{"t":0,"who":"ann 0"}\n{"t":1,"who":"ann 1"}\n'
        assert request["headers"]["Content-Type"] == "application/x-ndjson"
        assert request["headers"]["Authorization"] == "Basic YW5uOmEgYg=="

    @pytest.mark.parametrize("status", [429, 500, 503])
    def test_temporary_errors(self, there: There, status: int) -> None:
        sink = delivery(there.address(f"busy{status}"))
        there.answer(status)
        with pytest.raises(Lost, match=f"the server answered {status}"):
            sink.deliver(table(0, 2), 1)
        sink.deliver(table(0, 2), 1)
        sink.close()
        assert there.received(f"busy{status}") == [0, 1]

    @pytest.mark.parametrize("status", [302, 400, 401, 404])
    def test_permanent_errors(self, there: There, status: int) -> None:
        sink = delivery(there.address("refused") + "?token=geheim")
        there.answer(status)
        with pytest.raises(BoxcarsError, match=f"the server answered {status}") as refused:
            sink.deliver(table(0, 2), 1)
        sink.close()
        assert not isinstance(refused.value, Lost)
        assert "geheim" not in str(refused.value)
        assert there.received("refused") == []


def test_tls() -> None:
    with servers.serving(secure) as server:
        there = There(server)
        address = f"https://localhost:{server.port}/safe"
        refuses(address, "the certificate is not trusted: .*self-signed", source=False)
        refuses(f"{address}?ca=/nowhere", "'ca' can't be read", source=False)
        sink = delivery(f"{address}?ca={server.folder}/cert.pem")
        sink.deliver(table(0, 2), 1)
        sink.close()
        assert there.received("safe") == [0, 1]


def test_mistakes() -> None:
    refuses(f"http://127.0.0.1:{free_port()}/x", "does not answer: .*refused", source=False)
    refuses("http:///x", "expected a host", source=False)
    refuses("http://h/x?tokn=geheim", "no option 'tokn'. Did you mean 'token'", source=False)
    refuses("http://h/x", "can't be used as a source", sink=False)
    said = refuses("http://h/x?row=1&query.code=geheim&token=s3", "no option 'row'", source=False)
    assert "geheim" not in said
    assert "s3" not in said
