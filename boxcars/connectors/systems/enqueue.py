"""Aurora's enqueue: an input that programs feed, in this process or through the HTTP service.

``boxcars run net.yaml --source calls=enqueue:// --port 7070`` accepts tuples of ``bx.connect``.
"""

from __future__ import annotations

from boxcars.connectors.systems.connector import Connector, Intake
from boxcars.connectors.systems.mailbox import ROOM, Mailbox


class Enqueue(Connector):
    """An input for senders: ``enqueue://?room=1e8``, in bytes of the queue."""

    scheme, title = "enqueue", "HTTP and WebSocket senders"
    guarantee_in = "exactly once (senders number their batches)"
    tested = "the Boxcars client, stopped and resumed runs"

    def intake(self) -> Intake:
        """Its mailbox."""
        self.url.check(["room", "format"])
        return Mailbox(int(self.url.number("room", ROOM)))
