"""Limits on the connections of a port: their number, and the time until a request arrives.

A process has a limited number of open files, and a run needs some for itself. So connections above
the limit are rejected with an error, and idle ones are closed.
"""

from __future__ import annotations

import asyncio
import socket
from contextlib import suppress
from typing import Any
from weakref import WeakSet

from uvicorn.protocols.http.h11_impl import H11Protocol

CONNECTIONS = 200
"""Concurrent connections to a port."""
HEADER_TIMEOUT = 10.0
"""Seconds in which a client must have sent the headers of its request."""
_FULL = b"too many connections; try again."
_LATE = b"the request did not arrive in time."


class LimitedListener(socket.socket):
    """A listening socket with a limit on concurrent connections; others get a 503 response."""

    @classmethod
    def at(cls, host: str, port: int) -> LimitedListener:
        """Listen on an address. Raises OSError."""
        made = socket.create_server((host, port))
        found = cls(made.family, made.type, made.proto, made.detach())
        found._open = WeakSet()
        return found

    _open: WeakSet[socket.socket]

    def accept(self) -> tuple[socket.socket, Any]:
        """The next connection. Raises BlockingIOError if there is none, or it was rejected."""
        connection, address = super().accept()
        if sum(one.fileno() != -1 for one in self._open) < CONNECTIONS:
            self._open.add(connection)
            return connection, address
        with connection, suppress(OSError):
            connection.setblocking(False)
            connection.send(_response(503, b"Service Unavailable", _FULL))
        raise BlockingIOError


class HeaderTimeoutProtocol(H11Protocol):
    """HTTP that closes connections whose request headers do not arrive in time."""

    _waiting: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Start the timeout."""
        super().connection_made(transport)
        self._wait()

    def data_received(self, data: bytes) -> None:
        """Cancel the timeout when a request is complete; restart it after the response."""
        super().data_received(data)
        if self.cycle is not None and not self.cycle.response_complete:
            self._stop_waiting()
        elif self._waiting is None:
            self._wait()

    def handle_websocket_upgrade(self, event: Any) -> None:
        """Disable the timeout: WebSockets have pings."""
        super().handle_websocket_upgrade(event)
        self._stop_waiting()
        self._wait = self._stop_waiting  # type: ignore[method-assign]

    def connection_lost(self, exc: Exception | None) -> None:
        """Cancel the timeout."""
        self._stop_waiting()
        super().connection_lost(exc)

    def _wait(self) -> None:
        self._waiting = self.loop.call_later(HEADER_TIMEOUT, self._give_up)

    def _stop_waiting(self) -> None:
        if self._waiting is not None:
            self._waiting.cancel()
            self._waiting = None

    def _give_up(self) -> None:
        self._waiting = None
        if not self.transport.is_closing():
            self.transport.write(_response(408, b"Request Timeout", _LATE))
            self.transport.close()


def _response(code: int, reason: bytes, sentence: bytes) -> bytes:
    body = b'{"detail":"%s"}' % sentence
    return (
        b"HTTP/1.1 %d %s\r\ncontent-type: application/json\r\ncontent-length: %d\r\n"
        b"connection: close\r\n\r\n%s" % (code, reason, len(body), body)
    )
