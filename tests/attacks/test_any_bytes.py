"""Any bytes at any port: what is no tuple is refused or a dead letter, and the run goes on."""

import json
import socket
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pyspark.sql import SparkSession
from websockets.exceptions import ConnectionClosed
from websockets.sync.client import connect as open_socket

import boxcars as bx
from boxcars.inject import AtRate, Controller
from boxcars.io.arrow import read_stream
from boxcars.io.inbox import Decoder
from boxcars.model.problem import BoxcarsError, Wrong
from boxcars.outside.url import Url
from boxcars.service.client import Client
from boxcars.service.security import Access
from boxcars.service.server import Server
from boxcars.service.wire import ARROW, Schemed, read_numbered, table_to_bytes
from tests.postgres import free_port
from tests.service.test_service import network, rows

WELL = table_to_bytes(rows(1, 4))
FEW = settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))
bytes_like = st.binary(max_size=300) | st.builds(
    lambda at, byte: WELL[:at] + bytes([byte]) + WELL[at + 1 :],
    st.integers(0, len(WELL) - 1),
    st.integers(0, 255),
)
"""Anything, and an Arrow stream with one wrong byte."""


@given(bytes_like)
@settings(max_examples=200, deadline=None)
def test_messages(data: bytes) -> None:
    """Nothing else is raised, and what is read can be looked at."""
    for read in (read_stream, Schemed().read):
        with suppress(BoxcarsError):
            str(read(data))
    if len(data) >= 8:
        with suppress(BoxcarsError):
            str(read_numbered(data))


@given(st.sampled_from(["jsonl", "csv", "arrow"]), st.lists(bytes_like, max_size=3))
@settings(max_examples=200, deadline=None)
def test_the_inbox(format_: str, messages: list[bytes]) -> None:
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


@given(bytes_like, st.sampled_from([ARROW, "application/json", ""]))
@FEW
def test_http(address: str, data: bytes, kind: str) -> None:
    request = urllib.request.Request(
        f"{address}/api/inputs/rows", data, {"content-type": kind}, method="POST"
    )
    try:
        answer = urllib.request.urlopen(request, timeout=20)
    except urllib.error.HTTPError as error:
        answer = error
    with answer:
        assert {200: "kept", 400: "detail"}[answer.status] in json.load(answer)


@given(st.lists(bytes_like | bytes_like.map(lambda data: b"B" + data), max_size=3))
@FEW
def test_websockets(address: str, messages: list[bytes]) -> None:
    url = f"{address.replace('http', 'ws')}/api/inputs/rows/feed?sender=fuzz"
    with open_socket(url) as talk, suppress(ConnectionClosed):
        talk.send(b"S" + bytes(rows(0, 1).schema.serialize()))
        for message in messages:
            talk.send(message)
    assert talk.close_code in (1000, 1008)


@given(st.binary(max_size=200))
@FEW
def test_the_port_itself(address: str, data: bytes) -> None:
    host, _, port = address.removeprefix("http://").partition(":")
    with socket.create_connection((host, int(port)), 5) as talk:
        talk.sendall(data)


def test_lines_over_tcp(spark: SparkSession, tmp_path: Path) -> None:
    """Garbage between lines becomes dead letters, whoever sends it and however it is cut."""
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
