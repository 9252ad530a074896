"""Windows that belong to a key each: only those of busy keys are looked at."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import polars as pl

from boxcars.kernels.columns.frames import whole
from boxcars.kernels.columns.keys import factorize
from boxcars.kernels.contract import Frontier, State, physical_value
from boxcars.kernels.state import keyed_lsm
from boxcars.kernels.state.keyed_lsm import Hashes
from boxcars.kernels.windows.window_results import Grouping, Kernel, Own, Reminder, Results

CALENDAR = "calendar"


@dataclass(frozen=True)
class Busy:
    """The keys that are busy in a step, by hash: those of new tuples, and those reminded of.

    At the end of the input ``all`` may be. Before the first step there are none, since none is
    known. ``calendar`` is what is left of it.
    """

    keys: Hashes
    all: bool
    known: bool
    calendar: pl.DataFrame | None

    @classmethod
    def of(
        cls, state: State, new: Hashes, time: pl.DataType, frontier: Frontier, flush: bool
    ) -> Busy:
        """Those of a step with ``new`` tuples; with ``flush`` all are at the end of the input."""
        calendar = state.get(CALENDAR)
        everything = flush and frontier.final
        if not keyed_lsm.has_keys(state):
            return cls(np.empty(0, np.uint64), everything, False, calendar)
        busy = [new[factorize(new)[1]]]
        if everything:
            busy.append(keyed_lsm.all_keys(state))
        if calendar is not None and frontier.value is not None:
            reminded, calendar = keyed_lsm.due_by(calendar, physical_value(frontier.value, time))
            busy.append(reminded)
        return cls(np.unique(np.concatenate(busy)), everything, True, calendar)

    def or_new(self, hashes: Hashes) -> Hashes:
        """These keys; if none was known, those that are by now."""
        return self.keys if self.known else np.unique(hashes)

    def calendar_with(self, reminder: Reminder | None, hash_of: Hashes | None) -> State:
        """The calendar, if there is one, with more entries; None as hashes: there is one key."""
        calendar = self.calendar
        if reminder is not None:
            key = reminder.key
            hashes = np.zeros(len(key), np.uint64) if hash_of is None else hash_of[key]
            calendar = keyed_lsm.remind(calendar, reminder.due, hashes)
        return {} if calendar is None else {CALENDAR: calendar}


@dataclass(frozen=True)
class ByKey:
    """A kernel that sees the rows of busy keys alone.

    With ``flush`` all keys are busy at the end of the input.
    """

    kernel: Kernel
    flush: bool

    def start(self, group: Grouping, tuples: pl.DataFrame) -> State:
        """No keys."""
        return keyed_lsm.start(self.kernel.start(group, tuples))

    def close(
        self, group: Grouping, state: State, new: pl.DataFrame, frontier: Frontier
    ) -> Results:
        """What the kernel does with the busy keys."""
        names = _names(state)
        came = keyed_lsm.hashes_of(new, group.by)
        busy = Busy.of(state, came, new.schema[group.ts], frontier, self.flush)
        old = keyed_lsm.take(state, names, busy.keys)
        results = self.kernel.close(group, old, new, frontier)
        rows = {name: results.state[name] for name in names}
        hashes = _hashes(group, rows)
        known = busy.or_new(np.concatenate(list(hashes.values())))
        after = keyed_lsm.put(state, rows, hashes, known)
        hash_of = None
        if group.by and results.reminder is not None:
            hash_of = keyed_lsm.hashes_of(results.keys, group.by)
        after = {**after, **busy.calendar_with(results.reminder, hash_of)}
        return replace(results, state=after)

    def share(self, group: Grouping, states: Sequence[State], mine: Own) -> State:
        """All that is known of some keys."""
        names = _names(states[0])
        parts = [keyed_lsm.take(state, names, keyed_lsm.all_keys(state)) for state in states]
        rows = {}
        for name in names:
            all_rows = whole([part[name] for part in parts])
            rows[name] = all_rows.filter(mine(all_rows))
        hashes = _hashes(group, rows)
        known = np.unique(np.concatenate(list(hashes.values())))
        after = keyed_lsm.put(keyed_lsm.start(rows), rows, hashes, known)
        return {**after, **shared_calendar(states, after)}


def shared_calendar(states: Sequence[State], after: State) -> State:
    """What the calendars of several states say of the keys of another."""
    calendars = [state[CALENDAR] for state in states if CALENDAR in state]
    if not calendars:
        return {}
    return {CALENDAR: keyed_lsm.share_calendar(calendars, keyed_lsm.all_keys(after))}


def _hashes(group: Grouping, rows: State) -> dict[str, Hashes]:
    return {name: keyed_lsm.hashes_of(frame, group.by) for name, frame in rows.items()}


def _names(state: State) -> list[str]:
    """The kinds of rows that a key has."""
    return [name for name in state if "." not in name and name != CALENDAR]
