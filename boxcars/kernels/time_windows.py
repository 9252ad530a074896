"""Time windows: they close for all keys together, when the frontier reaches their end."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import polars as pl

from boxcars.kernels.axis import Axis
from boxcars.kernels.closed import Closed, Functions, Grouping, Own, no_places
from boxcars.kernels.folds import Windows
from boxcars.kernels.kernel import Frontier, State
from boxcars.kernels.keys import encode_keys, group_order, in_order
from boxcars.kernels.panes import PANE, can_condense, condense, is_dense, lifted, passed_on
from boxcars.kernels.ranks import share_tuples
from boxcars.kernels.segments import Segments, as_state, moved_on, read_segments, whole
from boxcars.kernels.slices import Ints, block_ids
from boxcars.kernels.stretches import Panes, closed_windows

_TUPLES, _PASSED, _NEXT = "tuples", "passed", "next"


@dataclass(frozen=True)
class TimeWindows:
    """Windows along the axis; those still open at the end of the input close with ``flush``.

    The tuples of windows that are open are kept, in the order in which they came. Where no window
    closes, none of them is looked at; where one does, panes with many tuples are condensed.
    """

    axis: Axis
    flush: bool
    functions: Functions

    def start(self, group: Grouping, tuples: pl.DataFrame) -> State:
        """Nothing is kept, and window 0 is the first to close."""
        return _state([tuples], [], pl.DataFrame({"window": [0]}))

    def close(self, group: Grouping, state: State, new: pl.DataFrame, frontier: Frontier) -> Closed:
        """Close the windows whose end the frontier has reached."""
        kept = read_segments(state, _TUPLES)
        passed: Segments = read_segments(state, _PASSED)
        first = int(state[_NEXT]["window"][0])
        end = max(first, self._end([*kept, new], group, frontier))
        if end == first:
            closed = self._closed(new[:0], no_places(), [], first, end, group, frontier)
            return replace(closed, state=_state(moved_on(kept, new, 0), passed, state[_NEXT]))
        tuples = whole([*kept, new])
        pane = self.axis.pane_of(tuples[group.ts])
        ripe = _before(pane, (end - 1) * self.axis.advance + self.axis.size)
        gone = _before(pane, end * self.axis.advance)
        closed = self._closed(tuples[:ripe], pane[:ripe], passed, first, end, group, frontier)
        condensed: Segments = []
        if can_condense(self.functions, tuples) and is_dense(closed.windows, ripe):
            rows = lifted(tuples[gone:ripe], pane[gone:ripe], group, self.functions)
            condensed, gone = [condense(rows, group, self.functions)], ripe
        passed = passed_on(passed, condensed, end * self.axis.advance)
        next_ = pl.DataFrame({"window": [end]})
        return replace(closed, state=_state(moved_on(kept, new, gone), passed, next_))

    def _closed(
        self,
        tuples: pl.DataFrame,
        pane: Ints,
        passed: Segments,
        first: int,
        end: int,
        group: Grouping,
        frontier: Frontier,
    ) -> Closed:
        """The windows from ``first`` up to ``end``, over tuples and panes that were condensed."""
        axis = self.axis
        if passed:
            tuples = whole([*passed, lifted(tuples, pane, group, self.functions)])
            pane = tuples[PANE].to_numpy()
        keys = encode_keys(tuples, group.by)
        order, starts = group_order(keys.codes, keys.number)
        pane = in_order(pane, order)
        panes = Panes.of(pane, axis.size, axis.advance)
        slices, stretches = closed_windows(panes, starts, first, end)
        arguments = tuples.drop([*group.by, group.ts, PANE], strict=False)
        return Closed(
            tuples=arguments[order] if arguments.width else arguments,
            lifted=bool(passed),
            windows=Windows(slices, block_ids(panes.block, starts), panes=pane),
            keys=keys.table,
            stretches=stretches,
            key=slices.key,
            ts=stretches.repeat(axis.values(stretches.windows * axis.advance)),
            frontier=Frontier(axis.value(end * axis.advance), frontier.final),
            state={},
        )

    def share(self, group: Grouping, states: Sequence[State], mine: Own) -> State:
        """The tuples of some groups; the next window to close is the same everywhere."""
        shared = []
        for name, order in ((_TUPLES, group.ts), (_PASSED, PANE)):
            kept = [read_segments(state, name) for state in states]
            frames = [whole(segments) for segments in kept if segments]
            shared.append([share_tuples(frames, mine, order)] if frames else [])
        return _state(shared[0], shared[1], pl.concat([state[_NEXT] for state in states]).max())

    def _end(self, segments: Segments, group: Grouping, frontier: Frontier) -> int:
        """The first window that stays open."""
        end = 0
        if frontier.value is not None:
            end = (self.axis.pane_of_one(frontier.value) - self.axis.size) // self.axis.advance + 1
        if frontier.final and self.flush:
            for last in (segment[group.ts][-1:] for segment in segments):
                if len(last):
                    end = max(end, int(self.axis.pane_of(last)[0]) // self.axis.advance + 1)
        return end


def _state(tuples: Segments, passed: Segments, next_: pl.DataFrame) -> State:
    return {**as_state(tuples, _TUPLES), **as_state(passed, _PASSED), _NEXT: next_}


def _before(pane: Ints, limit: int) -> int:
    return int(np.searchsorted(pane, limit, "left"))
