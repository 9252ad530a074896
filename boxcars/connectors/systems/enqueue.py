"""Aurora's enqueue: an input that programs put tuples into, from here or through the service.

``boxcars run net.yaml --source calls=enqueue:// --port 7070`` takes what ``bx.connect`` sends.
"""

from __future__ import annotations

from boxcars.connectors.systems.connector import Connector, Intake
from boxcars.connectors.systems.mailbox import ROOM, Mailbox


class Enqueue(Connector):
    """Tuples that are put into a running network: ``enqueue://?room=1e8``, in bytes that wait."""

    scheme, title = "enqueue", "HTTP and WebSocket senders"
    guarantee_in = "exactly once (senders number their batches)"
    tested = "the client of Boxcars, stopped and started runs"

    def intake(self) -> Intake:
        """Its mailbox."""
        self.url.check(["room", "format"])
        return Mailbox(int(self.url.number("room", ROOM)))
