"""Time windows: they close for all keys together, when the frontier reaches their end."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import polars as pl

from boxcars.kernels.columns.frames import concat_rows
from boxcars.kernels.columns.ranks import merge_owned
from boxcars.kernels.contract import Frontier, State
from boxcars.kernels.state.segments import Segments, advance_segments, as_state, read_segments
from boxcars.kernels.windows.axis import Axis
from boxcars.kernels.windows.pane_prefixes import SharedAggregates
from boxcars.kernels.windows.panes import PANE
from boxcars.kernels.windows.time_window_step import TimeWindowStep
from boxcars.kernels.windows.window_results import Closed, Functions, Grouping, OwnedRows

_TUPLES, _PANE_ROWS, _NEXT = "tuples", "passed", "next"


@dataclass(frozen=True)
class TimeWindows:
    """Windows along the axis; with ``flush`` those still open at the end of the input close.

    The tuples of open windows are retained in arrival order, and not visited in steps in which no
    window closes. When one closes whose tuples outnumber the new ones, or are many per pane, they
    are *lifted* to rows of panes, which are retained instead.
    """

    axis: Axis
    flush: bool
    functions: Functions

    def start(self, group: Grouping, tuples: pl.DataFrame) -> State:
        """The empty state; window 0 is the first to close."""
        return _state([tuples], [], 0)

    def close(self, group: Grouping, state: State, new: pl.DataFrame, frontier: Frontier) -> Closed:
        """Close the windows whose end the frontier has reached."""
        kept = read_segments(state, _TUPLES)
        pane_rows: Segments = read_segments(state, _PANE_ROWS)
        shared, first = SharedAggregates.read(state), _first_of(state)
        end = max(first, self._end([*kept, new], pane_rows, group, frontier))
        step = TimeWindowStep(
            self.axis, self.functions, group, concat_rows([*kept, new]), first, end
        )
        unneeded = 0
        if end == first:
            closed = step.close_nothing()
        else:
            closed, pane_rows, shared = step.close(pane_rows, shared)
            # Rows of panes cover every tuple seen so far, so no tuple of them is needed again.
            # Without them, the tuples of the windows that stay open must be retained.
            unneeded = step.seen_now if pane_rows else step.next_needed
        emitted = Frontier(self.axis.value(end * self.axis.advance), frontier.final)
        after = _state(advance_segments(kept, new, unneeded), pane_rows, end, shared)
        return replace(closed, frontier=emitted, state=after)

    def share(self, group: Grouping, states: Sequence[State], owned: OwnedRows) -> State:
        """Merge the states of several instances, keeping only the groups this instance owns.

        The next window to close is the same on all instances. If one retains rows of panes, the
        merged state does too.
        """
        first = max(map(_first_of, states))
        pane_rows = [read_segments(state, _PANE_ROWS) for state in states]
        tuples = [concat_rows(read_segments(state, _TUPLES)) for state in states]
        if not any(pane_rows):
            return _state([merge_owned(tuples, owned, group.ts)], [], first)
        steps = [
            TimeWindowStep(self.axis, self.functions, group, kept, first, first) for kept in tuples
        ]
        rows = [
            concat_rows(there) if there else step.lifted(step.first_needed, step.seen)
            for step, there in zip(steps, pane_rows, strict=True)
        ]
        unseen = [step.tuples[step.seen :] for step in steps]
        return _state(
            [merge_owned(unseen, owned, group.ts)], [merge_owned(rows, owned, PANE)], first
        )

    def _end(
        self, tuples: Segments, pane_rows: Segments, group: Grouping, frontier: Frontier
    ) -> int:
        """The first window that stays open."""
        end = 0
        if frontier.value is not None:
            end = (self.axis.pane_of_one(frontier.value) - self.axis.size) // self.axis.advance + 1
        if frontier.final and self.flush:
            panes = [self.axis.pane_of(segment[group.ts][-1:]) for segment in tuples]
            panes += [segment[PANE][-1:].to_numpy() for segment in pane_rows]
            end = max([end, *(np.concatenate(panes) // self.axis.advance + 1).tolist()])
        return end


def _state(
    tuples: Segments, pane_rows: Segments, first: int, shared: SharedAggregates | None = None
) -> State:
    next_ = pl.DataFrame({"window": [first]})
    own = {**as_state(tuples, _TUPLES), **as_state(pane_rows, _PANE_ROWS), _NEXT: next_}
    return own if shared is None else {**own, **shared.as_state()}


def _first_of(state: State) -> int:
    """The next window to close."""
    return int(state[_NEXT]["window"][0])
