"""Aurora's dequeue: an output that programs take tuples from, from here or through the service.

``boxcars run net.yaml --sink alarms=dequeue:// --port 7070`` gives them to ``bx.connect``, to web
pages (server-sent events) and to WebSockets.
"""

from __future__ import annotations

from boxcars.connectors.systems.connector import Connector

_KEEP = 64 * 2**20


class Dequeue(Connector):
    """Tuples that are taken from a running network: ``dequeue://?keep=1e9``, in bytes kept."""

    scheme, title = "dequeue", "WebSocket and SSE subscribers"
    guarantee_out = "exactly once (readers remember the last epoch)"
    tested = "the client of Boxcars, stopped and started runs"

    @property
    def keep(self) -> int:
        """How many bytes of results are kept for readers who come late."""
        self.url.check(["keep"])
        return int(self.url.number("keep", _KEEP))
