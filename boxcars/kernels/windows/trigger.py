"""When windows that grow report: on change, every so often, and when they close."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from boxcars.kernels.columns.folds import Numbers, Truths
from boxcars.kernels.ordering.sorting import ticks
from boxcars.model.window import Emit

Ints = NDArray[np.int64]

BEFORE, WITH, AFTER = 0, 1, 2
"""At one moment: what time brings, by key; then tuple by tuple what they bring; then the end."""


@dataclass(frozen=True)
class Ends:
    """How windows end: whether they do, at which moment, and the rank of that among others."""

    closed: Truths
    moment: Numbers
    turn: Ints
    place: Ints
    timed_out: Truths


@dataclass(frozen=True)
class Rows:
    """What windows were, bit by bit: what is kept of each, and then each of its new tuples.

    ``starts`` says where the rows of a window begin. ``place`` is that of a tuple in the order in
    which they came; ``told`` whether what is kept has been reported.
    """

    starts: Ints
    key: Ints
    time: Numbers
    count: Ints
    place: Ints
    old: Truths
    told: Truths


@dataclass(frozen=True)
class Reports:
    """The rows that are reported: when, their rank at that moment, and who timed out."""

    row: Ints
    moment: Numbers
    turn: Ints
    place: Ints
    timed_out: Truths


@dataclass(frozen=True)
class Reporting:
    """``every`` is a number of tuples, or a time in physical units."""

    emit: Emit
    every: Any
    by_time: bool
    flush: bool

    def reports(self, rows: Rows, ends: Ends, now: Any, final: bool) -> Reports:
        """Which rows are reported; ``now`` is how far time has come (None: nowhere)."""
        group = np.repeat(np.arange(len(rows.starts) - 1), np.diff(rows.starts))
        last = np.zeros(len(group), np.bool_)
        last[rows.starts[1:] - 1] = True
        pending = ~(rows.old & rows.told)
        found = [self._own(rows, last, pending)]
        open_ = last & pending & ~found[0][0]
        if self.emit == "every" and self.by_time:
            due = self._due(rows)
            at_once = (ends.moment[group] == due) & (ends.turn[group] == BEFORE)
            closing = ends.closed[group] & ((ends.moment[group] < due) | at_once)
            on_time = open_ & ~closing & (due <= now if now is not None else False)
            found.append((on_time, due, np.full(len(due), BEFORE), rows.key))
            open_ &= ~on_time
        if self.emit != "change":
            closes = open_ & ends.closed[group]
            found.append((closes, ends.moment[group], ends.turn[group], ends.place[group]))
            if final and self.flush:
                rest = open_ & ~ends.closed[group]
                moment = np.full(len(group), now, rows.time.dtype)
                found.append((rest, moment, np.full(len(group), AFTER), rows.key))
        chosen = [np.flatnonzero(mask) for mask, *_ in found]
        row = np.concatenate(chosen)
        by_end = np.zeros(len(group), np.bool_)
        if self.emit != "change":
            by_end = closes & ends.timed_out[group]
        moment, turn, place = (
            np.concatenate([f[i][c] for f, c in zip(found, chosen, strict=True)]) for i in (1, 2, 3)
        )
        return Reports(row, moment, turn, place, by_end[row])

    def _own(self, rows: Rows, last: Truths, pending: Truths) -> tuple[Truths, Any, Any, Any]:
        """The rows that are reported for themselves, whatever comes."""
        turn, place = np.full(len(last), WITH), 2 * rows.place + 1
        if self.emit == "change":
            return ~rows.old, rows.time, turn, place
        if self.emit == "every" and not self.by_time:
            return ~rows.old & (rows.count % self.every == 0), rows.time, turn, place
        if self.emit == "every":
            due = self._due(rows)
            passed = np.zeros(len(last), np.bool_)
            passed[:-1] = due[1:] != due[:-1]
            return passed & ~last & pending, due, np.full(len(last), BEFORE), rows.key
        return np.zeros(len(last), np.bool_), rows.time, turn, place

    def _due(self, rows: Rows) -> Numbers:
        """The moment behind each row at which windows report."""
        period = rows.time.dtype.type(self.every)
        return np.asarray((ticks(rows.time, period) + 1) * period).astype(rows.time.dtype)

    def told(self, rows: Rows, reports: Reports) -> Truths:
        """Which windows have told all that there is to tell."""
        told = rows.old & rows.told
        told[reports.row] = True
        return told[rows.starts[1:] - 1]

    def next_report(self, rows: Rows) -> Numbers | None:
        """When each window reports next, if time says so."""
        if self.emit != "every" or not self.by_time:
            return None
        return self._due(rows)[rows.starts[1:] - 1]
