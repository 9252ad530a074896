"""Cached tails and heads of time windows that advance in small steps.

A window is the tail of one block and the head of the next (:mod:`boxcars.kernels.columns.slices`).
Windows that start in the same block share its *tails*: for each key, the aggregate from a pane to
the end of the block, computed when the first of them closes. The *head* of each key grows by new
panes. So a step reads one tail and the head of each key; its cost depends on the rows that enter,
leave and are emitted, not on those in between.

All of this is derived from the stored rows of panes and may be discarded at any time.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import polars as pl
from numba import njit

from boxcars.kernels.columns.folds import Windows
from boxcars.kernels.columns.slices import HEAD, TAIL, Ints, indices_up_to
from boxcars.kernels.contract import State
from boxcars.kernels.windows.panes import PANE, Grouped
from boxcars.kernels.windows.window_results import Functions, Grouping, covers, mark_coverage

_TAILS, _CURSOR, _HEADS = "tails", "cursor", "heads"
_MIN_ROWS = 1000
"""Rows; smaller windows are recomputed in each step."""
_CACHE_RATIO = 8
"""Ratio; a window is recomputed in each step unless it has this many times the new rows."""


def is_large(passed: int, coming: int) -> bool:
    """Whether recomputing a window takes much longer than processing the new rows."""
    return passed >= max(_MIN_ROWS, _CACHE_RATIO * coming)


@dataclass(frozen=True)
class SharedAggregates:
    """Cached aggregates shared by the windows that start in one block.

    ``tails`` has the rows of each key contiguously; those still needed are ``[next, end)`` in
    ``cursor``. ``heads`` has one row per key.
    """

    tails: pl.DataFrame
    cursor: pl.DataFrame
    heads: pl.DataFrame

    @classmethod
    def of(cls, block: pl.DataFrame, group: Grouping, functions: Functions) -> SharedAggregates:
        """Compute the tails from the rows of the block in which the windows start; no heads yet."""
        grouped = Grouped.of(block, block[PANE].to_numpy(), group, by_key=False)
        lo = grouped.firsts[:-1]
        hi = grouped.starts[1:][grouped.key[lo]]
        windows = Windows(grouped.slices(lo, hi, TAIL), grouped.key, panes=grouped.pane)
        tails = grouped.fold(windows, grouped.pane[lo], functions)
        bounds = np.searchsorted(lo, grouped.starts)
        cursor = pl.DataFrame({"next": bounds[:-1], "end": bounds[1:]})
        return cls(tails, cursor, tails.clear())

    @classmethod
    def read(cls, state: State) -> SharedAggregates | None:
        """Read from a state, if cached."""
        if _TAILS not in state:
            return None
        return cls(state[_TAILS], state[_CURSOR], state[_HEADS])

    def as_state(self) -> State:
        """The cache as frames of a state."""
        return {_TAILS: self.tails, _CURSOR: self.cursor, _HEADS: self.heads}

    def needed(self, last: int) -> pl.DataFrame:
        """The tails of windows up to the one that starts at pane ``last``."""
        pane, next_, end = self._cursor_arrays()
        rows, _ = indices_up_to(pane, next_, end, np.full(len(next_), last))
        return mark_coverage(self.tails[rows], TAIL)

    def advance(
        self, grouped: Grouped, blocks: Ints, start: int, functions: Functions
    ) -> SharedAggregates:
        """Advance to windows from pane ``start`` on, extending the heads.

        ``grouped`` has the tails that were needed, the heads and the new rows.
        """
        tails = grouped.key[covers(grouped.columns, TAIL)]
        lo = grouped.starts[:-1] + np.bincount(tails, minlength=len(grouped.starts) - 1)
        hi = grouped.starts[1:]
        lo, hi = lo[lo < hi], hi[lo < hi]
        windows = Windows(grouped.slices(lo, hi, HEAD), blocks, panes=grouped.pane)
        heads = grouped.fold(windows, grouped.pane[hi - 1], functions)
        next_, end = _remaining(*self._cursor_arrays(), start)
        return replace(self, cursor=pl.DataFrame({"next": next_, "end": end}), heads=heads)

    def _cursor_arrays(self) -> tuple[Ints, Ints, Ints]:
        cursor = self.cursor
        return self.tails[PANE].to_numpy(), cursor["next"].to_numpy(), cursor["end"].to_numpy()


@njit(cache=True, nogil=True)
def _remaining(pane: Ints, next_: Ints, end: Ints, start: int) -> tuple[Ints, Ints]:
    """Cursors of the tails from a pane on, for keys that have any left."""
    firsts, ends = np.empty(len(next_), np.int64), np.empty(len(next_), np.int64)
    n = 0
    for key in range(len(next_)):
        row = next_[key]
        while row < end[key] and pane[row] < start:
            row += 1
        if row < end[key]:
            firsts[n], ends[n] = row, end[key]
            n += 1
    return firsts[:n], ends[:n]
