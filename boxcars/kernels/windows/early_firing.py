"""Early-firing windows: they emit on every change, or periodically, before they close.

A window is stored as the partial result of its tuples (:mod:`boxcars.kernels.aggregates.partials`),
so a landmark window has constant size. Distinct values are counted as they appear
(:mod:`boxcars.kernels.windows.distinct_values`). Tuples are retained only for functions that need
all of them, such as a median.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import polars as pl

from boxcars.kernels.columns.folds import Numbers, Windows
from boxcars.kernels.columns.keys import encode_keys, group_order
from boxcars.kernels.columns.slices import Ints, Slices
from boxcars.kernels.columns.system_columns import POSITION
from boxcars.kernels.contract import Frontier, State, physical_value
from boxcars.kernels.windows.assigner import (
    FRONTIER,
    FULL,
    GREATEST,
    NEVER,
    NEXT,
    Assigner,
    ByRun,
    Facts,
)
from boxcars.kernels.windows.axis import Axis
from boxcars.kernels.windows.early_firing_groups import form_groups, late_tuples
from boxcars.kernels.windows.early_results import (
    FIRST,
    LAST,
    EarlyResults,
    distinct_column,
    empty_columns,
    keyed_frame,
    new_from,
    running_counts,
)
from boxcars.kernels.windows.retained_tuples import RetainedTuples, with_windows
from boxcars.kernels.windows.trigger import BEFORE, WITH, Ends, Rows, Trigger
from boxcars.kernels.windows.window_results import (
    Functions,
    Grouping,
    Results,
    Timers,
    argument,
    lift,
    partials_of,
)

GROUPS, FACTS, TUPLES = "groups", "facts", "tuples"
_ID, _N, _TIME, _REPORTED = "__id", "__n", "__time", "__told"


@dataclass(frozen=True)
class EarlyFiring:
    """Windows of one kind (``assigner``) with a ``trigger``.

    ``functions`` are those of the box, each with the number of its arguments; ``value`` is the
    column along which windows lie. A time window ends along the ``axis``; a tuple window at the
    latest at its ``timeout``.
    """

    assigner: Assigner
    trigger: Trigger
    functions: Functions
    value: str
    axis: Axis | None = None
    timeout: Any = None

    def start(self, group: Grouping, tuples: pl.DataFrame) -> State:
        """The empty state."""
        by, time = tuples.select(group.by), tuples.schema[group.ts]
        facts = self.assigner.facts(time, tuples.schema[self.value])
        columns = {_ID: pl.Int64(), _N: pl.Int64(), _TIME: time, _REPORTED: pl.Boolean()}
        partials, none = lift(tuples, self.functions), np.empty(0, np.int64)
        partials |= {
            distinct_column(number): pl.Series(dtype=pl.Int64()) for number in self.counted
        }
        return {
            GROUPS: keyed_frame(by, empty_columns(columns) | partials),
            FACTS: keyed_frame(by, empty_columns(facts)),
            TUPLES: with_windows(tuples.select(*group.by, *self.content), none, none),
        }

    @cached_property
    def content(self) -> list[str]:
        """The columns to retain for functions that need all tuples."""
        return [
            argument(number, i)
            for number, (function, arguments) in enumerate(self.functions)
            if function.partial is None and number not in self.counted
            for i in range(arguments)
        ]

    @cached_property
    def counted(self) -> tuple[int, ...]:
        """The functions that count distinct values as they appear.

        Not where windows close with the tuples of a key: then a key's window numbers are its own,
        and its values would be kept for ever.
        """
        if self.assigner.closing not in (NEVER, FRONTIER):
            return ()
        return tuple(n for n, (function, _) in enumerate(self.functions) if function.distinct)

    @cached_property
    def distinct(self) -> bool:
        """Whether repeated values make no difference to any of these functions."""
        looking = [function for function, _ in self.functions if function.partial is None]
        return bool(looking) and all(function.distinct for function in looking)

    def close(
        self, group: Grouping, state: State, new: pl.DataFrame, frontier: Frontier
    ) -> Results:
        """Process tuples, and emit the results that are due."""
        by = () if isinstance(self.assigner, ByRun) else tuple(group.by)
        frames = [new, state[GROUPS], state[FACTS], state[TUPLES]]
        keys = encode_keys(pl.concat([frame.select(by) for frame in frames]), by)
        codes = keys.codes if by else np.zeros(sum(f.height for f in frames), np.int64)
        parts = np.split(codes, np.cumsum([frame.height for frame in frames])[:-1])
        number = keys.number if by else 1
        return _Step(self, group, state, new, frontier, number, *parts).results()


class _Step:
    """One step: the new tuples sorted by key, their windows, and the results to emit."""

    def __init__(
        self,
        kernel: EarlyFiring,
        group: Grouping,
        state: State,
        new: pl.DataFrame,
        frontier: Frontier,
        keys: int,
        codes: Ints,
        group_codes: Ints,
        fact_codes: Ints,
        tuple_codes: Ints,
    ) -> None:
        self.kernel, self.group, self.state, self.frontier = kernel, group, state, frontier
        self.keys, self.tuple_codes = keys, tuple_codes
        self.known = np.zeros(keys, np.bool_)
        self.known[fact_codes] = True
        self.facts = self._facts(fact_codes)
        self.fact_rows = fact_codes
        self.late = self._sort(new, codes)
        values = self._values()
        times = self.tuples[group.ts].to_physical().to_numpy()
        self.times = times
        self.assignment = kernel.assigner.assign(times, values, self.starts, self.known, self.facts)
        old_ids = state[GROUPS][_ID].to_numpy()
        first, last = self.assignment.first, self.assignment.last
        self.groups = form_groups(first, last, self.starts, group_codes, old_ids, keys)
        self.now = None
        if frontier.value is not None:
            self.now = physical_value(frontier.value, new.schema[group.ts])

    def _facts(self, codes: Ints) -> Facts:
        """The facts of each key, undefined for new keys."""
        facts = {}
        for name in self.state[FACTS].columns:
            if name not in self.group.by:
                known = self.state[FACTS][name].to_physical().to_numpy()
                facts[name] = np.zeros(self.keys, known.dtype)
                facts[name][codes] = known
        return facts

    def _sort(self, new: pl.DataFrame, codes: Ints) -> Ints:
        """Sort the new tuples by key; returns the indices of late ones."""
        order, self.starts = group_order(codes, self.keys)
        self.tuples, self.arrival = new[order], order.astype(np.int64)
        if GREATEST not in self.facts:
            return np.empty(0, np.int64)
        values = self.tuples[self.kernel.value].to_physical().to_numpy()
        late = late_tuples(values, self.starts, self.known, self.facts[GREATEST])
        if late.any():
            self.tuples, self.arrival = self.tuples.filter(~late), self.arrival[~late]
            counts = np.add.reduceat(np.append(~late, 0), self.starts[:-1]) * (
                np.diff(self.starts) > 0
            )
            self.starts = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
        return np.sort(order[late]).astype(np.int64)

    def _values(self) -> pl.Series:
        """The axis value of each tuple; for runs, 1 where one starts."""
        if not isinstance(self.kernel.assigner, ByRun):
            return self.tuples[self.kernel.value]
        by = self.group.by
        both = pl.concat([self.state[GROUPS].select(by), self.tuples.select(by)])
        starts = np.diff(encode_keys(both, by).codes, prepend=-1) != 0
        return pl.Series(starts[self.state[GROUPS].height :].astype(np.int64))

    def results(self) -> Results:
        """The results in order, and the new state."""
        old, groups = self.state[GROUPS], self.groups
        source = groups.rows(old.height)
        rows = self._rows(source)
        ends = self._ends(rows)
        partials = self._scan(source, rows.starts)
        trigger = self.kernel.trigger
        reports = trigger.reports(rows, ends, self.now, self.frontier.final)
        group_of = np.repeat(np.arange(len(groups.key)), np.diff(rows.starts))
        rank = np.lexsort(
            (groups.id[group_of[reports.row]], reports.order, reports.phase, reports.moment)
        )
        keys = self._keys(source[rows.starts[:-1]])
        kept, content = ~ends.closed, self._content()
        last = rows.starts[1:] - 1
        positions = self._positions(source, rows.starts)
        state = {
            GROUPS: keyed_frame(
                keys,
                {
                    _ID: pl.Series(groups.id),
                    _N: pl.Series(rows.count[last]),
                    _TIME: self._time(rows.time[last]),
                    _REPORTED: pl.Series(trigger.reported(rows, reports)),
                    **{name: column.gather(last) for name, column in partials.items()},
                    **{name: column.gather(last) for name, column in positions.items()},
                },
            ).filter(kept),
            FACTS: self._new_facts(),
            TUPLES: content.retained(groups.key[kept], groups.id[kept], self.kernel.distinct),
        }
        row = reports.row[rank]
        return EarlyResults(
            keys=keys,
            key=group_of[row],
            ts=self._time(reports.moment[rank]),
            frontier=self.frontier,
            state=state,
            late=self.late,
            timers=self._timers(rows, ends),
            cause=np.where(reports.phase == WITH, reports.order // 2, -1)[rank],
            phase=reports.phase[rank],
            counted=self.kernel.counted,
            partials={name: column.gather(row) for name, column in partials.items()},
            positions={name: column.gather(row) for name, column in positions.items()},
            windows=Windows(
                self._slices(content, source[row], group_of[row]),
                np.arange(content.tuples.height),
                reports.timed_out[rank],
            ),
            content=content.tuples,
        )

    def _content(self) -> RetainedTuples:
        """The tuples retained for functions that need all of them."""
        columns, none = [*self.group.by, *self.kernel.content], np.empty(0, np.int64)
        if not self.kernel.content:
            return RetainedTuples.of(self.state[TUPLES], none, self.state[TUPLES], none, self.keys)
        codes = np.repeat(np.arange(self.keys), np.diff(self.starts))
        new = with_windows(self.tuples.select(columns), self.assignment.first, self.assignment.last)
        return RetainedTuples.of(self.state[TUPLES], self.tuple_codes, new, codes, self.keys)

    def _slices(self, content: RetainedTuples, source: Ints, group: Ints) -> Slices:
        """The tuples of the emitted windows, if a function needs them."""
        if not self.kernel.content:
            empty = np.zeros(len(source), np.uint32)
            return Slices(empty, empty, empty, np.zeros(len(source), np.uint8))
        new = source - self.state[GROUPS].height
        return content.slices(self.groups.key[group], self.groups.id[group], new)

    def _keys(self, rows: Ints) -> pl.DataFrame:
        """Group-by fields of these rows of windows and tuples."""
        by = self.group.by
        both = pl.concat([self.state[GROUPS].select(by), self.tuples.select(by)])
        return both[rows] if by else both

    def _time(self, physical: Numbers) -> pl.Series:
        return pl.Series(physical).cast(self.tuples.schema[self.group.ts])

    def _rows(self, source: Ints) -> Rows:
        """The history of each window in this step: its stored row, then each new tuple."""
        old = self.state[GROUPS]
        n, starts = old.height, self.groups.starts
        times = np.concatenate([old[_TIME].to_physical().to_numpy(), self.times])
        ones = np.ones(len(self.times), np.int64)
        counts = np.concatenate([old[_N].to_numpy(), ones])[source]
        sums = np.concatenate([[0], np.cumsum(counts)])
        running = sums[1:] - np.repeat(sums[starts[:-1]], np.diff(starts))
        reported = np.concatenate([old[_REPORTED].to_numpy(), np.zeros(len(ones), np.bool_)])
        return Rows(
            starts=starts,
            key=np.repeat(self.groups.key, np.diff(starts)),
            time=times[source],
            count=running,
            arrival=np.concatenate([np.full(n, -1), self.arrival])[source],
            old=source < n,
            reported=reported[source],
        )

    def _ends(self, rows: Rows) -> Ends:
        """Which windows close in this step, and when."""
        groups, closing = self.groups, self.kernel.assigner.closing
        last = rows.starts[1:] - 1
        number = len(groups.key)
        closed, timed_out = np.zeros(number, np.bool_), np.zeros(number, np.bool_)
        moment, phase, order = rows.time[last], np.full(number, BEFORE), groups.key
        if closing == FRONTIER:
            assert self.kernel.axis is not None
            axis = self.kernel.axis
            ends = axis.values(groups.id * axis.advance + axis.size)
            moment = ends.to_physical().to_numpy()
            closed = moment <= self.now if self.now is not None else closed
        elif closing == NEXT:
            closed = groups.after >= 0
            moment = self.times[groups.after] if len(self.times) else moment
            # Even: just before the results of the tuple that closes the window, which are odd.
            order = 2 * self.arrival[groups.after] if len(self.arrival) else order
            phase = np.full(number, WITH)
        elif closing == FULL:
            full = rows.count[last] == self.kernel.assigner.full
            order = np.where(full, 2 * rows.arrival[last] + 1, order)
            phase = np.where(full, WITH, BEFORE)
            if self.kernel.timeout is not None:
                due = rows.time[last] + rows.time.dtype.type(self.kernel.timeout)
                passed = due <= self.now if self.now is not None else timed_out
                timed_out = ~full & ((groups.after >= 0) | passed)
                moment = np.where(timed_out, due, moment)
            closed = full | timed_out
        return Ends(closed, moment, phase, order, timed_out)

    def _scan(self, source: Ints, starts: Ints) -> dict[str, pl.Series]:
        """The running partial results of each window."""
        lifted = lift(self.tuples, self.kernel.functions)
        old = self.state[GROUPS]
        found: dict[str, pl.Series] = {}
        for number, (function, _) in enumerate(self.kernel.functions):
            if function.partial is not None:
                names = partials_of(number, lifted)
                columns = [
                    pl.concat([old[name], lifted[name].cast(old.schema[name])]).gather(source)
                    for name in names
                ]
                scanned = function.partial.scan(columns, starts)
                found |= {
                    name: column.cast(old.schema[name])
                    for name, column in zip(names, scanned, strict=True)
                }
        return found | {distinct_column(n): self._count_new(n, source) for n in self.kernel.counted}

    def _count_new(self, number: int, source: Ints) -> pl.Series:
        """The running number of distinct values of each window."""
        stored = self.state[GROUPS][distinct_column(number)].to_numpy()
        first = self.tuples[new_from(number)].to_numpy()
        starts = self.groups.starts
        return pl.Series(running_counts(stored, first, source, self.groups.id, starts))

    def _positions(self, source: Ints, starts: Ints) -> dict[str, pl.Series]:
        """Positions of the first and the newest tuple of each window, running."""
        if POSITION not in self.tuples.columns:
            return {}
        old, own = self.state[GROUPS], self.tuples[POSITION]
        found = {}
        for name in (FIRST, LAST):
            before = old[name] if name in old.columns else own.clear()
            found[name] = pl.concat([before, own]).gather(source)
        found[FIRST] = found[FIRST].gather(np.repeat(starts[:-1], np.diff(starts)))
        return found

    def _new_facts(self) -> pl.DataFrame:
        """The facts of all stored keys after the step."""
        after = self.assignment.facts
        if not after:
            return self.state[FACTS].clear()
        busy = np.flatnonzero(np.diff(self.starts) > 0)
        idle = ~np.isin(self.fact_rows, busy)
        rows = self._keys(self.state[GROUPS].height + self.starts[busy])
        schema = self.state[FACTS].schema
        columns = {name: pl.Series(after[name][busy]).cast(schema[name]) for name in after}
        return pl.concat([self.state[FACTS].filter(idle), keyed_frame(rows, columns)])

    def _timers(self, rows: Rows, ends: Ends) -> Timers | None:
        """Timers: when windows with new tuples fire or close, though no tuple arrives."""
        busy = ~ends.closed & (self.groups.hi > self.groups.lo)
        due: list[Numbers] = []
        if self.kernel.assigner.closing == FRONTIER:
            due.append(ends.moment)
        if self.kernel.timeout is not None:
            time = rows.time[rows.starts[1:] - 1]
            due.append(time + time.dtype.type(self.kernel.timeout))
        if (report := self.kernel.trigger.next_report(rows)) is not None:
            due.append(report)
        if not due:
            return None
        which = np.flatnonzero(busy)
        return Timers(np.tile(which, len(due)), np.concatenate([d[which] for d in due]))
