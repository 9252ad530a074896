"""Events: what happened in a run, when, in which epoch and box, and why.

One schema holds everything that a run reports about itself, so that a log, a page and a test read
the same data. Later versions add kinds and fields; a reader keeps kinds that it does not know.

>>> Event(0.0, Kind.LATE, "2 tuples arrived too late.", {"tuples": 2}, epoch=3, box="calls").kind
<Kind.LATE: 'late'>
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from math import isfinite
from typing import Any
from zlib import crc32

LONGEST = 1000
"""Characters of a cause; a longer one is shortened in the middle."""
FORMAT = 1
"""The format of a line."""
_LINE = re.compile(rb'(\{"n":.*),"sum":"([0-9a-f]{8})"\}', re.DOTALL)
"""A line: its content, which ends before the checksum, and the checksum."""


class Kind(StrEnum):
    """Kinds of events."""

    STARTED = "started"
    """The run started, or resumed."""
    STOPPED = "stopped"
    """The run was stopped after an epoch, and can be resumed."""
    FINISHED = "finished"
    """All input was processed."""
    FAILED = "failed"
    """The run ended with an error, before its start or in an epoch."""
    RETRIED = "retried"
    """An epoch that was begun by an earlier process, and not committed, runs again."""
    SLOW_EPOCH = "slow_epoch"
    """An epoch took far longer than those before it."""
    DECISION = "decision"
    """The layout of the run changes from this epoch on."""
    LATE = "late"
    """Tuples arrived too late and were dropped."""
    DEAD = "dead"
    """Records or tuples became dead letters."""
    SINK_WAITING = "sink_waiting"
    """The connection to a sink was lost: the run waits for it."""
    SINK_BACK = "sink_back"
    """A sink takes tuples again."""
    CONNECTION_LOST = "connection_lost"
    """The connection to a source was lost: the input waits for it."""
    CONNECTION_BACK = "connection_back"
    """A source is read again."""
    MESSAGES_LOST = "messages_lost"
    """A source has, or may have, deleted messages before they were read."""


_KINDS = {str(kind): kind for kind in Kind}
ENDS = frozenset({Kind.STOPPED, Kind.FINISHED, Kind.FAILED})
"""The kinds after which a run writes nothing more."""


@dataclass(frozen=True)
class Event:
    """One event of a run.

    ``at`` is in seconds since 1970. ``cause`` is one sentence. ``figures`` are the numbers that it
    was taken from. ``box`` is an input, box, output or subquery, or empty. ``number`` is the
    event's number in its log, from 1 on; it is 0 before it is recorded.
    """

    at: float
    kind: str
    cause: str
    figures: Mapping[str, float] = field(default_factory=dict)
    epoch: int = 0
    box: str = ""
    number: int = 0

    def __post_init__(self) -> None:
        if len(self.cause) > LONGEST:
            half = LONGEST // 2
            object.__setattr__(self, "cause", f"{self.cause[:half]}...{self.cause[-half:]}")

    def plain(self) -> dict[str, Any]:
        """The event as data for JSON; figures that JSON can't represent are left out."""
        return {
            "n": self.number,
            "at": round(self.at, 3),
            "kind": str(self.kind),
            "cause": self.cause,
            "figures": {name: value for name, value in self.figures.items() if isfinite(value)},
            "epoch": self.epoch,
            "box": self.box,
        }

    @classmethod
    def of(cls, plain: Mapping[str, Any]) -> Event:
        """The event again; fields of later versions are ignored."""
        name = str(plain["kind"])
        return cls(
            float(plain["at"]),
            _KINDS.get(name, name),
            str(plain["cause"]),
            {str(figure): float(value) for figure, value in plain["figures"].items()},
            int(plain["epoch"]),
            str(plain["box"]),
            int(plain["n"]),
        )

    def line(self) -> bytes:
        r"""The event as a line of a log: JSON, with its format and a checksum at the end.

        >>> Event(1.5, Kind.STARTED, "the run started.").line()[-30:]
        b',"format":1,"sum":"c8b62a71"}\n'
        """
        content = json.dumps({**self.plain(), "format": FORMAT}, separators=(",", ":"))
        head = content.removesuffix("}").encode()
        return b'%s,"sum":"%08x"}\n' % (head, crc32(head))


Record = Callable[[Event], None]
"""Takes an event, and never fails."""


def read_line(line: bytes) -> Event | None:
    """The event of a line; None if the line is damaged, or has a format that is not known.

    >>> event = Event(1.5, Kind.STARTED, "the run started.")
    >>> read_line(event.line()) == event, read_line(event.line().replace(b"run", b"ran"))
    (True, None)
    """
    found = _LINE.fullmatch(line.rstrip(b"\n"))
    if found is None or crc32(found[1]) != int(found[2], 16):
        return None
    try:
        plain = json.loads(found[1] + b"}")
        return Event.of(plain) if plain["format"] == FORMAT else None
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        return None
