"""One step of time windows: close some of them, over tuples or over rows of panes."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from math import isqrt

import numpy as np
import polars as pl

from boxcars.kernels.columns.folds import Windows
from boxcars.kernels.columns.frames import concat_rows
from boxcars.kernels.columns.slices import ROW, Ints, block_ids
from boxcars.kernels.contract import Frontier
from boxcars.kernels.state.segments import Segments, advance_segments
from boxcars.kernels.windows.axis import Axis
from boxcars.kernels.windows.equal_runs import Panes, closed_windows
from boxcars.kernels.windows.pane_prefixes import SharedAggregates, is_large
from boxcars.kernels.windows.panes import PANE, Grouped, can_lift, condensed, is_dense, lifted
from boxcars.kernels.windows.window_results import (
    Closed,
    Functions,
    Grouping,
    mark_coverage,
    no_indices,
    separate_tails,
)


@dataclass(frozen=True)
class TimeWindowStep:
    """Closes the windows from ``first`` up to ``end``, over ``tuples`` in order.

    Row numbers into ``tuples``: windows from ``first`` on need the rows from ``first_needed`` on,
    and windows from ``end`` on those from ``next_needed`` on. Windows before ``first`` covered the
    rows up to ``seen``; the windows that close now cover those up to ``seen_now``. Rows of panes,
    where they exist, cover all tuples up to ``seen``.
    """

    axis: Axis
    functions: Functions
    group: Grouping
    tuples: pl.DataFrame
    first: int
    end: int

    @cached_property
    def first_needed(self) -> int:
        """Number of tuples before the first window."""
        return self._before(self._start)

    @cached_property
    def next_needed(self) -> int:
        """Number of tuples before the first window that stays open."""
        return self._before(self._next)

    @cached_property
    def seen(self) -> int:
        """Number of tuples up to the end of the windows before ``first``."""
        return self._before(self._start - self.axis.advance + self.axis.size) if self.first else 0

    @cached_property
    def seen_now(self) -> int:
        """Number of tuples up to the end of these windows."""
        return self._before(self._next - self.axis.advance + self.axis.size)

    @property
    def _start(self) -> int:
        """The first pane of the first window."""
        return self.first * self.axis.advance

    @property
    def _next(self) -> int:
        """The first pane of the first window that stays open."""
        return self.end * self.axis.advance

    def _before(self, pane: int) -> int:
        """Number of tuples before a pane, by a two-level search that computes few panes."""
        times = self.tuples[self.group.ts]
        step = max(1, isqrt(len(times)))
        coarse = self.axis.pane_of(times.gather_every(step))
        begin = max(0, int(np.searchsorted(coarse, pane)) - 1) * step
        return begin + int(np.searchsorted(self.axis.pane_of(times[begin : begin + step]), pane))

    def lifted(self, since: int, until: int) -> pl.DataFrame:
        """Lift a range of tuples to rows of panes."""
        tuples = self.tuples[since:until]
        pane = self.axis.pane_of(tuples[self.group.ts])
        return lifted(tuples, pane, self.group, self.functions)

    def close_nothing(self) -> Closed:
        """Close no window."""
        return self._closed(self.tuples[:0], no_indices())[0]

    def close(
        self, pane_rows: Segments, shared: SharedAggregates | None
    ) -> tuple[Closed, Segments, SharedAggregates | None]:
        """Close windows; returns them, the rows of panes to retain and the shared aggregates.

        If no rows are returned, the caller retains the tuples instead.
        """
        lifts = can_lift(self.functions)
        if pane_rows or (
            lifts and is_large(self.seen - self.first_needed, self.seen_now - self.seen)
        ):
            return self._close_rows(pane_rows, shared)
        tuples = self.tuples[self.first_needed : self.seen_now]
        closed, grouped = self._closed(tuples, self.axis.pane_of(tuples[self.group.ts]))
        if not (lifts and is_dense(closed.windows)):
            return closed, [], None
        rows = grouped.since(self._next, self.functions).condensed(self.functions)
        return (
            closed,
            [self.lifted(self.next_needed, self.seen_now) if rows is None else rows],
            None,
        )

    def _close_rows(
        self, pane_rows: Segments, shared: SharedAggregates | None
    ) -> tuple[Closed, Segments, SharedAggregates | None]:
        """Close windows over rows of panes: all rows, or those not in the shared aggregates."""
        rows = self.lifted(self.seen if pane_rows else self.first_needed, self.seen_now)
        new = condensed(rows, self.group, self.functions)
        sparse = new is rows
        last = self._next - self.axis.advance
        edge = self._start - self._start % self.axis.size + self.axis.size
        if last >= edge:  # aggregates are shared within one block only
            shared = None
        elif shared is not None:
            closed, shared = self._slide(shared, new, last)
        elif not pane_rows or is_large(sum(map(len, pane_rows)), new.height):
            rows = concat_rows([*pane_rows, new])
            block = rows[_before(rows, self._start) : _before(rows, edge)]
            shared = SharedAggregates.of(block, self.group, self.functions)
            closed, shared = self._slide(shared, rows[_before(rows, edge) :], last)
        if shared is None:
            rows = concat_rows([*pane_rows, new])
            closed, _ = self._closed(rows, rows[PANE].to_numpy())
        if self._next >= edge:
            shared = None
        old = _before(concat_rows(pane_rows), self._next) if pane_rows else 0
        if shared is None and sparse and old == sum(map(len, pane_rows)):
            return (
                closed,
                [],
                None,
            )  # The rows still needed are all new and sparse: tuples are as good as rows of panes.
        left = new[_before(new, self._next) :]
        return closed, advance_segments(pane_rows or [left.clear()], left, old), shared

    def _slide(
        self, shared: SharedAggregates, new: pl.DataFrame, last: int
    ) -> tuple[Closed, SharedAggregates]:
        """Close windows that start in one block, the last of them at pane ``last``."""
        head_rows = mark_coverage(concat_rows([shared.heads, new]), ROW)
        rows = concat_rows([shared.needed(last), head_rows])
        closed, grouped = self._closed(rows, rows[PANE].to_numpy())
        blocks = closed.windows.blocks
        return closed, shared.advance(grouped, blocks, self._next, self.functions)

    def _closed(self, rows: pl.DataFrame, pane: Ints) -> tuple[Closed, Grouped]:
        """The windows over tuples, or over rows that may cover tails."""
        axis = self.axis
        grouped = Grouped.of(rows, pane, self.group)
        panes = Panes.of(grouped.pane, axis.size, axis.advance)
        slices, equal_runs = closed_windows(panes, grouped.starts, self.first, self.end)
        block = separate_tails(panes.block, grouped.columns)
        closed = Closed(
            tuples=grouped.columns,
            windows=Windows(slices, block_ids(block, grouped.starts), panes=grouped.pane),
            keys=grouped.table,
            equal_runs=equal_runs,
            key=slices.key,
            ts=equal_runs.repeat(axis.values(equal_runs.windows * axis.advance)),
            frontier=Frontier(),
            state={},
        )
        return closed, grouped


def _before(rows: pl.DataFrame, pane: int) -> int:
    """Number of rows before a pane."""
    return int(rows[PANE].search_sorted(pane))
