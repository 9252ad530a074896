"""Lines and Arrow over TCP, with a token and TLS."""

import socket
import ssl
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, BinaryIO

import polars as pl
import pyarrow as pa
import pytest
from pyspark.sql import SparkSession

import boxcars as bx
from boxcars.connectors.systems import tcp
from boxcars.connectors.systems.connector import Delivery, Lost
from boxcars.connectors.systems.tcp import Tcp, _Port
from boxcars.connectors.systems.url import Url
from boxcars.model.problem import Wrong
from tests.connectors.systems import servers
from tests.connectors.systems.contract import delivery
from tests.connectors.systems.test_connector import network
from tests.connectors.systems.test_enqueue import rows
from tests.patience import until
from tests.postgres import free_port

Open = Callable[[str], _Port]


@pytest.fixture
def opened() -> Iterator[Open]:
    """Opens a free port with these options."""
    ports: list[_Port] = []

    def open_port(options: str = "") -> _Port:
        port = Tcp(Url.parse(f"tcp://127.0.0.1:0?{options}")).intake()
        assert isinstance(port, _Port)
        port.open(None)
        ports.append(port)
        return port

    yield open_port
    for port in ports:
        port.close()


@contextmanager
def client(port: _Port) -> Iterator[socket.socket]:
    with socket.create_connection(("127.0.0.1", port.port), 10) as talk:
        yield talk


def sent(port: _Port, *pieces: bytes) -> bytes:
    """Send some bytes, and return the response."""
    with client(port) as talk:
        for piece in pieces:
            talk.sendall(piece)
        talk.shutdown(socket.SHUT_WR)
        return talk.recv(1000)


def pulled(port: _Port) -> list[bytes]:
    received = port.pull(10**6, 10)
    assert received is not None
    assert isinstance(received.data, list)
    return b"".join(received.data).splitlines()


def test_lines_split_anywhere(opened: Open) -> None:
    port = opened("")
    assert sent(port, b"o", b"ne\ntw", b"o\nthree") == b""
    found: list[bytes] = []
    while len(found) < 3:
        found += pulled(port)
    assert found == [b"one", b"two", b"three"]


def test_several_connections(opened: Open) -> None:
    port = opened("")
    with client(port) as one, client(port) as other:
        one.sendall(b"1\n")
        assert pulled(port) == [b"1"]
        other.sendall(b"2\n")
        assert pulled(port) == [b"2"]
        one.sendall(b"3\n")
        assert pulled(port) == [b"3"]


def test_an_endless_line_is_split(opened: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tcp, "_LONGEST", 10)
    port = opened("")
    with client(port) as talk:
        talk.sendall(b"x" * 20)
        assert pulled(port) == [b"x" * 20]


def test_the_token_is_the_first_line(opened: Open) -> None:
    port = opened("token=sesame")
    assert sent(port, b"ses", b"ame\r\none\n") == b""
    assert pulled(port) == [b"one"]
    for wrong in (b"one\n", b"sesam\none\n", b"sesamee\none\n", b"x" * 10_000):
        assert sent(port, wrong) == b"the first line must be the token.\n"
    assert sent(port) == b""
    assert port.pull(1, 0.05) is None


def test_tls(opened: Open, tmp_path: Path) -> None:
    cert, key = servers.certificate(tmp_path)
    port = opened(f"cert={cert}&key={key}&token=sesame")
    trusting = ssl.create_default_context(cafile=cert)
    with client(port) as talk, trusting.wrap_socket(talk, server_hostname="localhost") as secure:
        secure.sendall(b"sesame\none\n")
        assert pulled(port) == [b"one"]
    with suppress(OSError):
        sent(port, b"sesame\none\n")
    assert port.pull(1, 0.05) is None
    cert.write_text("no certificate")
    with pytest.raises(Wrong, match=r"tcp://127\.0\.0\.1:0.*: the certificate can't be read"):
        opened(f"cert={cert}&key={key}")


def test_a_long_arrow_stream_is_refused(opened: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tcp, "ROOM", 1000)
    port = opened("format=arrow")
    assert sent(port, bytes(2000)).startswith(b"the stream exceeds 64 MB: send it in several")
    assert port.pull(1, 0.05) is None


def test_a_port_that_is_taken(opened: Open) -> None:
    taken = Tcp(Url.parse(f"tcp://127.0.0.1:{opened('').port}")).intake()
    with pytest.raises(Wrong, match=r"the port can't be opened \(Address already in use\): choose"):
        taken.open(None)


@pytest.mark.parametrize("host", ["0.0.0.0", "192.0.2.1", "[::]", "example.org"])
def test_others_need_a_token(host: str) -> None:
    with pytest.raises(Wrong, match=r"other machines could reach this port: add \?token="):
        Tcp(Url.parse(f"tcp://{host}:7001")).intake()
    assert Tcp(Url.parse(f"tcp://{host}:7001?token=sesame")).intake()
    for own in ("127.0.0.1", "localhost", "[::1]", ""):
        assert Tcp(Url.parse(f"tcp://{own}:7001")).intake()


def arrow(table: pa.Table) -> bytes:
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table, max_chunksize=3)
    return bytes(sink.getvalue())


def test_arrow_through_a_run(spark: SparkSession, tmp_path: Path) -> None:
    number = free_port()
    running = bx.run(
        network(),
        {"rows": f"tcp://127.0.0.1:{number}?format=arrow"},
        {"out": "dequeue://"},
        checkpoint=tmp_path / "c",
        spark=spark,
    )
    found: list[int] = []
    results = running.dequeue("out", seconds=30)
    for data, last in ((arrow(rows(0, 10)), 8), (b"no arrow", None), (arrow(rows(10, 13)), 11)):
        with socket.create_connection(("127.0.0.1", number), 10) as talk:
            talk.sendall(data)
        while last is not None and last not in found:
            found += next(results)[1]["t"].to_pylist()
    assert found == list(range(12))
    running.stop()
    assert running.stats().boxes["rows"].dead == 1


