"""A mailbox: many threads put messages in, and the inbox of a run takes them out."""

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
"""Bytes of messages that may wait; who brings more has to wait."""
SENDERS = 10_000
"""How many senders are remembered by the number of their last message."""


class Closed(BoxcarsError):
    """Nobody takes messages any more."""


class Stopped(Closed):
    """The run takes no messages until it goes on."""


class Full(BoxcarsError):
    """There are too many senders."""


@dataclass(frozen=True)
class Message:
    """Bytes or a table. Senders number theirs, from 1 on; else the mailbox does, as they come."""

    data: bytes | pa.Table
    sender: str = ""
    number: int = 0

    @property
    def size(self) -> int:
        """In bytes."""
        return len(self.data) if isinstance(self.data, bytes) else int(self.data.nbytes)

    @property
    def rows(self) -> int:
        """The rows of a table, or the lines."""
        if isinstance(self.data, bytes):
            return self.data.count(b"\n") + 1
        return int(self.data.num_rows)


class Mailbox(Intake):
    """Messages in the order in which they came; one that comes again is there already.

    The position has the number of the last message of each sender, so a sender that does not know
    whether a message was kept sends it again. None of them is forgotten before it takes its leave:
    what it sent again would be taken twice. So when there are too many, new ones are refused.
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
        """Remember who sent what."""
        with self._changed:
            self._last = dict(position or {})
            self._pulled, self._kept, self._closed = dict(self._last), dict(self._last), False
            self._leaving = set()

    def put(self, message: Message, seconds: float | None = None) -> int | None:
        """Put a message in when there is room: its number, which is 0 for one without a sender.

        None if it takes longer than these seconds. Raises Closed, Full.
        """
        with self._changed:
            if self._is_known(message):
                return message.number
            free = self._changed.wait_for(
                lambda: self._closed or self._waiting < self._room, seconds
            )
            if self._ended:
                raise Closed("the run takes no more tuples: it has ended.")
            if self._closed:
                raise Stopped("the run takes no tuples: it is stopping. Try again when it goes on.")
            if not free:
                return None
            if message.sender and not message.number:  # only now: others may have waited as well
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
                f"this input knows {SENDERS:,} senders that have not taken their leave, and takes "
                "no new one: let clients close their feeds, or give tuples without a sender."
            )

    def leave(self, sender: str) -> None:
        """A sender sends nothing again: it is forgotten once all that it sent is kept."""
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
        """Wait until a message is written down, so that no crash can lose it."""
        with self._changed:
            kept = self._changed.wait_for(
                lambda: self._closed or self._kept.get(sender, 0) >= number, seconds
            )
            if self._kept.get(sender, 0) < number and self._closed:
                raise Stopped("the run ended before it took all tuples: send the last ones again.")
            return kept

    def kept(self, sender: str) -> int:
        """The number of a sender's last message that is written down."""
        with self._changed:
            return self._kept.get(sender, 0)

    def finish(self) -> None:
        """Nothing more comes."""
        with self._changed:
            self._ended = True
            self._changed.notify_all()

    def pull(self, most: int, seconds: float) -> Received | None:
        """What is there, tables or bytes, whatever came first."""
        with self._changed:
            self._changed.wait_for(lambda: bool(self._messages) or self._ended, seconds)
            taken: list[Message] = []
            rows, until = 0, monotonic() + seconds
            while self._messages and rows < most and monotonic() < until:
                if taken and not _alike(taken[0].data, self._messages[0].data):
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
            return Received(_together(taken), dict(self._pulled), ended)

    def safe(self, position: Any) -> None:
        """Tell those who wait for it."""
        with self._changed:
            self._kept = position
            self._forget()
            self._changed.notify_all()

    def close(self) -> None:
        """Let nobody wait any longer."""
        with self._changed:
            self._closed = True
            self._changed.notify_all()


def _alike(one: bytes | pa.Table, other: bytes | pa.Table) -> bool:
    """Whether two messages can go together: lines, or tables with the same columns."""
    if isinstance(one, bytes) or isinstance(other, bytes):
        return isinstance(one, bytes) and isinstance(other, bytes)
    return bool(one.schema.equals(other.schema))


def _together(messages: list[Message]) -> list[bytes] | pa.Table:
    tables = [message.data for message in messages if isinstance(message.data, pa.Table)]
    if tables:
        return pa.concat_tables(tables)
    return [message.data for message in messages if isinstance(message.data, bytes)]
