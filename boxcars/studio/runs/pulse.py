"""Whether a run goes on or waits, as a person would say it.

Between two epochs a run waits for the next tuples, also if they come steadily. Told as it is, that
flickers. So a run that gets tuples is *running* until none has come for a while; how long that is
follows from how far apart they came before.
"""

from __future__ import annotations

from typing import Literal

_LEAST, _MOST = 10.0, 60.0
"""Seconds without tuples until a run waits."""
_MISSED = 2.0
"""How many times the usual gap may pass until tuples are missed."""


class Pulse:
    """Remembers when a run has got tuples."""

    def __init__(self) -> None:
        self._read: int | None = None
        self._last: float | None = None
        self._gap = 0.0

    def state(self, engine: str, read: int, now: float) -> Literal["running", "waiting"]:
        """How a run stands that has read so many tuples, by what its engine says at a moment."""
        if self._read is not None and read != self._read:
            self._gap = 0.0 if self._last is None else now - self._last
            self._last = now
        self._read = read
        patience = min(max(_LEAST, _MISSED * self._gap), _MOST)
        lately = self._last is not None and now - self._last < patience
        return "running" if lately or engine == "running" else "waiting"
