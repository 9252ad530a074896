"""Lines over TCP: programs connect to a port of the run and write, one record a line.

``tcp://127.0.0.1:7001?format=csv``. TCP tells nobody what was kept: what is on its way when the run
ends is lost. Whoever needs more sends through the service, see :mod:`boxcars.outside.enqueue`.
"""

from __future__ import annotations

import hmac
import socket
import ssl
import threading
from typing import Any

from boxcars.model.problem import Wrong
from boxcars.outside.connector import Connector, Intake
from boxcars.outside.mailbox import ROOM, Closed, Mailbox, Message
from boxcars.outside.url import is_loopback

_HOST = "127.0.0.1"
_CHUNK = 2**18
"""Bytes that are read at once."""
_LONGEST = 2**20
"""Bytes of the longest line; a longer one is cut, and so becomes dead letters."""
_PATIENCE = 10.0
"""Seconds that somebody has to say the token, and to shake hands."""


class Tcp(Connector):
    """A port that takes lines; with ``format=arrow`` a connection is one Arrow stream.

    Its options: ``token``, the first line that callers must send; ``cert`` and ``key``, files for
    TLS; ``room``, how many bytes may wait. A port that others can reach needs a token.
    """

    scheme, title = "tcp", "a TCP port"
    guarantee_in = "at most once (what is on its way when the run ends is lost)"
    tested = "a socket of the tests; any bytes"

    def intake(self) -> Intake:
        """A port that is opened when the run begins."""
        known = ("room", "format", "token", "cert", "key", "format.header", "format.delimiter")
        self.url.check(known)
        if self.url.port is None:
            raise Wrong(f"{self.url}: expected a port, as in tcp://127.0.0.1:7001.")
        if not self.url.options.get("token") and not is_loopback(self.url.host or _HOST):
            raise Wrong(
                f"{self.url}: others could reach this port: add ?token=${{NAME}}, a variable of "
                f"the environment, or listen at {_HOST}."
            )
        return _Port(self)


class _Port(Mailbox):
    """A mailbox behind a port."""

    def __init__(self, connector: Tcp) -> None:
        url = connector.url
        super().__init__(int(url.number("room", ROOM)))
        self._url = url
        self._token = url.options.get("token", "").encode()
        self._tls = _tls(connector)
        self._server: socket.socket | None = None

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
                "end whoever uses it."
            ) from None
        threading.Thread(target=self._accept, name="boxcars-tcp", daemon=True).start()

    @property
    def port(self) -> int:
        """The number of the port that is open."""
        assert self._server is not None
        return int(self._server.getsockname()[1])

    def close(self) -> None:
        """Close the port; whoever is connected is told when the next line comes."""
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
                return
            name = "boxcars-tcp-client"
            threading.Thread(target=self._serve, args=(client,), name=name, daemon=True).start()

    def _serve(self, client: socket.socket) -> None:
        """Read what one client sends, until it ends; a client that breaks off ends too."""
        try:
            client.settimeout(_PATIENCE)
            with client if self._tls is None else self._tls.wrap_socket(client, True) as talk:
                rest = self._admitted(talk)
                if rest is None:
                    return
                talk.settimeout(None)
                if self._url.options.get("format") == "arrow":
                    self._read_whole(talk, rest)
                else:
                    self._read_lines(talk, rest)
        except (OSError, Closed):
            return

    def _admitted(self, talk: socket.socket) -> bytes | None:
        """What comes behind the token, if there is one; None for a wrong one."""
        if not self._token:
            return b""
        said = b""
        while b"\n" not in said and len(said) < 10_000:
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
        """``rest`` came with the token."""
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
        """A whole connection as one message: an Arrow stream has no lines to cut it at."""
        parts, size = [rest], len(rest)
        while more := talk.recv(_CHUNK):
            parts.append(more)
            size += len(more)
            if size > ROOM:
                talk.sendall(b"a stream of more than 64 MB: send it in several connections.\n")
                return
        self.put(Message(b"".join(parts)))


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
