"""Connections to a port: so many and no more, and none that says nothing.

A process has only so many open files, and a run needs some for itself. So who comes when the house
is full is told so and sent away, and who does not say what he wants has to leave.
"""

from __future__ import annotations

import asyncio
import socket
from contextlib import suppress
from typing import Any
from weakref import WeakSet

from uvicorn.protocols.http.h11_impl import H11Protocol

CONNECTIONS = 200
"""Connections to a port at once."""
HEADERS = 10.0
"""Seconds in which a caller must have said what it wants."""
_FULL = b"too many connections at once; try again."
_LATE = b"the request did not come in time."


class Listening(socket.socket):
    """A socket that accepts so many connections at once; others are told that it is full."""

    @classmethod
    def at(cls, host: str, port: int) -> Listening:
        """A socket that listens at an address. Raises OSError."""
        made = socket.create_server((host, port))
        found = cls(made.family, made.type, made.proto, made.detach())
        found._open = WeakSet()
        return found

    _open: WeakSet[socket.socket]

    def accept(self) -> tuple[socket.socket, Any]:
        """The next connection. Raises BlockingIOError if there is none, or it was sent away."""
        connection, address = super().accept()
        if sum(one.fileno() != -1 for one in self._open) < CONNECTIONS:
            self._open.add(connection)
            return connection, address
        with connection, suppress(OSError):
            connection.setblocking(False)
            connection.send(_response(503, b"Service Unavailable", _FULL))
        raise BlockingIOError


class PatientProtocol(H11Protocol):
    """HTTP for callers that say what they want, and soon."""

    _waiting: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Somebody comes."""
        super().connection_made(transport)
        self._wait()

    def data_received(self, data: bytes) -> None:
        """Somebody says something: a request, or only a part of one."""
        super().data_received(data)
        if self.cycle is not None and not self.cycle.response_complete:
            self._wait_no_longer()
        elif self._waiting is None:
            self._wait()

    def handle_websocket_upgrade(self, event: Any) -> None:
        """From here on it is a WebSocket, which has pings."""
        super().handle_websocket_upgrade(event)
        self._wait_no_longer()
        self._wait = self._wait_no_longer  # type: ignore[method-assign]

    def connection_lost(self, exc: Exception | None) -> None:
        """Somebody leaves."""
        self._wait_no_longer()
        super().connection_lost(exc)

    def _wait(self) -> None:
        self._waiting = self.loop.call_later(HEADERS, self._give_up)

    def _wait_no_longer(self) -> None:
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