class Reader:
    """A reader that stores what it receives."""

    def __init__(self, port: int = 0) -> None:
        self.server = socket.create_server(("127.0.0.1", port))
        self.port = self.server.getsockname()[1]
        self.address = f"tcp://127.0.0.1:{self.port}"

    def accept(self) -> BinaryIO:
        self.server.settimeout(10)
        talk, _ = self.server.accept()
        with talk:
            talk.settimeout(10)
            return talk.makefile("rb")

    def close(self) -> None:
        self.server.close()


@pytest.fixture
def reader() -> Iterator[Reader]:
    found = Reader()
    yield found
    found.close()


def test_rows_become_lines(reader: Reader) -> None:
    sender = delivery(f"{reader.address}?format=csv&format.delimiter=;&token=sesame")
    with reader.accept() as file:
        sender.deliver(rows(1, 3), 1)
        sender.deliver(rows(3, 4), 2)
        sender.close()
        assert file.read() == b"sesame\n1;ann\n2;ann\n3;ann\n"


def test_reconnects_after_the_reader_hangs_up(reader: Reader) -> None:
    sender = delivery(reader.address)
    reader.accept().close()
    until(lambda: _is_lost(sender))
    sender.close()
    sender.open()
    with reader.accept() as file:
        sender.deliver(rows(1, 2), 1)
        assert file.readline() == b'{"t":1,"who":"ann"}\n'
    sender.close()
    reader.close()
    with pytest.raises(Lost, match="the reader does not answer: .*refused"):
        sender.open()


def _is_lost(sender: Delivery) -> bool:
    try:
        sender.deliver(rows(0, 0), 1)
    except Lost as lost:
        return "the reader has hung up" in str(lost)
    return False


def test_a_wrong_token_is_refused_before_rows_are_sent(opened: Open) -> None:
    port = opened("token=sesame")
    with pytest.raises(Lost, match="the reader does not answer: the first line must be the token"):
        delivery(f"tcp://127.0.0.1:{port.port}?token=shut")
    sender = delivery(f"tcp://127.0.0.1:{port.port}?token=sesame")
    sender.deliver(rows(1, 2), 1)
    assert pulled(port) == [b'{"t":1,"who":"ann"}']
    sender.close()


def test_a_sink_speaks_tls(opened: Open, tmp_path: Path) -> None:
    cert, key = servers.certificate(tmp_path)
    port = opened(f"cert={cert}&key={key}&token=sesame")
    where = f"tcp://localhost:{port.port}?token=sesame&tls=yes"
    with pytest.raises(Wrong, match="the certificate is not trusted"):
        delivery(where)
    sender = delivery(f"{where}&ca={cert}")
    for t in (1, 2):
        sender.deliver(rows(t, t + 1), t)
        assert pulled(port) == [b'{"t":%d,"who":"ann"}' % t]
    sender.close()


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ("?format=arrow", "it writes lines"),
        ("?tls=maybe", "expected no or yes for 'tls'"),
        ("?tls=yes&ca=nowhere.pem", "'ca' can't be read"),
        ("?cert=c.pem", "there is no option 'cert'"),
    ],
)
def test_mistakes_of_a_sink(options: str, words: str) -> None:
    with pytest.raises(Wrong, match=words):
        delivery(f"tcp://127.0.0.1:1{options}")


def test_from_run_to_run(spark: SparkSession, tmp_path: Path) -> None:
    where = f"tcp://127.0.0.1:{free_port()}"

    def run(name: str, source: Any, sink: Any) -> bx.Run:
        home = tmp_path / name
        return bx.run(network(), {"rows": source}, {"out": sink}, checkpoint=home, spark=spark)

    second = run("second", where, "dequeue://")
    first = run("first", rows(0, 100), where)
    first.wait(60)
    found: list[int] = []
    for _, table in second.dequeue("out", seconds=30):
        found += table["t"].to_pylist()
        if 98 in found:
            break
    second.stop()
    assert found == [t for t in range(99) if t != 13]


def test_a_line_break_in_a_line_of_csv(spark: SparkSession, tmp_path: Path) -> None:
    """A reader of lines would take part of the text for a record, so the row is a dead letter."""
    net = bx.Network("lines")
    net.output("all", net.input("rows", ts="t", fields={"t": "int", "who": "str"}))
    said: list[bytes] = []
    with socket.create_server(("127.0.0.1", 0)) as server:

        def listen() -> None:
            with server.accept()[0] as talk:
                while more := talk.recv(1000):
                    said.append(more)

        listener = threading.Thread(target=listen, daemon=True)
        listener.start()
        status = bx.run(
            net,
            {"rows": {"t": [1, 2, 3], "who": ["a", "b\n2,forged", "c"]}},
            {"all": f"tcp://127.0.0.1:{server.getsockname()[1]}?format=csv"},
            dead=tmp_path / "dead.parquet",
            checkpoint=tmp_path / "c",
            spark=spark,
        ).wait()
        listener.join(60)
    assert b"".join(said) == b"1,a\n3,c\n"
    assert status.lost == {"output all": {"late": 0, "dead": 1}}
    (letter,) = pl.read_parquet(tmp_path / "dead.parquet").rows(named=True)
    assert (letter["source"], letter["reason"]) == (
        "output all",
        "who: a CSV record can't hold a line break",
    )
