"""Time windows: they close for all keys together, when the frontier reaches their end."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl

from boxcars.kernels.aggregates import Windows
from boxcars.kernels.axis import Axis
from boxcars.kernels.closed import Closed, Grouping, Own
from boxcars.kernels.kernel import Frontier, State, appended
from boxcars.kernels.keys import encode_keys, group_order
from boxcars.kernels.ranks import share_tuples
from boxcars.kernels.slices import Ints, Panes, block_ids, closed_slices

_TUPLES, _NEXT = "tuples", "next"


@dataclass(frozen=True)
class TimeWindows:
    """Windows along the axis; those still open at the end of the input close with ``flush``."""

    axis: Axis
    flush: bool

    def start(self, group: Grouping, tuples: pl.DataFrame) -> State:
        """Nothing is kept, and window 0 is the first to close."""
        return {_TUPLES: tuples, _NEXT: pl.DataFrame({"window": [0]})}

    def close(self, group: Grouping, state: State, new: pl.DataFrame, frontier: Frontier) -> Closed:
        """Close the windows whose end the frontier has reached.

        The tuples of windows that are still open are kept, in the order in which they came.
        """
        axis = self.axis
        tuples = appended(state[_TUPLES], new)
        pane = axis.pane_of(tuples[group.ts])
        first = int(state[_NEXT]["window"][0])
        end = max(first, _end(axis, pane, frontier, self.flush))
        ripe = _before(pane, (end - 1) * axis.advance + axis.size) if end > first else 0
        keys = encode_keys(tuples[:ripe], group.by)
        order, starts = group_order(keys.codes, keys.number)
        panes = Panes.of(pane[order], axis.size, axis.advance)
        slices, windows = closed_slices(panes, starts, axis.size, axis.advance, first, end)
        return Closed(
            tuples=tuples[:ripe].drop(group.beside)[order],
            windows=Windows(slices, block_ids(panes.block, starts)),
            keys=keys.table,
            key=slices.key,
            ts=axis.values(windows * axis.advance),
            frontier=Frontier(axis.value(end * axis.advance), frontier.final),
            state={
                _TUPLES: tuples[_before(pane, end * axis.advance) :],
                _NEXT: pl.DataFrame({"window": [end]}),
            },
        )

    def share(self, group: Grouping, states: Sequence[State], mine: Own) -> State:
        """The tuples of some groups; the next window to close is the same everywhere."""
        tuples = share_tuples([state[_TUPLES] for state in states], mine, group.ts)
        return {_TUPLES: tuples, _NEXT: pl.concat([state[_NEXT] for state in states]).max()}


def _end(axis: Axis, pane: Ints, frontier: Frontier, flush: bool) -> int:
    """The first window that stays open."""
    end = 0
    if frontier.value is not None:
        end = (axis.pane_of_one(frontier.value) - axis.size) // axis.advance + 1
    if frontier.final and flush and len(pane):
        end = max(end, int(pane[-1]) // axis.advance + 1)
    return end


def _before(pane: Ints, limit: int) -> int:
    return int(np.searchsorted(pane, limit, "left"))
