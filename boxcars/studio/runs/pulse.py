"""A debounced run state: *running* or *waiting*.

Between two epochs a run waits for tuples, even if they arrive steadily; shown directly, the state
would flicker. So a run counts as *running* until no tuples have arrived for a while, depending on
the usual gap between arrivals.
"""

from __future__ import annotations

from typing import Literal

_LEAST, _MOST = 10.0, 60.0
"""Seconds without tuples until a run counts as waiting: lower and upper bound."""
_MISSED = 2.0
"""The multiple of the usual gap after which a run counts as waiting."""


class Pulse:
    """Tracks when a run received tuples."""

    def __init__(self) -> None:
        self._read: int | None = None
        self._last: float | None = None
        self._gap = 0.0

    def state(self, engine: str, read: int, now: float) -> Literal["running", "waiting"]:
        """Return the state, from the engine's state and the number of tuples read so far."""
        if self._read is not None and read != self._read:
            self._gap = 0.0 if self._last is None else now - self._last
            self._last = now
        self._read = read
        patience = min(max(_LEAST, _MISSED * self._gap), _MOST)
        lately = self._last is not None and now - self._last < patience
        return "running" if lately or engine == "running" else "waiting"
