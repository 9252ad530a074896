"""Samples of the arcs of a run: the last tuples on them.

Arcs are sampled on request only: then the epochs of the next seconds return the samples.
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
"""Number of tuples in a sample."""
_SAMPLED_FOR = 15.0
"""Seconds for which an arc is sampled after a request."""

Peeked = Mapping[Arc, pl.DataFrame]


def peek(stepper: Stepper) -> Peeked:
    """Sample the requested arcs of a piece in this epoch."""
    seen = {arc: stepper.frames[arc].tail(PEEKED) for arc in stepper.peeks & stepper.frames.keys()}
    return {arc: frame.select(~HIDDEN_COLUMNS.meta.as_selector()) for arc, frame in seen.items()}


def join_peeked(found: Iterable[Peeked]) -> Peeked:
    """Merge the samples of several pieces."""
    frames: dict[Arc, list[pl.DataFrame]] = {}
    for peeked in found:
        for arc, frame in peeked.items():
            frames.setdefault(arc, []).append(frame)
    return {arc: pl.concat(seen) for arc, seen in frames.items()}


class Peeks:
    """The requested arcs, and their latest samples."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._until: dict[Arc, float] = {}
        self._samples: dict[Arc, pl.DataFrame] = {}

    def wanted(self) -> frozenset[Arc]:
        """The arcs to sample in the next epoch."""
        with self._changed:
            now = monotonic()
            self._until = {arc: until for arc, until in self._until.items() if until > now}
            self._samples = {arc: rows for arc, rows in self._samples.items() if arc in self._until}
            return frozenset(self._until)

    def note(self, peeked: Peeked) -> None:
        """Store the samples of an epoch; an arc without tuples keeps its previous sample."""
        with self._changed:
            self._samples |= {arc: rows.tail(PEEKED) for arc, rows in peeked.items() if rows.height}
            self._changed.notify_all()

    def look(self, arc: Arc, seconds: float) -> pl.DataFrame | None:
        """Request an arc and return its latest sample; wait up to ``seconds`` for the first."""
        with self._changed:
            self._until[arc] = monotonic() + max(_SAMPLED_FOR, seconds)
            self._changed.wait_for(lambda: arc in self._samples, seconds)
            return self._samples.get(arc)
