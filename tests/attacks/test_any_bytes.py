"""Arbitrary bytes at any port: invalid data is rejected or a dead letter, and the run continues."""

import json
import socket
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, seed, settings
from hypothesis import strategies as st
from pyspark.sql import SparkSession
from websockets.exceptions import ConnectionClosed
from websockets.sync.client import connect as open_socket

import boxcars as bx
from boxcars.connectors.read.journal import Decoder
from boxcars.connectors.systems.url import Url
from boxcars.connectors.untrusted_arrow import read_stream
from boxcars.inject import AtRate, Controller
from boxcars.model.problem import BoxcarsError, Wrong
from boxcars.service.client import Client
from boxcars.service.security import Access
from boxcars.service.server import Server
from boxcars.service.wire import ARROW, BatchCodec, decode_epoch, table_to_bytes
from tests.attacks.test_any_documents import SECONDS
from tests.postgres import free_port
from tests.service.test_service import network, rows

WELL = table_to_bytes(rows(1, 4))
bytes_like = st.binary(max_size=300) | st.builds(
    lambda at, byte: WELL[:at] + bytes([byte]) + WELL[at + 1 :],
    st.integers(0, len(WELL) - 1),
    st.integers(0, 255),
)
"""Arbitrary bytes, and an Arrow stream with one wrong byte."""


@given(bytes_like)
@settings(max_examples=200, deadline=None)
def test_messages(data: bytes) -> None:
    """No other error is raised, and decoded tables can be printed."""
    for read in (read_stream, BatchCodec().read):
        with suppress(BoxcarsError):
            str(read(data))
    if len(data) >= 8:
        with suppress(BoxcarsError):
            str(decode_epoch(data))


@given(st.sampled_from(["jsonl", "csv", "arrow"]), st.lists(bytes_like, max_size=3))
@settings(max_examples=200, deadline=None)
def test_decoders(format_: str, messages: list[bytes]) -> None:
    entity = network().inputs["rows"]
    found = Decoder(entity, {"format": format_}).decode(messages)
    assert found.tuples.columns == list(entity.fields)
    assert found.tuples["t"].null_count() == 0
    assert found.dead["reason"].null_count() == 0


@given(st.text(max_size=60) | st.from_regex(r"[a-z]{1,8}://[^\s]{0,40}", fullmatch=True))
@settings(max_examples=300, deadline=None)
def test_addresses(text: str) -> None:
    try:
        url = Url.parse(text)
    except Wrong:
        return
    assert Url.parse(str(url)).host == url.host


@given(st.text(max_size=30))
@settings(max_examples=100, deadline=None)
def test_commands_of_an_injector(line: str) -> None:
    controller = Controller([], [], AtRate(1))
    with suppress(Wrong):
        controller.command(line)


