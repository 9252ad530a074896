"""A run under attack, and helpers to send it requests."""

from __future__ import annotations

import http.client
import json
import socket
import time
from collections.abc import Callable
from typing import Any

from tests.service.test_service import Served, rows

SECONDS = 60.0
"""Seconds; a generous timeout for slow machines."""


class Victim(Served):
    """A run with a service; row numbers increase, so that none is late."""

    number = 0

    @property
    def place(self) -> tuple[str, int]:
        return self.access.host, self.access.port

    def is_well(self) -> None:
        """Check that the run responds, and that tuples pass through it."""
        assert self.ask("GET", "/health")[0] == 200
        Victim.number += 10
        before = self.run.taps["all"].newest
        self.client.enqueue("rows", rows(Victim.number, Victim.number + 2))
        found = next(self.run.dequeue("all", before, seconds=60), None)
        assert found is not None, "the run gives nothing any more"
        assert self.ask("GET", "/ready")[0] == 200

    def ask(
        self, method: str, path: str, body: Any = None, **headers: str
    ) -> tuple[int, dict[str, Any]]:
        """Send a request with exactly these headers besides the host, and return the response."""
        connection = http.client.HTTPConnection(*self.place, timeout=60)
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        try:
            connection.request(method, path, body, named)
            answer = connection.getresponse()
            text = answer.read()
            kind = answer.headers.get("content-type", "")
            return answer.status, json.loads(text) if "json" in kind else {"text": text}
        finally:
            connection.close()

    def talk(self) -> socket.socket:
        """Open a connection without sending anything."""
        return socket.create_connection(self.place, 60)


def answered(talk: socket.socket) -> bytes:
    """Read until the other side hangs up."""
    found = b""
    try:
        while more := talk.recv(65_536):
            found += more
    except ConnectionError:
        pass
    return found


def until(holds: Callable[[], bool], what: str) -> None:
    """Wait for a condition, with a generous timeout."""
    end = time.monotonic() + SECONDS
    while not holds():
        assert time.monotonic() < end, what
        time.sleep(0.01)
