"""Lines over TCP, one record per line: ``tcp://127.0.0.1:7001?format=csv``.

A source listens on the port, a sink connects to it. TCP has no application-level acknowledgment,
so data in flight is lost when the reader ends. For stronger guarantees use the HTTP service, see
:mod:`boxcars.connectors.systems.enqueue`.
"""

from __future__ import annotations

import hmac
import socket
import ssl
import threading
from contextlib import suppress
from time import monotonic, sleep
from typing import Any

import pyarrow as pa

from boxcars.connectors.systems.connector import Connector, Delivery, Intake, Lost
from boxcars.connectors.systems.mailbox import ROOM, Closed, Mailbox, Message
from boxcars.connectors.systems.messages import (
    EncodedDelivery,
    Encoder,
    check_options,
    choice,
    client_tls,
    or_closed,
    words,
)
from boxcars.connectors.systems.url import Url, is_loopback
from boxcars.model.problem import Wrong
from boxcars.model.schema import Schema

_HOST = "127.0.0.1"
_CHUNK = 2**18
"""Bytes per read."""
_LONGEST = 2**20
"""Maximum bytes of a line; a longer one is split, and so becomes dead letters."""
CONNECTIONS = 100
"""Concurrent connections to a port."""
UNDER_WAY = 4 * ROOM
"""Maximum bytes of all Arrow streams being read."""
_PATIENCE = 10.0
"""Seconds for the token, and for the TLS handshake."""
_IDLE = 3600.0
"""Default seconds after which a silent connection is closed."""
_PAUSE = 0.1
"""Seconds between attempts to accept a connection."""
_SECONDS = 30.0
"""Seconds to connect, and for a reader to accept data."""
_REFUSAL = 0.3
"""Seconds to wait for the rejection of the token: there is no positive response."""


class Tcp(Connector):
    """A TCP port for lines; with ``format=arrow`` each connection is one Arrow stream.

    Options of both: ``token``, sent as the first line. Of a source, which listens: ``cert`` and
    ``key``, files for TLS; ``room``, the capacity of the queue in bytes; ``idle``, the seconds
    after which a silent connection is closed (default: an hour); a port that other machines can
    reach needs a token. Of a sink, which connects: ``tls=yes`` and ``ca``, a file of CA
    certificates.
    """

    scheme, title = "tcp", "a TCP port"
    guarantee_in = "at most once (data in flight is lost when the run ends)"
    guarantee_out = "at least once (data in flight is lost when the reader ends)"
    tested = "sockets, with arbitrary bytes; another run of Boxcars"

    def intake(self) -> Intake:
        """Create a port, which is opened when the run starts."""
        check_options(self.url, "room", "idle", "token", "cert", "key")
        self._check_port()
        if not self.url.options.get("token") and not is_loopback(self.url.host or _HOST):
            raise Wrong(
                f"{self.url}: other machines could reach this port: add ?token=${{NAME}}, where "
                f"NAME is an environment variable, or listen on {_HOST}."
            )
        return _Port(self)

    def delivery(self, schema: Schema, home: str) -> Delivery:
        """Create a connection that writes lines."""
        check_options(self.url, "token", "tls", "ca")
        choice(self.url, "tls", "no", "yes")
        self._check_port()
        if self.url.options.get("format") == "arrow":
            raise Wrong(f"{self.url}: format=arrow can't be used for a sink: it writes lines.")
        return _Sender(self.url, schema)

    def _check_port(self) -> None:
        if self.url.port is None:
            raise Wrong(f"{self.url}: expected a port, as in tcp://127.0.0.1:7001.")