@pytest.fixture(scope="module")
def address(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A run with a service."""
    running = bx.run(
        network(),
        {"rows": "enqueue://"},
        {"all": "dequeue://"},
        checkpoint=tmp_path_factory.mktemp("fuzz") / "c",
        spark=spark,
    )
    with Server(running, Access(port=0)) as server:
        yield server.access.url
        still = Client(server.access.url)
        still.enqueue("rows", rows(2**40, 2**40 + 3))
        assert still.status()["state"] in ("running", "waiting")
    running.stop()


def over_http(address: str, what: tuple[bytes, str]) -> None:
    data, kind = what
    request = urllib.request.Request(
        f"{address}/api/inputs/rows", data, {"content-type": kind}, method="POST"
    )
    try:
        answer = urllib.request.urlopen(request, timeout=60)
    except urllib.error.HTTPError as error:
        answer = error
    with answer:
        assert {200: "kept", 400: "detail"}[answer.status] in json.load(answer)


def over_websockets(address: str, messages: list[bytes | str]) -> None:
    url = f"{address.replace('http', 'ws')}/api/inputs/rows/feed?sender=fuzz"
    with open_socket(url) as talk, suppress(ConnectionClosed):
        talk.send(b"S" + bytes(rows(0, 1).schema.serialize()))
        for message in messages:
            talk.send(message)
    assert talk.close_code in (1000, 1008)


def over_the_port(address: str, data: bytes) -> None:
    host, _, port = address.removeprefix("http://").partition(":")
    with socket.create_connection((host, int(port)), 60) as talk, suppress(ConnectionError):
        talk.sendall(data)


REQUESTS = st.lists(
    st.sampled_from(
        [
            b"GET ",
            b"POST ",
            b"/health",
            b"/api/inputs/rows",
            b"/api/outputs/all/tap",
            b" HTTP/1.1\r\n",
            b"host: 127.0.0.1\r\n",
            b"content-length: 5\r\n",
            b"content-length: -1\r\n",
            b"content-length: 99999999999999999999\r\n",
            b"transfer-encoding: chunked\r\n",
            b"upgrade: websocket\r\nconnection: upgrade\r\n",
            b"sec-websocket-key: AAAAAAAAAAAAAAAAAAAAAA==\r\nsec-websocket-version: 13\r\n",
            b"expect: 100-continue\r\n",
            b"\r\n",
            b"ffffffffffffffff\r\n",
            b"\x82\xff\xff\xff\xff\xff\xff\xff\xff\xff",
        ]
    )
    | st.binary(max_size=20),
    max_size=15,
).map(b"".join)
"""Parts of requests in any order: incomplete, duplicated, or with wrong lengths."""
PORTS: dict[str, tuple[st.SearchStrategy[Any], Callable[[str, Any], None]]] = {
    "http": (st.tuples(bytes_like, st.sampled_from([ARROW, "application/json", ""])), over_http),
    "websockets": (
        st.lists(
            bytes_like | bytes_like.map(lambda data: b"B" + data) | st.text(max_size=5), max_size=3
        ),
        over_websockets,
    ),
    "port": (REQUESTS | st.binary(max_size=200), over_the_port),
}


def fuzz(port: str, address: str, examples: int, number: int) -> None:
    strategy, attack = PORTS[port]

    @seed(number)
    @settings(
        max_examples=examples,
        deadline=None,
        database=None,
        suppress_health_check=list(HealthCheck),
    )
    @given(strategy)
    def once(what: Any) -> None:
        attack(address, what)

    once()


@pytest.mark.parametrize("port", PORTS)
def test_a_few(port: str, address: str) -> None:
    fuzz(port, address, 40, 1)


@pytest.mark.long
@pytest.mark.parametrize("port", PORTS)
def test_for_a_while(port: str, address: str) -> None:
    """With new seeds each time; pytest prints the seed of a failure."""
    until, number = time.monotonic() + SECONDS / len(PORTS) / 3, time.time_ns() % 10**9
    while time.monotonic() < until:
        fuzz(port, address, 50, number)
        number += 1


def test_lines_over_tcp(spark: SparkSession, tmp_path: Path) -> None:
    """Garbage between lines becomes dead letters, however it is split into packets."""
    port = free_port()
    running = bx.run(
        network(),
        {"rows": f"tcp://127.0.0.1:{port}"},
        {"all": "dequeue://"},
        checkpoint=tmp_path / "c",
        spark=spark,
    )
    garbage = [b"\x00\xff", b"{", b'{"t": "x", "who": 1}', b"[1, 2]", b'{"t": 1e400}']
    with socket.create_connection(("127.0.0.1", port), 5) as talk:
        for n in range(20):
            talk.sendall(b'{"t": %d, "who": "a"}\n' % n + garbage[n % 5] + b"\n")
    found: list[int] = []
    for _, table in running.dequeue("all", seconds=30):
        found += table["t"].to_pylist()
        if len(found) >= 19:
            break
    assert found == list(range(19))
    running.stop()
    assert running.stats().boxes["rows"].dead == 20
