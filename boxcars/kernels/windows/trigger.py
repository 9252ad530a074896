"""Triggers of early-firing windows: on change, periodically, and when they close."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from boxcars.kernels.columns.folds import Mask, Numbers
from boxcars.kernels.ordering.sorting import ticks
from boxcars.model.window import Emit

Ints = NDArray[np.int64]

BEFORE, WITH, AFTER = 0, 1, 2
"""Phases of one instant: results fired by time, by key; then those fired by each tuple; then the
flush at the end of the input."""


@dataclass(frozen=True)
class Ends:
    """How windows end: whether they do, when, and their order among results of that time."""

    closed: Mask
    moment: Numbers
    phase: Ints
    order: Ints
    timed_out: Mask


@dataclass(frozen=True)
class Rows:
    """History of windows in a step: the stored row of each, then each of its new tuples.

    ``starts`` has the first row of each window. ``arrival`` is the index of a tuple in
    order of arrival; ``reported`` is whether a stored row has been emitted.
    """

    starts: Ints
    key: Ints
    time: Numbers
    count: Ints
    arrival: Ints
    old: Mask
    reported: Mask


@dataclass(frozen=True)
class Reports:
    """The rows to emit: when, in which order at that time, and which of them timed out."""

    row: Ints
    moment: Numbers
    phase: Ints
    order: Ints
    timed_out: Mask


@dataclass(frozen=True)
class Trigger:
    """When to emit; ``every`` is a number of tuples, or a time in physical units."""

    emit: Emit
    every: Any
    by_time: bool
    flush: bool

    def reports(self, rows: Rows, ends: Ends, now: Any, final: bool) -> Reports:
        """The rows to emit; ``now`` is the frontier (None: not known yet)."""
        group = np.repeat(np.arange(len(rows.starts) - 1), np.diff(rows.starts))
        last = np.zeros(len(group), np.bool_)
        last[rows.starts[1:] - 1] = True
        pending = ~(rows.old & rows.reported)
        found = [self._own(rows, last, pending)]
        open_ = last & pending & ~found[0][0]
        if self.emit == "every" and self.by_time:
            due = self._due(rows)
            at_once = (ends.moment[group] == due) & (ends.phase[group] == BEFORE)
            closing = ends.closed[group] & ((ends.moment[group] < due) | at_once)
            on_time = open_ & ~closing & (due <= now if now is not None else False)
            found.append((on_time, due, np.full(len(due), BEFORE), rows.key))
            open_ &= ~on_time
        if self.emit != "change":
            closes = open_ & ends.closed[group]
            found.append((closes, ends.moment[group], ends.phase[group], ends.order[group]))
            if final and self.flush:
                rest = open_ & ~ends.closed[group]
                moment = np.full(len(group), now, rows.time.dtype)
                found.append((rest, moment, np.full(len(group), AFTER), rows.key))
        chosen = [np.flatnonzero(mask) for mask, *_ in found]
        row = np.concatenate(chosen)
        by_end = np.zeros(len(group), np.bool_)
        if self.emit != "change":
            by_end = closes & ends.timed_out[group]
        moment, phase, order = (
            np.concatenate([f[i][c] for f, c in zip(found, chosen, strict=True)]) for i in (1, 2, 3)
        )
        return Reports(row, moment, phase, order, by_end[row])

    def _own(self, rows: Rows, last: Mask, pending: Mask) -> tuple[Mask, Any, Any, Any]:
        """The rows that are emitted regardless of what follows."""
        phase, order = np.full(len(last), WITH), 2 * rows.arrival + 1
        if self.emit == "change":
            return ~rows.old, rows.time, phase, order
        if self.emit == "every" and not self.by_time:
            return ~rows.old & (rows.count % self.every == 0), rows.time, phase, order
        if self.emit == "every":
            due = self._due(rows)
            passed = np.zeros(len(last), np.bool_)
            passed[:-1] = due[1:] != due[:-1]
            return passed & ~last & pending, due, np.full(len(last), BEFORE), rows.key
        return np.zeros(len(last), np.bool_), rows.time, phase, order

    def _due(self, rows: Rows) -> Numbers:
        """The next periodic firing time after each row."""
        period = rows.time.dtype.type(self.every)
        return np.asarray((ticks(rows.time, period) + 1) * period).astype(rows.time.dtype)

    def reported(self, rows: Rows, reports: Reports) -> Mask:
        """Mask of the windows whose last row has been emitted."""
        reported = rows.old & rows.reported
        reported[reports.row] = True
        return reported[rows.starts[1:] - 1]

    def next_report(self, rows: Rows) -> Numbers | None:
        """The next periodic firing time of each window, if time triggers it."""
        if self.emit != "every" or not self.by_time:
            return None
        return self._due(rows)[rows.starts[1:] - 1]