class _Port(Mailbox):
    """A mailbox that is filled through a TCP port."""

    def __init__(self, connector: Tcp) -> None:
        url = connector.url
        super().__init__(int(url.number("room", ROOM)))
        self._url = url
        self._token = url.options.get("token", "").encode()
        self._tls = _tls(connector)
        self._idle = max(url.number("idle", _IDLE), 0.001)
        self._server: socket.socket | None = None
        self._lock, self._clients, self._under_way = threading.Lock(), 0, 0

    def open(self, position: Any) -> None:
        """Open the port."""
        super().open(position)
        where = self._url.host or _HOST, self._url.port or 0
        try:
            self._server = socket.create_server(where, reuse_port=False)
        except OSError as error:
            why = str(error.strerror).partition(" (while")[0]
            raise Wrong(
                f"{self._url}: the port can't be opened ({why}): choose another one, or "
                "stop the process that uses it."
            ) from None
        threading.Thread(target=self._accept, name="boxcars-tcp", daemon=True).start()

    @property
    def port(self) -> int:
        """The number of the open port."""
        assert self._server is not None
        return int(self._server.getsockname()[1])

    def close(self) -> None:
        """Close the port; connected clients are disconnected at their next line."""
        super().close()
        if self._server is not None:
            self._server.close()

    def _accept(self) -> None:
        server = self._server
        assert server is not None
        while True:
            try:
                client, _ = server.accept()
            except OSError:
                if server.fileno() == -1:
                    return
                sleep(_PAUSE)  # out of file descriptors
                continue
            with self._lock:
                full = self._clients >= CONNECTIONS
                self._clients += not full
            if full:
                _refuse(client, b"too many connections; try again.\n")
                continue
            name = "boxcars-tcp-client"
            threading.Thread(target=self._serve, args=(client,), name=name, daemon=True).start()

    def _serve(self, client: socket.socket) -> None:
        """Read the data of one client until it disconnects or fails."""
        try:
            client.settimeout(_PATIENCE)
            with client if self._tls is None else self._tls.wrap_socket(client, True) as talk:
                rest = self._admitted(talk)
                if rest is None:
                    return
                talk.settimeout(self._idle)
                if self._url.options.get("format") == "arrow":
                    self._read_whole(talk, rest)
                else:
                    self._read_lines(talk, rest)
        except (OSError, Closed):
            return
        finally:
            client.close()
            with self._lock:
                self._clients -= 1

    def _admitted(self, talk: socket.socket) -> bytes | None:
        """Data received after the token; None if the token is wrong or late."""
        if not self._token:
            return b""
        said, until = b"", monotonic() + _PATIENCE
        while b"\n" not in said and len(said) < 10_000:
            talk.settimeout(max(until - monotonic(), 0.001))
            more = talk.recv(_CHUNK)
            if not more:
                return None
            said += more
        line, _, rest = said.partition(b"\n")
        if not hmac.compare_digest(line.strip(), self._token):
            talk.sendall(b"the first line must be the token.\n")
            return None
        return rest

    def _read_lines(self, talk: socket.socket, rest: bytes) -> None:
        """Read lines; ``rest`` was received together with the token."""
        while True:
            whole = rest.rfind(b"\n") + 1
            if not whole and len(rest) > _LONGEST:
                whole = len(rest)
            if whole:
                self.put(Message(rest[:whole]))
            rest = rest[whole:]
            if not (more := talk.recv(_CHUNK)):
                break
            rest += more
        if rest:
            self.put(Message(rest))

    def _read_whole(self, talk: socket.socket, rest: bytes) -> None:
        """Read a whole connection as one message, because an Arrow stream can't be split."""
        parts, size = [rest], len(rest)
        self._count(size)
        try:
            while more := talk.recv(_CHUNK):
                parts.append(more)
                self._count(len(more))
                size += len(more)
                if size > ROOM:
                    talk.sendall(b"the stream exceeds 64 MB: send it in several connections.\n")
                    return
                if self._under_way > UNDER_WAY:
                    talk.sendall(b"too many streams; try again.\n")
                    return
            self.put(Message(b"".join(parts)))
        finally:
            self._count(-sum(map(len, parts)))

    def _count(self, size: int) -> None:
        with self._lock:
            self._under_way += size


class _Sender(EncodedDelivery):
    """Writes the rows of each epoch to a reader; reconnects if it hangs up."""

    def __init__(self, url: Url, schema: Schema) -> None:
        self._url, self._encoder = url, Encoder(schema, url)
        self._tls = client_tls(url) if url.options.get("tls") == "yes" else None
        self._talk: socket.socket | None = None

    def open(self) -> None:
        """Connect, and send the token."""
        host, port = self._url.host or _HOST, self._url.port or 0
        try:
            with or_closed(self):
                self._talk = socket.create_connection((host, port), _SECONDS)
                if self._tls is not None:
                    self._talk = self._tls.wrap_socket(self._talk, server_hostname=host)
                if token := self._url.options.get("token"):
                    self._talk.sendall(token.encode() + b"\n")
                    _listen(self._talk, _REFUSAL)
        except ssl.SSLCertVerificationError as error:
            raise Wrong(
                f"{self._url}: the certificate is not trusted: {words(error, self._url)}"
            ) from None
        except OSError as error:
            raise Lost(f"the reader does not answer: {words(error, self._url)}") from None

    def deliver(self, table: pa.Table, epoch: int) -> None:
        """Write the rows, one per line."""
        talk = self._talk
        assert talk is not None
        lines = b"".join(message + b"\n" for message in self._encoder.encode(table))
        try:
            _listen(talk, 0)
            talk.sendall(lines)
        except OSError as error:
            raise Lost(f"the reader does not answer: {words(error, self._url)}") from None

    def close(self) -> None:
        """Disconnect."""
        if self._talk is not None:
            self._talk.close()
            self._talk = None


def _refuse(client: socket.socket, sentence: bytes) -> None:
    with client, suppress(OSError):
        client.setblocking(False)
        client.send(sentence)


def _listen(talk: socket.socket, seconds: float) -> None:
    """Raise if the reader has sent an error or hung up, which only a read reveals."""
    talk.settimeout(seconds)
    try:
        said = talk.recv(1000).decode("utf-8", "replace").strip()
        raise ConnectionError(said or "the reader has hung up")
    except (BlockingIOError, TimeoutError, ssl.SSLWantReadError):
        return
    finally:
        talk.settimeout(_SECONDS)


def _tls(connector: Tcp) -> ssl.SSLContext | None:
    options = connector.url.options
    if "cert" not in options:
        return None
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    try:
        context.load_cert_chain(options["cert"], options.get("key"))
    except (OSError, ssl.SSLError) as error:
        raise Wrong(f"{connector.url}: the certificate can't be read: {error}.") from None
    return context
