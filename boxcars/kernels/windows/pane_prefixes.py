"""Time windows in small steps: what the next ones have in common is added up once, and kept.

A window is the tail of one block and the head of the next (:mod:`boxcars.kernels.columns.slices`).
Those that start in the same block share its *tails*: what each key has from a pane on, up to the
end of the block, is added up when the first of them closes. What each key has of the *head* grows
by the panes that come. So a step reads, for each key, the tail it has come to and the head, and
costs what comes, what leaves and what is given out; what lies between is not looked at.

All of this is made of the rows of panes, which are kept. It may be thrown away at any time.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import polars as pl
from numba import njit

from boxcars.kernels.columns.folds import Windows
from boxcars.kernels.columns.slices import HEAD, TAIL, Ints, places_up_to
from boxcars.kernels.contract import State
from boxcars.kernels.windows.panes import PANE, Grouped
from boxcars.kernels.windows.window_results import Functions, Grouping, stand, standing

_TAILS, _CURSOR, _HEADS = "tails", "cursor", "heads"
_WORTH = 1000
"""Fewer rows are gone over each time."""
_LARGE = 8
"""A window is gone over each time unless it has so many times the rows that come."""


def is_large(passed: int, coming: int) -> bool:
    """Whether to go over all rows of a window takes much longer than over those that come."""
    return passed >= max(_WORTH, _LARGE * coming)


@dataclass(frozen=True)
class Sliding:
    """What the windows that start in a block share.

    ``tails`` has the rows of a key one after the other. Those of each key that are still needed
    are ``[next, end)`` in ``cursor``. ``heads`` has a row for each key.
    """

    tails: pl.DataFrame
    cursor: pl.DataFrame
    heads: pl.DataFrame

    @classmethod
    def of(cls, block: pl.DataFrame, group: Grouping, functions: Functions) -> Sliding:
        """From the rows of the block in which the windows start; of the next one there are none."""
        grouped = Grouped.of(block, block[PANE].to_numpy(), group, by_key=False)
        lo = grouped.firsts[:-1]
        hi = grouped.starts[1:][grouped.key[lo]]
        windows = Windows(grouped.slices(lo, hi, TAIL), grouped.key, panes=grouped.pane)
        tails = grouped.fold(windows, grouped.pane[lo], functions)
        bounds = np.searchsorted(lo, grouped.starts)
        cursor = pl.DataFrame({"next": bounds[:-1], "end": bounds[1:]})
        return cls(tails, cursor, tails.clear())

    @classmethod
    def read(cls, state: State) -> Sliding | None:
        """As it was kept."""
        if _TAILS not in state:
            return None
        return cls(state[_TAILS], state[_CURSOR], state[_HEADS])

    def as_state(self) -> State:
        """As frames of a state."""
        return {_TAILS: self.tails, _CURSOR: self.cursor, _HEADS: self.heads}

    def needed(self, last: int) -> pl.DataFrame:
        """The tails of windows up to the one that starts with pane ``last``."""
        pane, next_, end = self._places()
        places, _ = places_up_to(pane, next_, end, np.full(len(next_), last))
        return stand(self.tails[places], TAIL)

    def moved_on(self, grouped: Grouped, blocks: Ints, start: int, functions: Functions) -> Sliding:
        """For windows from pane ``start`` on, when more of the head has come.

        ``grouped`` has the tails that were needed, the heads and the rows that came.
        """
        tails = grouped.key[standing(grouped.columns, TAIL)]
        lo = grouped.starts[:-1] + np.bincount(tails, minlength=len(grouped.starts) - 1)
        hi = grouped.starts[1:]
        lo, hi = lo[lo < hi], hi[lo < hi]
        windows = Windows(grouped.slices(lo, hi, HEAD), blocks, panes=grouped.pane)
        heads = grouped.fold(windows, grouped.pane[hi - 1], functions)
        next_, end = _left(*self._places(), start)
        return replace(self, cursor=pl.DataFrame({"next": next_, "end": end}), heads=heads)

    def _places(self) -> tuple[Ints, Ints, Ints]:
        cursor = self.cursor
        return self.tails[PANE].to_numpy(), cursor["next"].to_numpy(), cursor["end"].to_numpy()


@njit(cache=True, nogil=True)
def _left(pane: Ints, next_: Ints, end: Ints, start: int) -> tuple[Ints, Ints]:
    """The tails from a pane on, of the keys that still have any."""
    firsts, ends = np.empty(len(next_), np.int64), np.empty(len(next_), np.int64)
    n = 0
    for key in range(len(next_)):
        place = next_[key]
        while place < end[key] and pane[place] < start:
            place += 1
        if place < end[key]:
            firsts[n], ends[n] = place, end[key]
            n += 1
    return firsts[:n], ends[:n]
