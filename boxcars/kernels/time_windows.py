"""Time windows: they close for all keys together, when the frontier reaches their end."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl

from boxcars.kernels.aggregates import Windows
from boxcars.kernels.axis import Axis
from boxcars.kernels.closed import Closed, Grouping, Own
from boxcars.kernels.kernel import Frontier, State
from boxcars.kernels.keys import encode_keys, group_order
from boxcars.kernels.ranks import share_tuples
from boxcars.kernels.segments import Segments, as_state, moved_on, read_segments, whole
from boxcars.kernels.slices import Ints, Panes, block_ids, closed_slices

_TUPLES, _NEXT = "tuples", "next"


@dataclass(frozen=True)
class TimeWindows:
    """Windows along the axis; those still open at the end of the input close with ``flush``."""

    axis: Axis
    flush: bool

    def start(self, group: Grouping, tuples: pl.DataFrame) -> State:
        """Nothing is kept, and window 0 is the first to close."""
        return {**as_state([tuples], _TUPLES), _NEXT: pl.DataFrame({"window": [0]})}

    def close(self, group: Grouping, state: State, new: pl.DataFrame, frontier: Frontier) -> Closed:
        """Close the windows whose end the frontier has reached.

        The tuples of windows that are still open are kept, in the order in which they came. Where
        no window closes, none of them is looked at.
        """
        axis, kept = self.axis, read_segments(state, _TUPLES)
        first, coming = int(state[_NEXT]["window"][0]), axis.pane_of(new[group.ts])
        latest = int(coming[-1]) if len(coming) else self._latest(kept, group)
        end = max(first, _end(axis, latest, frontier, self.flush))
        tuples = whole([*kept, new]) if end > first else new[:0]
        pane = axis.pane_of(tuples[group.ts])
        ripe = _before(pane, (end - 1) * axis.advance + axis.size)
        keys = encode_keys(tuples[:ripe], group.by)
        order, starts = group_order(keys.codes, keys.number)
        panes = Panes.of(pane[order], axis.size, axis.advance)
        slices, windows = closed_slices(panes, starts, axis.size, axis.advance, first, end)
        gone = _before(pane, end * axis.advance)
        next_ = state[_NEXT] if end == first else pl.DataFrame({"window": [end]})
        return Closed(
            tuples=tuples[:ripe].drop(group.beside)[order],
            windows=Windows(slices, block_ids(panes.block, starts)),
            keys=keys.table,
            key=slices.key,
            ts=axis.values(windows * axis.advance),
            frontier=Frontier(axis.value(end * axis.advance), frontier.final),
            state={**as_state(moved_on(kept, new, gone), _TUPLES), _NEXT: next_},
        )

    def share(self, group: Grouping, states: Sequence[State], mine: Own) -> State:
        """The tuples of some groups; the next window to close is the same everywhere."""
        kept = [whole(read_segments(state, _TUPLES)) for state in states]
        tuples = share_tuples(kept, mine, group.ts)
        next_ = pl.concat([state[_NEXT] for state in states]).max()
        return {**as_state([tuples], _TUPLES), _NEXT: next_}

    def _latest(self, kept: Segments, group: Grouping) -> int | None:
        """The pane of the last tuple that is kept."""
        last = kept[-1][group.ts][-1:]
        return int(self.axis.pane_of(last)[0]) if len(last) else None


def _end(axis: Axis, latest: int | None, frontier: Frontier, flush: bool) -> int:
    """The first window that stays open."""
    end = 0
    if frontier.value is not None:
        end = (axis.pane_of_one(frontier.value) - axis.size) // axis.advance + 1
    if frontier.final and flush and latest is not None:
        end = max(end, latest // axis.advance + 1)
    return end


def _before(pane: Ints, limit: int) -> int:
    return int(np.searchsorted(pane, limit, "left"))
