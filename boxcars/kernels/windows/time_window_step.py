"""One step of time windows: some of them close, over tuples or over rows of panes."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from math import isqrt

import numpy as np
import polars as pl

from boxcars.kernels.columns.folds import Windows
from boxcars.kernels.columns.frames import whole
from boxcars.kernels.columns.slices import ROW, Ints, block_ids
from boxcars.kernels.contract import Frontier
from boxcars.kernels.state.segments import Segments, moved_on
from boxcars.kernels.windows.axis import Axis
from boxcars.kernels.windows.equal_runs import Panes, closed_windows
from boxcars.kernels.windows.pane_prefixes import Sliding, is_large
from boxcars.kernels.windows.panes import PANE, Grouped, can_lift, condensed, is_dense, lifted
from boxcars.kernels.windows.window_results import (
    Closed,
    Functions,
    Grouping,
    no_places,
    own_blocks,
    stand,
)


@dataclass(frozen=True)
class Closing:
    """The windows from ``first`` up to ``end`` close, over ``tuples`` that are in order.

    Of these, windows from ``first`` on need those from ``begin`` on, and windows from ``end`` on
    those from ``gone`` on. Windows before ``first`` reached up to ``seen``, those that close now up
    to ``ripe``. Where there are rows of panes, they stand for all tuples up to ``seen``.
    """

    axis: Axis
    functions: Functions
    group: Grouping
    tuples: pl.DataFrame
    first: int
    end: int

    @cached_property
    def begin(self) -> int:
        """The first tuple that the first window needs."""
        return self._before(self._start)

    @cached_property
    def gone(self) -> int:
        """The first tuple that the windows after these need."""
        return self._before(self._next)

    @cached_property
    def seen(self) -> int:
        """The first tuple that no window before these has reached."""
        return self._before(self._start - self.axis.advance + self.axis.size) if self.first else 0

    @cached_property
    def ripe(self) -> int:
        """The first tuple that these windows do not reach."""
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
        """The number of tuples before a pane; few of them are looked at, and these at once."""
        times = self.tuples[self.group.ts]
        step = max(1, isqrt(len(times)))
        coarse = self.axis.pane_of(times.gather_every(step))
        begin = max(0, int(np.searchsorted(coarse, pane)) - 1) * step
        return begin + int(np.searchsorted(self.axis.pane_of(times[begin : begin + step]), pane))

    def lifted(self, since: int, until: int) -> pl.DataFrame:
        """Some of the tuples as rows of panes."""
        tuples = self.tuples[since:until]
        pane = self.axis.pane_of(tuples[self.group.ts])
        return lifted(tuples, pane, self.group, self.functions)

    def close_nothing(self) -> Closed:
        """No window closes."""
        return self._closed(self.tuples[:0], no_places())[0]

    def close(
        self, passed: Segments, sliding: Sliding | None
    ) -> tuple[Closed, Segments, Sliding | None]:
        """What the windows hold; and the rows of panes that are kept, with what they share.

        Without rows, the tuples are kept.
        """
        lifts = can_lift(self.functions)
        if passed or (lifts and is_large(self.seen - self.begin, self.ripe - self.seen)):
            return self._close_rows(passed, sliding)
        tuples = self.tuples[self.begin : self.ripe]
        closed, grouped = self._closed(tuples, self.axis.pane_of(tuples[self.group.ts]))
        if not (lifts and is_dense(closed.windows)):
            return closed, [], None
        rows = grouped.since(self._next, self.functions).condensed(self.functions)
        return closed, [self.lifted(self.gone, self.ripe) if rows is None else rows], None

    def _close_rows(
        self, passed: Segments, sliding: Sliding | None
    ) -> tuple[Closed, Segments, Sliding | None]:
        """Close windows over rows of panes: all, or what those of a block do not share."""
        rows = self.lifted(self.seen if passed else self.begin, self.ripe)
        came = condensed(rows, self.group, self.functions)
        sparse = came is rows
        last = self._next - self.axis.advance
        edge = self._start - self._start % self.axis.size + self.axis.size
        if last >= edge:
            sliding = None
        elif sliding is not None:
            closed, sliding = self._slide(sliding, came, last)
        elif not passed or is_large(sum(map(len, passed)), came.height):
            rows = whole([*passed, came])
            block = rows[_before(rows, self._start) : _before(rows, edge)]
            sliding = Sliding.of(block, self.group, self.functions)
            closed, sliding = self._slide(sliding, rows[_before(rows, edge) :], last)
        if sliding is None:
            rows = whole([*passed, came])
            closed, _ = self._closed(rows, rows[PANE].to_numpy())
        if self._next >= edge:
            sliding = None
        old = _before(whole(passed), self._next) if passed else 0
        if sliding is None and sparse and old == sum(map(len, passed)):
            return closed, [], None  # what is still needed has come now, as tuples, and alone
        left = came[_before(came, self._next) :]
        return closed, moved_on(passed or [left.clear()], left, old), sliding

    def _slide(self, sliding: Sliding, came: pl.DataFrame, last: int) -> tuple[Closed, Sliding]:
        """Close windows that start in one block, the last of them with pane ``last``."""
        beside = stand(whole([sliding.heads, came]), ROW)
        rows = whole([sliding.needed(last), beside])
        closed, grouped = self._closed(rows, rows[PANE].to_numpy())
        blocks = closed.windows.blocks
        return closed, sliding.moved_on(grouped, blocks, self._next, self.functions)

    def _closed(self, rows: pl.DataFrame, pane: Ints) -> tuple[Closed, Grouped]:
        """The windows over tuples, or over rows that may stand for tails."""
        axis = self.axis
        grouped = Grouped.of(rows, pane, self.group)
        panes = Panes.of(grouped.pane, axis.size, axis.advance)
        slices, stretches = closed_windows(panes, grouped.starts, self.first, self.end)
        block = own_blocks(panes.block, grouped.columns)
        closed = Closed(
            tuples=grouped.columns,
            windows=Windows(slices, block_ids(block, grouped.starts), panes=grouped.pane),
            keys=grouped.table,
            stretches=stretches,
            key=slices.key,
            ts=stretches.repeat(axis.values(stretches.windows * axis.advance)),
            frontier=Frontier(),
            state={},
        )
        return closed, grouped


def _before(rows: pl.DataFrame, pane: int) -> int:
    """The number of rows before a pane."""
    return int(rows[PANE].search_sorted(pane))
