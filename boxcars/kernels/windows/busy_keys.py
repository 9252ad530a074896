"""Per-key windows: a step visits only the busy keys."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import polars as pl

from boxcars.kernels.columns.frames import concat_rows
from boxcars.kernels.columns.keys import factorize
from boxcars.kernels.contract import Frontier, State, physical_value
from boxcars.kernels.state import keyed_lsm
from boxcars.kernels.state.keyed_lsm import Hashes
from boxcars.kernels.windows.window_results import Grouping, Kernel, OwnedRows, Results, Timers

CALENDAR = "calendar"


@dataclass(frozen=True)
class Busy:
    """The busy keys of a step, by hash: those with new tuples, and those with a due timer.

    ``all``: every key is busy, at the end of the input. ``known`` is False before the first step,
    when no key is stored. ``calendar`` has the remaining timers.
    """

    keys: Hashes
    all: bool
    known: bool
    calendar: pl.DataFrame | None

    @classmethod
    def of(
        cls, state: State, new: Hashes, time: pl.DataType, frontier: Frontier, flush: bool
    ) -> Busy:
        """The busy keys of a step; with ``flush`` every key is busy at the end of the input."""
        calendar = state.get(CALENDAR)
        everything = flush and frontier.final
        if not keyed_lsm.has_keys(state):
            return cls(np.empty(0, np.uint64), everything, False, calendar)
        busy = [new[factorize(new)[1]]]
        if everything:
            busy.append(keyed_lsm.all_keys(state))
        if calendar is not None and frontier.value is not None:
            due, calendar = keyed_lsm.split_due(calendar, physical_value(frontier.value, time))
            busy.append(due)
        return cls(np.unique(np.concatenate(busy)), everything, True, calendar)

    def or_first_keys(self, hashes: Hashes) -> Hashes:
        """These keys; if none was stored before, the given ones."""
        return self.keys if self.known else np.unique(hashes)

    def calendar_with(self, timers: Timers | None, hash_of: Hashes | None) -> State:
        """The calendar with further timers; ``hash_of`` is None where there is a single key."""
        calendar = self.calendar
        if timers is not None:
            key = timers.key
            hashes = np.zeros(len(key), np.uint64) if hash_of is None else hash_of[key]
            calendar = keyed_lsm.add_timers(calendar, timers.due, hashes)
        return {} if calendar is None else {CALENDAR: calendar}


@dataclass(frozen=True)
class ByKey:
    """Runs a window kernel on the rows of busy keys alone.

    With ``flush`` every key is busy at the end of the input.
    """

    kernel: Kernel
    flush: bool

    def start(self, group: Grouping, tuples: pl.DataFrame) -> State:
        """The empty state."""
        return keyed_lsm.start(self.kernel.start(group, tuples))

    def close(
        self, group: Grouping, state: State, new: pl.DataFrame, frontier: Frontier
    ) -> Results:
        """Run the kernel on the busy keys."""
        names = _names(state)
        new_hashes = keyed_lsm.hashes_of(new, group.by)
        busy = Busy.of(state, new_hashes, new.schema[group.ts], frontier, self.flush)
        old = keyed_lsm.take(state, names, busy.keys)
        results = self.kernel.close(group, old, new, frontier)
        rows = {name: results.state[name] for name in names}
        hashes = _hashes(group, rows)
        known = busy.or_first_keys(np.concatenate(list(hashes.values())))
        after = keyed_lsm.put(state, rows, hashes, known)
        hash_of = None
        if group.by and results.timers is not None:
            hash_of = keyed_lsm.hashes_of(results.keys, group.by)
        after = {**after, **busy.calendar_with(results.timers, hash_of)}
        return replace(results, state=after)

    def share(self, group: Grouping, states: Sequence[State], owned: OwnedRows) -> State:
        """Merge the states of several instances, keeping only the keys this instance owns."""
        names = _names(states[0])
        parts = [keyed_lsm.take(state, names, keyed_lsm.all_keys(state)) for state in states]
        rows = {}
        for name in names:
            all_rows = concat_rows([part[name] for part in parts])
            rows[name] = all_rows.filter(owned(all_rows))
        hashes = _hashes(group, rows)
        known = np.unique(np.concatenate(list(hashes.values())))
        after = keyed_lsm.put(keyed_lsm.start(rows), rows, hashes, known)
        return {**after, **merged_calendar(states, after)}


def merged_calendar(states: Sequence[State], after: State) -> State:
    """Merge the calendars of several states for the keys of the merged state."""
    calendars = [state[CALENDAR] for state in states if CALENDAR in state]
    if not calendars:
        return {}
    return {CALENDAR: keyed_lsm.merge_calendars(calendars, keyed_lsm.all_keys(after))}


def _hashes(group: Grouping, rows: State) -> dict[str, Hashes]:
    return {name: keyed_lsm.hashes_of(frame, group.by) for name, frame in rows.items()}


def _names(state: State) -> list[str]:
    """Names of the kinds of rows that a key has."""
    return [name for name in state if "." not in name and name != CALENDAR]
