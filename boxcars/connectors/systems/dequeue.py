"""Aurora's dequeue: an output that programs read, in this process or through the HTTP service.

``boxcars run net.yaml --sink alarms=dequeue:// --port 7070`` serves its tuples to ``bx.connect``,
to web pages (server-sent events) and to WebSockets.
"""

from __future__ import annotations

from boxcars.connectors.systems.connector import Connector

_KEEP = 64 * 2**20
"""Bytes of results retained by default."""


class Dequeue(Connector):
    """An output for subscribers: ``dequeue://?keep=1e9``, in bytes to retain."""

    scheme, title = "dequeue", "WebSocket and SSE subscribers"
    guarantee_out = "exactly once (readers remember the last epoch)"
    tested = "the Boxcars client, stopped and resumed runs"

    @property
    def keep(self) -> int:
        """Bytes of results retained for late readers."""
        self.url.check(["keep"])
        return int(self.url.number("keep", _KEEP))
