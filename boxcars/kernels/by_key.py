"""Windows that belong to a key each: only those of busy keys are looked at."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import polars as pl

from boxcars.kernels import tiers
from boxcars.kernels.closed import Grouping, Kernel, Own, Results
from boxcars.kernels.kernel import Frontier, State, physical_value
from boxcars.kernels.keys import factorize
from boxcars.kernels.parking import HEADS, TUPLES, Parking
from boxcars.kernels.segments import whole
from boxcars.kernels.tiers import Hashes

_CALENDAR = "calendar"
_NOTHING: State = {}


@dataclass(frozen=True)
class ByKey:
    """A kernel that sees the rows of busy keys alone: those of new tuples, and those reminded of.

    With ``flush`` all keys are busy at the end of the input. With ``parking`` the kernel sees rows
    instead of tuples, and of keys with many only a few.
    """

    kernel: Kernel
    flush: bool
    parking: Parking | None = None

    def start(self, group: Grouping, tuples: pl.DataFrame) -> State:
        """No keys."""
        return tiers.start((self.parking or self.kernel).start(group, tuples))

    def close(
        self, group: Grouping, state: State, new: pl.DataFrame, frontier: Frontier
    ) -> Results:
        """What the kernel does with the busy keys."""
        names = _names(state)
        parking = self.parking
        new = new if parking is None else parking.lift(new)
        calendar = state.get(_CALENDAR)
        known = tiers.has_keys(state)
        busy = np.empty(0, np.uint64)
        if known:
            busy, calendar = self._busy(group, state, new, frontier, calendar)
        old = tiers.take(state, names, busy)
        if parking is None:
            results = self.kernel.close(group, old, new, frontier)
            rows, away = results.state, _NOTHING
            hashes = {name: tiers.hashes_of(rows[name], group.by) for name in names}
        else:
            taken = parking.take(state, group, old, new, self.flush and frontier.final)
            results = self.kernel.close(group, {TUPLES: taken.rows}, new, frontier)
            put = parking.put(state, group, taken, results.state[TUPLES], new.height)
            rows, away = {TUPLES: put.tuples.rows, HEADS: put.heads.rows}, put.away
            hashes = {TUPLES: put.tuples.hashes, HEADS: put.heads.hashes}
        if not known:
            busy = np.unique(np.concatenate(list(hashes.values())))
        after = {**tiers.put(state, rows, hashes, busy), **away}
        if (reminder := results.reminder) is not None:
            key_hashes = tiers.hashes_of(results.keys, group.by)
            which = key_hashes[reminder.key] if group.by else np.zeros(len(reminder.key), np.uint64)
            calendar = tiers.remind(calendar, reminder.due, which)
        if calendar is not None:
            after = {**after, _CALENDAR: calendar}
        return replace(results, state=after)

    def share(self, group: Grouping, states: Sequence[State], mine: Own) -> State:
        """All that is known of some keys."""
        names = _names(states[0])
        parts = [tiers.take(state, names, tiers.all_keys(state)) for state in states]
        rows = {}
        for name in names:
            all_rows = whole([part[name] for part in parts])
            rows[name] = all_rows.filter(mine(all_rows))
        hashes = {name: tiers.hashes_of(frame, group.by) for name, frame in rows.items()}
        busy = np.unique(np.concatenate(list(hashes.values())))
        after = tiers.put(tiers.start(rows), rows, hashes, busy)
        if self.parking is not None:
            after = {**after, **self.parking.share(group, states, rows[HEADS])}
        calendars = [state[_CALENDAR] for state in states if _CALENDAR in state]
        if calendars:
            after = {**after, _CALENDAR: tiers.share_calendar(calendars, busy)}
        return after

    def _busy(
        self,
        group: Grouping,
        state: State,
        new: pl.DataFrame,
        frontier: Frontier,
        calendar: pl.DataFrame | None,
    ) -> tuple[Hashes, pl.DataFrame | None]:
        """The hashes of the keys that are busy, and what is left of the calendar."""
        hashes = tiers.hashes_of(new, group.by)
        busy = [hashes[factorize(hashes)[1]]]
        if self.flush and frontier.final:
            busy.append(tiers.all_keys(state))
        if calendar is not None and frontier.value is not None:
            now = physical_value(frontier.value, new.schema[group.ts])
            reminded, calendar = tiers.due_by(calendar, now)
            busy.append(reminded)
        return np.unique(np.concatenate(busy)), calendar


def _names(state: State) -> list[str]:
    """The kinds of rows that a key has."""
    return [name for name in state if "." not in name and name != _CALENDAR]
