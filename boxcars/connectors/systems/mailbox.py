"""A mailbox: a bounded queue that many threads fill and the journal of an input drains."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, replace
from time import monotonic
from typing import Any

import pyarrow as pa

from boxcars.connectors.systems.connector import Intake, Received
from boxcars.model.problem import BoxcarsError

ROOM = 64 * 2**20
"""Default capacity in bytes; senders block while it is exceeded."""
SENDERS = 10_000
"""Maximum number of registered senders, for each of which a sequence number is stored."""


class Closed(BoxcarsError):
    """The input accepts no more messages."""


class Stopped(Closed):
    """The run accepts no messages until it is resumed."""


class Full(BoxcarsError):
    """Too many senders are registered."""


@dataclass(frozen=True)
class Message:
    """Bytes or a table. Senders number their messages from 1 on; 0 takes the next number."""

    data: bytes | pa.Table
    sender: str = ""
    number: int = 0

    @property
    def size(self) -> int:
        """Size in bytes."""
        return len(self.data) if isinstance(self.data, bytes) else int(self.data.nbytes)

    @property
    def rows(self) -> int:
        """Number of rows of a table, or of lines."""
        if isinstance(self.data, bytes):
            return self.data.count(b"\n") + 1
        return int(self.data.num_rows)


class Mailbox(Intake):
    """Messages in order of arrival; duplicates are ignored.

    The position has the number of the last message of each sender, so a sender that does not know
    whether a message was stored can send it again. A sender is not forgotten before it unregisters,
    because a resent message would be accepted twice. So when there are too many, new ones are
    rejected.
    """

    def __init__(self, room: int = ROOM) -> None:
        self._room, self._waiting = room, 0
        self._messages: deque[Message] = deque()
        self._changed = threading.Condition()
        self._last: dict[str, int] = {}
        self._pulled: dict[str, int] = {}
        self._kept: Mapping[str, int] = {}
        self._leaving: set[str] = set()
        self._ended = self._closed = False

    def open(self, position: Any) -> None:
        """Restore the last message number of each sender."""
        with self._changed:
            self._last = dict(position or {})
            self._pulled, self._kept, self._closed = dict(self._last), dict(self._last), False
            self._leaving = set()

    def put(self, message: Message, seconds: float | None = None) -> int | None:
        """Add a message when there is room, and return its number (0 without a sender).

        Returns None after ``seconds``. Raises Closed, Full.
        """
        with self._changed:
            if self._is_known(message):
                return message.number
            free = self._changed.wait_for(
                lambda: self._closed or self._waiting < self._room, seconds
            )
            if self._ended:
                raise Closed("the run accepts no more tuples: it has ended.")
            if self._closed:
                raise Stopped(
                    "the run accepts no tuples while it stops. Try again when it resumes."
                )
            if not free:
                return None
            if (
                message.sender and not message.number
            ):  # assigned after the wait, as others may have sent meanwhile
                message = replace(message, number=self._last.get(message.sender, 0) + 1)
            if not self._is_known(message):
                self._add(message)
            return message.number

    def _is_known(self, message: Message) -> bool:
        return 0 < message.number <= self._last.get(message.sender, 0)

    def _add(self, message: Message) -> None:
        if message.number:
            self._check_sender(message.sender)
            self._last[message.sender] = message.number
        self._messages.append(message)
        self._waiting += message.size
        self._changed.notify_all()

    def _check_sender(self, sender: str) -> None:
        if sender not in self._last and len(self._last) >= SENDERS:
            raise Full(
                f"this input has {SENDERS:,} registered senders and accepts no new one: let "
                "clients close their feeds, or send tuples without a sender."
            )

    def unregister(self, sender: str) -> None:
        """Unregister a sender; it is forgotten once all its messages are durable."""
        with self._changed:
            if sender in self._last:
                self._leaving.add(sender)
                self._forget()

    def _forget(self) -> None:
        for sender in list(self._leaving):
            if self._kept.get(sender, 0) >= self._last[sender]:
                self._leaving.discard(sender)
                del self._last[sender]
                self._pulled.pop(sender, None)

    def wait_kept(self, sender: str, number: int, seconds: float | None = None) -> bool:
        """Wait until a message is durable, so that no crash can lose it."""
        with self._changed:
            kept = self._changed.wait_for(
                lambda: self._closed or self._kept.get(sender, 0) >= number, seconds
            )
            if self._kept.get(sender, 0) < number and self._closed:
                raise Stopped(
                    "the run ended before it stored all tuples: send the last ones again."
                )
            return kept

    def kept(self, sender: str) -> int:
        """The number of a sender's last durable message."""
        with self._changed:
            return self._kept.get(sender, 0)

    def finish(self) -> None:
        """End the input: no more messages are accepted."""
        with self._changed:
            self._ended = True
            self._changed.notify_all()

    def pull(self, most: int, seconds: float) -> Received | None:
        """The queued messages, up to a change between tables and bytes."""
        with self._changed:
            self._changed.wait_for(lambda: bool(self._messages) or self._ended, seconds)
            taken: list[Message] = []
            rows, until = 0, monotonic() + seconds
            while self._messages and rows < most and monotonic() < until:
                if taken and not _compatible(taken[0].data, self._messages[0].data):
                    break
                message = self._messages.popleft()
                taken.append(message)
                rows += message.rows
                self._waiting -= message.size
                if message.number:
                    self._pulled[message.sender] = message.number
            self._changed.notify_all()
            if not taken and not self._ended:
                return None
            ended = self._ended and not self._messages
            return Received(_concatenated(taken), dict(self._pulled), ended)

    def safe(self, position: Any) -> None:
        """Record the durable position, and wake up waiting senders."""
        with self._changed:
            self._kept = position
            self._forget()
            self._changed.notify_all()

    def close(self) -> None:
        """Reject messages, and wake up waiting senders."""
        with self._changed:
            self._closed = True
            self._changed.notify_all()


def _compatible(one: bytes | pa.Table, other: bytes | pa.Table) -> bool:
    """Whether two messages can be pulled together: both lines, or tables with one schema."""
    if isinstance(one, bytes) or isinstance(other, bytes):
        return isinstance(one, bytes) and isinstance(other, bytes)
    return bool(one.schema.equals(other.schema))


def _concatenated(messages: list[Message]) -> list[bytes] | pa.Table:
    tables = [message.data for message in messages if isinstance(message.data, pa.Table)]
    if tables:
        return pa.concat_tables(tables)
    return [message.data for message in messages if isinstance(message.data, bytes)]
