"""A look into the arcs of a run: the last tuples that went along them.

Nothing is looked at unless somebody asks. Then the epochs of the next seconds bring it along.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable, Mapping
from time import monotonic

import polars as pl

from boxcars.engine.flow.stepper import Stepper
from boxcars.kernels.columns.system_columns import HIDDEN_COLUMNS
from boxcars.model.arc import Arc

PEEKED = 20
"""So many of the last tuples are shown."""
_ASKED = 15.0
"""Seconds for which an arc is looked at behind a question."""

Peeked = Mapping[Arc, pl.DataFrame]


def peek(stepper: Stepper) -> Peeked:
    """The last tuples of the arcs that are looked at and that a piece has, of this epoch."""
    seen = {arc: stepper.frames[arc].tail(PEEKED) for arc in stepper.peeks & stepper.frames.keys()}
    return {arc: frame.select(~HIDDEN_COLUMNS.meta.as_selector()) for arc, frame in seen.items()}


def join_peeked(found: Iterable[Peeked]) -> Peeked:
    """What several pieces have seen."""
    frames: dict[Arc, list[pl.DataFrame]] = {}
    for peeked in found:
        for arc, frame in peeked.items():
            frames.setdefault(arc, []).append(frame)
    return {arc: pl.concat(seen) for arc, seen in frames.items()}


class Peeks:
    """The arcs that somebody looks at, and what was seen there last."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._asked: dict[Arc, float] = {}
        self._seen: dict[Arc, pl.DataFrame] = {}

    def wanted(self) -> frozenset[Arc]:
        """The arcs to look at in the next epoch."""
        with self._changed:
            now = monotonic()
            self._asked = {arc: until for arc, until in self._asked.items() if until > now}
            self._seen = {arc: rows for arc, rows in self._seen.items() if arc in self._asked}
            return frozenset(self._asked)

    def note(self, peeked: Peeked) -> None:
        """An epoch brought this; an arc on which nothing went keeps what was seen before."""
        with self._changed:
            self._seen |= {arc: rows.tail(PEEKED) for arc, rows in peeked.items() if rows.height}
            self._changed.notify_all()

    def look(self, arc: Arc, seconds: float) -> pl.DataFrame | None:
        """What was seen last; if that is nothing, wait for it, but not longer than so."""
        with self._changed:
            self._asked[arc] = monotonic() + max(_ASKED, seconds)
            self._changed.wait_for(lambda: arc in self._seen, seconds)
            return self._seen.get(arc)
