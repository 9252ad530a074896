"""Every resource that a client can request has a limit, which is tested from both sides."""

import resource
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, suppress
from pathlib import Path

import pytest
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.sync.client import connect

from boxcars.connectors import untrusted_arrow
from boxcars.connectors.systems import mailbox, tcp
from boxcars.connectors.systems.connector import connect as connector
from boxcars.connectors.systems.mailbox import Full, Mailbox, Message
from boxcars.connectors.systems.tcp import _Port
from boxcars.expr import cursor, parse
from boxcars.lang import text
from boxcars.service import app, connections, guard, inputs, outputs, server, wire
from boxcars.service.client import Client, Refused, _pieces
from boxcars.service.security import Access
from boxcars.service.wire import ARROW, table_to_bytes
from tests.attacks.victim import SECONDS, Victim, answered, until
from tests.postgres import free_port
from tests.service.test_service import rows
from tests.studio.server import Served as Studio


class TestConnections:
    def test_half_open_requests(self, victim: Victim, monkeypatch: pytest.MonkeyPatch) -> None:
        """Silent clients and partial requests hold a connection briefly, and no file of the run.

        The places are for all; when those who took them are sent away there is room again.
        """
        monkeypatch.setattr(connections, "CONNECTIONS", 5)
        monkeypatch.setattr(connections, "HEADER_TIMEOUT", 1.0)
        with ExitStack() as stack:
            held = [stack.enter_context(victim.talk()) for _ in range(5)]
            for talk in held[:3]:
                talk.sendall(b"POST /api/stop HTTP/1.1\r\nhost: 127.0.0.1\r\nx: ")
            refused = stack.enter_context(victim.talk())
            assert b"503 Service Unavailable" in (said := answered(refused)), said
            assert b"too many connections; try again." in said
            assert [b"408 Request Timeout" in answered(talk) for talk in held] == [True] * 5
        until(lambda: victim.ask("GET", "/health")[0] == 200, "there is room again")

    def test_eleven_hundred_of_them(self, victim: Victim) -> None:
        """As many as the process may have files: the run keeps its own."""
        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        resource.setrlimit(resource.RLIMIT_NOFILE, (min(max(soft, 8192), hard), hard))
        listening = victim.server._socket
        assert isinstance(listening, connections.LimitedListener)
        try:
            with ExitStack() as stack:
                for _ in range(1100):
                    stack.enter_context(victim.talk()).sendall(b"GET /health HTTP/1.1\r\nhost:")
                held = sum(one.fileno() != -1 for one in list(listening._open))
                assert held <= connections.CONNECTIONS
        finally:
            resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
        until(lambda: victim.ask("GET", "/health")[0] == 200, "there is room again")

    def test_a_slow_header(self, victim: Victim, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(connections, "HEADER_TIMEOUT", 0.5)
        with victim.talk() as talk:
            talk.sendall(b"GET /health HTTP/1.1\r\nhost: 127.0.0.1\r\n")
            talk.settimeout(0.05)
            end, said = time.monotonic() + SECONDS, b""
            while not said and time.monotonic() < end:
                try:
                    talk.sendall(b"x: y\r\n")
                    said = talk.recv(1000)
                except TimeoutError:
                    continue
                except ConnectionError:
                    break
        assert time.monotonic() < end

    def test_a_slow_body(self, victim: Victim, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(guard, "BODY_TIMEOUT", 0.5)
        with victim.talk() as talk:
            talk.sendall(
                b"POST /api/inputs/rows HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-length: 9\r\n\r\n{"
            )
            assert b"408" in talk.recv(1000)

    def test_an_unread_body(self, victim: Victim, monkeypatch: pytest.MonkeyPatch) -> None:
        """A rejected request can't send its body slowly either."""
        monkeypatch.setattr(connections, "HEADER_TIMEOUT", 0.5)
        with victim.talk() as talk:
            talk.sendall(
                b"POST /nowhere HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-length: 999999\r\n\r\n"
            )
            assert b"404" in talk.recv(1000)
            talk.sendall(b"x")
            answered(talk)

    def test_the_studio_has_them_too(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        served = Studio(tmp_path)
        monkeypatch.setattr(connections, "CONNECTIONS", 3)
        try:
            with ExitStack() as stack:
                where = "127.0.0.1", served.port
                for _ in range(3):
                    stack.enter_context(socket.create_connection(where, SECONDS))
                refused = stack.enter_context(socket.create_connection(where, SECONDS))
                assert b"503 Service Unavailable" in answered(refused)
        finally:
            served.close()


class TestRequests:
    def test_their_size(self, victim: Victim, monkeypatch: pytest.MonkeyPatch) -> None:
        line = b'{"t": 0, "who": "a"}\n'
        monkeypatch.setattr(guard, "LARGEST", len(line))
        assert victim.ask("POST", "/api/inputs/rows", line)[0] == 200
        for body in (line + b"\n", iter([line, b"\n"])):  # with and without a content length
            code, found = victim.ask("POST", "/api/inputs/rows", body)
            assert (code, "a request has at most" in found["detail"]) == (413, True)

    def test_all_of_them_together(self, victim: Victim, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(guard, "MAX_IN_FLIGHT", 30)
        head = b"POST /api/inputs/rows HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-length: 40\r\n\r\n"
        with victim.talk() as talk:
            talk.sendall(head + b"x" * 20)
            until(
                lambda: victim.ask("POST", "/api/inputs/rows", b"\n" * 11)[0] == 503, "it is full"
            )
            assert victim.ask("POST", "/api/inputs/rows", b"\n" * 10)[0] == 200
        until(lambda: victim.ask("POST", "/api/inputs/rows", b"\n" * 30)[0] == 200, "it is free")

    def test_their_lines(self, victim: Victim, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(inputs, "LINES", 3)
        assert victim.ask("POST", "/api/inputs/rows", b"\n" * 3)[0] == 200
        code, found = victim.ask("POST", "/api/inputs/rows", b"\n" * 4)
        assert (code, found["detail"]) == (413, "a request has at most 3 lines: send several.")

    def test_names_and_numbers(self, victim: Victim) -> None:
        last = 2**63 - 1
        path = f"/api/inputs/rows?sender={'x' * 200}&number={last}"
        assert victim.ask("POST", path, b"\n") == (200, {"kept": last})
        for wrong in (f"sender={'x' * 201}", "sender=x&number=-1", f"sender=x&number={last + 1}"):
            assert victim.ask("POST", f"/api/inputs/rows?{wrong}", b"\n")[0] == 422
        assert victim.ask("GET", "/api/arcs/count?seconds=60.1")[0] == 422
        assert victim.ask("GET", "/api/arcs/count?seconds=nan")[0] == 422


class TestMessages:
    def test_their_size(self, victim: Victim, monkeypatch: pytest.MonkeyPatch) -> None:
        batches = table_to_bytes(rows(0, 1))
        monkeypatch.setattr(server, "MESSAGE", len(batches))
        with server.Server(victim.run, Access(port=0)) as small:
            url = small.access.url.replace("http", "ws") + "/api/inputs/rows/feed?sender=m"
            for size, code in ((len(batches), 1008), (len(batches) + 1, 1009)):
                for whole in (True, False):
                    data = b"x" * size
                    message = data if whole else [data[:10], data[10:]]
                    with connect(url, max_size=None) as talk:
                        talk.recv()
                        with suppress(ConnectionClosed):  # perhaps after the first part of it
                            talk.send(message)
                        with pytest.raises(ConnectionClosed):
                            talk.recv(SECONDS)
                        assert talk.close_code == code

    def test_a_client_splits_large_batches(self, monkeypatch: pytest.MonkeyPatch) -> None:
        batch = rows(0, 1000).to_batches()[0]
        monkeypatch.setattr("boxcars.service.client.MESSAGE", batch.nbytes // 4)
        found = list(_pieces([batch]))
        assert all(one.nbytes <= batch.nbytes // 8 for one in found)
        assert [t for one in found for t in one["t"].to_pylist()] == list(range(1000))

    def test_their_decoded_size(self, victim: Victim, monkeypatch: pytest.MonkeyPatch) -> None:
        table = rows(1, 11)
        monkeypatch.setattr(untrusted_arrow, "UNFOLDED", untrusted_arrow.unfolded(table))
        kind = {"content_type": ARROW}
        assert victim.ask("POST", "/api/inputs/rows", table_to_bytes(table), **kind)[0] == 200
        code, found = victim.ask("POST", "/api/inputs/rows", table_to_bytes(rows(1, 12)), **kind)
        assert (code, "send it in several" in found["detail"]) == (400, True)


class TestConcurrencyLimits:
    def test_readers(self, victim: Victim, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(outputs, "READERS", 2)
        url = victim.access.url.replace("http", "ws") + "/api/outputs/counts/tap"
        with connect(url), victim.talk() as talk:
            talk.sendall(b"GET /api/outputs/counts HTTP/1.1\r\nhost: 127.0.0.1\r\n\r\n")
            assert b"200 OK" in talk.recv(1000)
            with pytest.raises(InvalidStatus, match="503"):
                connect(url)
            code, found = victim.ask("GET", "/api/outputs/counts")
            assert (code, found["detail"]) == (
                503,
                "the limit of 2 readers is reached; try again.",
            )
            with pytest.raises(Refused, match="the run has too many clients; try again later"):
                next(Client(victim.access.url).dequeue("counts"))
        until(lambda: opens(url), "a seat is free again")

    def test_feeds(self, victim: Victim, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(inputs, "FEEDS", 1)
        url = victim.access.url.replace("http", "ws") + "/api/inputs/rows/feed?sender=f"
        with connect(url):
            with pytest.raises(InvalidStatus, match="503"):
                connect(url)
            assert victim.ask("POST", "/api/inputs/rows", b"\n")[0] == 200
        until(lambda: opens(url), "a seat is free again")

    def test_peeks_do_not_keep_health_waiting(
        self, victim: Victim, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """The maximum number of peeks wait for tuples that never arrive, and so do readers."""
        monkeypatch.setattr(app, "PEEKS", 45)
        monkeypatch.setattr(outputs, "READERS", 60)
        nothing = rows(0, 1).slice(0, 0)
        monkeypatch.setattr(victim.run, "peek", lambda *_: nothing)
        url = victim.access.url.replace("http", "ws") + "/api/outputs/counts/tap"
        peek = b"GET /api/arcs/count?seconds=60 HTTP/1.1\r\nhost: 127.0.0.1\r\n\r\n"
        with ExitStack() as stack:
            for _ in range(50):
                stack.enter_context(connect(url))
                stack.enter_context(victim.talk()).sendall(peek)
            until(lambda: victim.ask("GET", "/api/arcs/count?seconds=0")[0] == 503, "all look")
            for path in ("/health", "/ready", "/metrics", "/api/stats"):
                assert victim.ask("GET", path)[0] == 200
            victim.is_well()
        until(lambda: victim.ask("GET", "/api/arcs/count?seconds=0")[0] == 200, "all have left")

    def test_a_reader_that_reads_nothing(
        self, victim: Victim, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """It is disconnected, and other clients do not wait for it."""
        monkeypatch.setattr(guard, "SEND_TIMEOUT", 0.5)
        monkeypatch.setattr(outputs, "READERS", 1)
        monkeypatch.setattr(outputs, "table_to_json", lambda _: "x" * 2**24)
        victim.is_well()
        with victim.talk() as talk:
            talk.sendall(b"GET /api/outputs/all HTTP/1.1\r\nhost: 127.0.0.1\r\n\r\n")
            until(
                lambda: opens(victim.access.url.replace("http", "ws") + "/api/outputs/all/tap"),
                "its seat is free",
            )


def opens(url: str) -> bool:
    try:
        with connect(url):
            return True
    except InvalidStatus:
        return False


class TestSenders:
    def test_no_duplicates_beyond_the_limit(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """The oldest sender can still resend its batch; a new sender is rejected."""
        monkeypatch.setattr(mailbox, "SENDERS", 50)
        box = Mailbox()
        box.open(None)
        for n in range(50):
            assert box.put(Message(b"x", f"s{n}", 1), 0)
        with pytest.raises(Full, match="has 50 registered senders"):
            box.put(Message(b"x", "one too many", 1), 0)
        for n in range(50):
            assert box.put(Message(b"again", f"s{n}", 1), 0)
        received = box.pull(1000, 1.0)
        assert received is not None
        assert received.data == [b"x"] * 50
        box.safe(received.position)
        again = Mailbox()
        again.open(received.position)
        assert again.put(Message(b"again", "s0", 1), 0)
        assert again.pull(1000, 0.0) is None

    def test_unregistering_makes_room(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(mailbox, "SENDERS", 1)
        box = Mailbox()
        box.open(None)
        for n in range(3):
            box.put(Message(b"x", f"s{n}", 1), 0)
            box.unregister(f"s{n}")
            with pytest.raises(Full):  # what it sent is not kept yet, so it may come again
                box.put(Message(b"x", "other", 1), 0)
            received = box.pull(10, 1.0)
            assert received is not None
            assert list(received.position) == [f"s{n}"]
            box.safe(received.position)

    def test_over_the_port(self, victim: Victim, monkeypatch: pytest.MonkeyPatch) -> None:
        """Clients that close their feeds, and requests without a sender, are not remembered."""
        box = victim.run.feeds["rows"]
        known = len(box._last)
        monkeypatch.setattr(mailbox, "SENDERS", known + 1)
        for _ in range(3):
            victim.client.enqueue("rows", rows(0, 1))
            assert victim.ask("POST", "/api/inputs/rows", b"\n")[0] == 200
            until(lambda: len(box._last) == known, "they are forgotten")
        assert victim.ask("POST", "/api/inputs/rows?sender=a&number=1", b"\n")[0] == 200
        code, found = victim.ask("POST", "/api/inputs/rows?sender=b&number=1", b"\n")
        assert (code, "accepts no new one" in found["detail"]) == (503, True)
        assert victim.ask("POST", "/api/inputs/rows?sender=a&number=1", b"\n")[0] == 200
        assert victim.ask("DELETE", "/api/inputs/rows/senders/a")[0] == 200
        assert victim.ask("POST", "/api/inputs/rows?sender=b&number=1", b"\n")[0] == 200
        victim.ask("DELETE", "/api/inputs/rows/senders/b")


class TestLinesOverTcp:
    @pytest.fixture
    def port(self) -> Iterator[Callable[[str], _Port]]:
        with ExitStack() as stack:

            def opened(options: str = "") -> _Port:
                found = connector(f"tcp://127.0.0.1:{free_port()}?{options}").intake()
                assert isinstance(found, _Port)
                found.open(None)
                stack.callback(found.close)
                return found

            yield opened

    def test_connections(
        self, port: Callable[[str], _Port], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(tcp, "CONNECTIONS", 2)
        box = port("")
        where = "127.0.0.1", box.port
        with ExitStack() as stack:
            held = [stack.enter_context(socket.create_connection(where, SECONDS)) for _ in "12"]
            until(lambda: box._clients == 2, "both are in")
            with socket.create_connection(where, SECONDS) as late:
                assert answered(late) == b"too many connections; try again.\n"
            held[0].sendall(b"a line\n")
            until(lambda: bool(box._messages), "those who are in are heard")
        until(lambda: box._clients == 0, "they have left")

    def test_a_silent_client(self, port: Callable[[str], _Port]) -> None:
        box = port("idle=0.2")
        with socket.create_connection(("127.0.0.1", box.port), SECONDS) as talk:
            assert answered(talk) == b""
        until(lambda: box._clients == 0, "it has left")

    def test_a_slow_token(
        self, port: Callable[[str], _Port], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(tcp, "_PATIENCE", 0.5)
        box = port("token=sesame")
        with socket.create_connection(("127.0.0.1", box.port), SECONDS) as talk:
            dripping = threading.Event()

            def drip() -> None:
                while not dripping.wait(0.1):
                    try:
                        talk.sendall(b"x")
                    except OSError:
                        return

            thread = threading.Thread(target=drip)
            thread.start()
            try:
                answered(talk)
            finally:
                dripping.set()
                thread.join()

    def test_the_longest_line(
        self, port: Callable[[str], _Port], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(tcp, "_LONGEST", 10)
        box = port("")
        with socket.create_connection(("127.0.0.1", box.port), SECONDS) as talk:
            talk.sendall(b"x" * 11)
            until(lambda: bool(box._messages), "a line that is too long is cut")
            assert box._messages[0].data == b"x" * 11

    def test_streams(self, port: Callable[[str], _Port], monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(tcp, "ROOM", 100)
        monkeypatch.setattr(tcp, "UNDER_WAY", 150)
        box = port("format=arrow")
        where = "127.0.0.1", box.port
        with socket.create_connection(where, SECONDS) as talk:
            talk.sendall(b"x" * 101)
            assert answered(talk).startswith(b"the stream exceeds")
        with socket.create_connection(where, SECONDS) as one:
            one.sendall(b"x" * 100)
            until(lambda: box._under_way == 100, "it is heard")
            with socket.create_connection(where, SECONDS) as two:
                two.sendall(b"x" * 51)
                assert answered(two) == b"too many streams; try again.\n"
        until(lambda: box._under_way == 0, "both have ended")
        assert [message.data for message in box._messages] == [b"x" * 100]


def test_the_limits_in_the_docs() -> None:
    """docs/how-to/secure-a-run.md lists every limit."""
    page = Path(__file__).parents[2] / "docs" / "how-to" / "secure-a-run.md"
    words = " ".join(page.read_text(encoding="utf-8").split())
    for sentence in (
        f"| concurrent connections to a port | {connections.CONNECTIONS} |",
        f"| seconds to send the header of a request | {connections.HEADER_TIMEOUT:.0f} |",
        f"| seconds to send its body | {guard.BODY_TIMEOUT:.0f} |",
        f"| one request | {guard.LARGEST // 2**20} MB, {inputs.LINES:,} lines |",
        f"| all requests that are being read | {guard.MAX_IN_FLIGHT // 2**20} MB |",
        f"| a message to `enqueue://` over a WebSocket | {wire.MESSAGE // 2**20} MB |",
        "| the values of an Arrow message, each counted with its field name | 128 MB |",
        f"| concurrent readers of outputs | {outputs.READERS} |",
        f"| concurrent feeds over WebSockets | {inputs.FEEDS} |",
        f"| concurrent requests for tuples on arcs | {app.PEEKS} |",
        f"| seconds for a reader to accept a message | {guard.SEND_TIMEOUT:.0f} |",
        f"| registered senders of an input | {mailbox.SENDERS:,} |",
        f"| data queued in an `enqueue://` or `tcp://` input | {mailbox.ROOM // 2**20} MB |",
        f"| connections to a `tcp://` input | {tcp.CONNECTIONS} |",
        f"| idle seconds of a TCP connection | {tcp._IDLE:,.0f} |",
        f"| a line over TCP | {tcp._LONGEST // 2**20} MB |",
        f"| a network file | nesting {text._MAX_DEPTH}, {text._MAX_PARTS:,} nodes after alias ",
        f"| an expression | {cursor.MAX_TOKENS:,} tokens, nesting {parse.MAX_DEPTH} |",
    ):
        assert sentence in words, sentence
