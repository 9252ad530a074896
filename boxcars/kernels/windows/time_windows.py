"""Time windows: they close for all keys together, when the frontier reaches their end."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import polars as pl

from boxcars.kernels.columns.frames import whole
from boxcars.kernels.columns.ranks import share_tuples
from boxcars.kernels.contract import Frontier, State
from boxcars.kernels.state.segments import Segments, as_state, moved_on, read_segments
from boxcars.kernels.windows.axis import Axis
from boxcars.kernels.windows.pane_prefixes import Sliding
from boxcars.kernels.windows.panes import PANE
from boxcars.kernels.windows.time_window_step import Closing
from boxcars.kernels.windows.window_results import Closed, Functions, Grouping, Own

_TUPLES, _PASSED, _NEXT = "tuples", "passed", "next"


@dataclass(frozen=True)
class TimeWindows:
    """Windows along the axis; those still open at the end of the input close with ``flush``.

    The tuples of windows that are open are kept, in the order in which they came. Where no window
    closes, none of them is looked at. Where one does, and its tuples are many beside those that
    come or in their panes, they are *lifted* to rows of panes, which are kept instead.
    """

    axis: Axis
    flush: bool
    functions: Functions

    def start(self, group: Grouping, tuples: pl.DataFrame) -> State:
        """Nothing is kept, and window 0 is the first to close."""
        return _state([tuples], [], 0)

    def close(self, group: Grouping, state: State, new: pl.DataFrame, frontier: Frontier) -> Closed:
        """Close the windows whose end the frontier has reached."""
        kept = read_segments(state, _TUPLES)
        passed: Segments = read_segments(state, _PASSED)
        sliding, first = Sliding.read(state), _first_of(state)
        end = max(first, self._end([*kept, new], passed, group, frontier))
        turn = Closing(self.axis, self.functions, group, whole([*kept, new]), first, end)
        gone = 0
        if end == first:
            closed = turn.close_nothing()
        else:
            closed, passed, sliding = turn.close(passed, sliding)
            gone = turn.ripe if passed else turn.gone
        promise = Frontier(self.axis.value(end * self.axis.advance), frontier.final)
        after = _state(moved_on(kept, new, gone), passed, end, sliding)
        return replace(closed, frontier=promise, state=after)

    def share(self, group: Grouping, states: Sequence[State], mine: Own) -> State:
        """The tuples of some groups; the next window to close is the same everywhere.

        Where one place keeps rows of panes, so do all.
        """
        first = max(map(_first_of, states))
        passed = [read_segments(state, _PASSED) for state in states]
        tuples = [whole(read_segments(state, _TUPLES)) for state in states]
        if not any(passed):
            return _state([share_tuples(tuples, mine, group.ts)], [], first)
        turns = [Closing(self.axis, self.functions, group, kept, first, first) for kept in tuples]
        rows = [
            whole(there) if there else turn.lifted(turn.begin, turn.seen)
            for turn, there in zip(turns, passed, strict=True)
        ]
        unseen = [turn.tuples[turn.seen :] for turn in turns]
        return _state(
            [share_tuples(unseen, mine, group.ts)], [share_tuples(rows, mine, PANE)], first
        )

    def _end(self, tuples: Segments, passed: Segments, group: Grouping, frontier: Frontier) -> int:
        """The first window that stays open."""
        end = 0
        if frontier.value is not None:
            end = (self.axis.pane_of_one(frontier.value) - self.axis.size) // self.axis.advance + 1
        if frontier.final and self.flush:
            panes = [self.axis.pane_of(segment[group.ts][-1:]) for segment in tuples]
            panes += [segment[PANE][-1:].to_numpy() for segment in passed]
            end = max([end, *(np.concatenate(panes) // self.axis.advance + 1).tolist()])
        return end


def _state(tuples: Segments, passed: Segments, first: int, sliding: Sliding | None = None) -> State:
    next_ = pl.DataFrame({"window": [first]})
    own = {**as_state(tuples, _TUPLES), **as_state(passed, _PASSED), _NEXT: next_}
    return own if sliding is None else {**own, **sliding.as_state()}


def _first_of(state: State) -> int:
    """The next window to close."""
    return int(state[_NEXT]["window"][0])
