"""A mailbox: many threads put messages in, and the inbox of a run takes them out."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass
from time import monotonic
from typing import Any

import pyarrow as pa

from boxcars.model.problem import BoxcarsError
from boxcars.outside.connector import Intake, Received

ROOM = 64 * 2**20
"""Bytes of messages that may wait; whoever brings more has to wait."""
_SENDERS = 1000
"""How many senders are remembered by the number of their last message."""


class Closed(BoxcarsError):
    """Nobody takes messages any more."""


@dataclass(frozen=True)
class Message:
    """What somebody sent: bytes or a table; senders number theirs, from 1 on."""

    data: bytes | pa.Table
    sender: str = ""
    number: int = 0

    @property
    def size(self) -> int:
        """In bytes."""
        return len(self.data) if isinstance(self.data, bytes) else int(self.data.nbytes)

    @property
    def rows(self) -> int:
        """The rows of a table; bytes count as one."""
        return 1 if isinstance(self.data, bytes) else int(self.data.num_rows)


class Mailbox(Intake):
    """Messages in the order in which they came; one that comes again is there already.

    The position has the number of the last message of each sender, so a sender who does not know
    whether a message was kept sends it again.
    """

    def __init__(self, room: int = ROOM) -> None:
        self._room, self._waiting = room, 0
        self._messages: deque[Message] = deque()
        self._changed = threading.Condition()
        self._last: dict[str, int] = {}
        self._pulled: dict[str, int] = {}
        self._kept: Mapping[str, int] = {}
        self._ended = self._closed = False

    def open(self, position: Any) -> None:
        """Remember who sent what."""
        with self._changed:
            self._last = dict(position or {})
            self._pulled, self._kept, self._closed = dict(self._last), dict(self._last), False

    def put(self, message: Message, seconds: float | None = None) -> bool:
        """Put a message in when there is room; False if it takes longer. Raises Closed."""
        with self._changed:
            known = self._last.get(message.sender, 0)
            if message.number and message.number <= known:
                return True
            free = self._changed.wait_for(
                lambda: self._closed or self._waiting < self._room, seconds
            )
            if self._closed or self._ended:
                raise Closed("the run takes no more tuples: it has ended.")
            if free:
                self._messages.append(message)
                self._waiting += message.size
                if message.number:
                    self._remember(message)
                self._changed.notify_all()
            return free

    def _remember(self, message: Message) -> None:
        self._last.pop(message.sender, None)
        self._last[message.sender] = message.number
        while len(self._last) > _SENDERS:
            self._last.pop(next(iter(self._last)))

    def wait_kept(self, sender: str, number: int, seconds: float | None = None) -> bool:
        """Wait until a message is written down, so that no crash can lose it."""
        with self._changed:
            kept = self._changed.wait_for(
                lambda: self._closed or self._kept.get(sender, 0) >= number, seconds
            )
            if self._kept.get(sender, 0) < number and self._closed:
                raise Closed("the run ended before it took all tuples: send the last ones again.")
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
                first = taken[0] if taken else self._messages[0]
                if isinstance(self._messages[0].data, bytes) is not isinstance(first.data, bytes):
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
            self._pulled = {name: self._pulled[name] for name in self._last if name in self._pulled}
            ended = self._ended and not self._messages
            return Received(_together(taken), dict(self._pulled), ended)

    def safe(self, position: Any) -> None:
        """Tell those who wait for it."""
        with self._changed:
            self._kept = position
            self._changed.notify_all()

    def close(self) -> None:
        """Let nobody wait any longer."""
        with self._changed:
            self._closed = True
            self._changed.notify_all()


def _together(messages: list[Message]) -> list[bytes] | pa.Table:
    tables = [message.data for message in messages if isinstance(message.data, pa.Table)]
    if tables:
        return pa.concat_tables(tables, promote_options="default")
    return [message.data for message in messages if isinstance(message.data, bytes)]
