"""Operators that process tuples one by one, with a state for each key."""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import polars as pl

from boxcars.kernels.columns.frames import concat_rows
from boxcars.kernels.columns.ranks import rank_names, ranks_of, with_ranks
from boxcars.kernels.columns.system_columns import POSITION, combine_positions
from boxcars.kernels.contract import Frontier, Order, State, physical_value
from boxcars.kernels.state import keyed_lsm
from boxcars.kernels.user.operator import INPUT, Operator, Output, call_user_code
from boxcars.kernels.windows.busy_keys import CALENDAR, merged_calendar
from boxcars.model.problem import BoxcarsError, Wrong, nearest
from boxcars.model.schema import Schema
from boxcars.model.types import Type

Row = dict[str, Any]
Rows = Iterable[Row] | None
Key = tuple[Any, ...]

Rank = tuple[Any, ...]
"""The rank of a tuple: its order value, then its hidden columns."""

_ENTRIES, _NEXT = "entries", "next"
_NUMBER, _DUE, _FIRST_TIME = "__number", "__due", "__came"
_TIME, _TUPLE, _END = 0, 1, 2
"""What caused output rows. At one time, timers precede tuples, and the end of input is last."""
_NAN = float("nan")


class PerKey(Operator):
    """A user-defined operator over single tuples, with a state for each key.

    ``keeps`` declares the fields of the state and their types; each is None for a new key. A key
    whose fields are all None again is dropped. Output rows may omit the fields of ``by`` and the
    order attribute: these are filled in. A box with ``by`` runs on several instances, so its rows
    must have the time at which they are emitted.

    >>> class Changes(PerKey):
    ...     keeps = {"price": "float"}
    ...
    ...     def on_tuple(self, state, row):
    ...         before, state["price"] = state["price"], row["price"]
    ...         return [row] if before != row["price"] else []
    """

    keeps: ClassVar[Mapping[str, str | Type | pl.DataType]] = {}

    def on_train(self, state: State, train: pl.DataFrame) -> tuple[Output, State]:
        """Not called: tuples are processed one by one."""
        raise NotImplementedError

    def on_tuple(self, state: Row, row: Row) -> Rows:
        """Process a tuple, update the state of its key in place, return the output rows."""
        raise NotImplementedError

    def due(self, state: Row) -> Order | None:
        """When to call :meth:`on_time` for this key; asked after each call."""
        return None

    def on_time(self, state: Row, frontier: Frontier) -> Rows:
        """A timer of this key is due; or, where ``frontier.final``, the input has ended."""
        return None


@dataclass
class _Entry:
    """A key: its number, in order of appearance, its state and its timer.

    ``first_rank`` is the rank of its first tuple, which orders it among keys of other instances.
    ``scheduled`` is the timer that the calendar has for it.
    """

    number: int
    state: Row
    first_rank: Rank
    due: Any = None
    scheduled: Any = None


@dataclass(frozen=True)
class TupleDriver:
    """Drives an operator over tuples: at equal times, timers precede tuples."""

    name: str
    operator: PerKey
    fields: Mapping[str, Type]
    by: Sequence[str]
    schema: Schema

    def start(self) -> State:
        """The empty state."""
        for name in self.operator.keeps:
            if name in self.by:
                raise Wrong(f"{self.name}.keeps has '{name}', which is in by.")
        rows = {_ENTRIES: pl.DataFrame(schema=self._dtypes())}
        return {**keyed_lsm.start(rows), _NEXT: _counter(0, ended=False)}

    def advance(
        self, state: State, train: pl.DataFrame, frontier: Frontier
    ) -> tuple[list[Output], State]:
        """Process the tuples, then advance time to the frontier."""
        number, ended = state[_NEXT].row(0)
        ending = frontier.final and not ended and self._has_on_time
        busy, calendar = self._busy(state, train, frontier, ending)
        known = keyed_lsm.take(state, [_ENTRIES], busy)[_ENTRIES]
        hidden = _hidden(train) or _hidden(known)
        step = _Step(self, self._entries(known, list(hidden)), number)
        ranks = train.select(self.schema.ts, *_hidden(train)).iter_rows()
        bare = train.drop(*_hidden(train))
        for row, rank in zip(bare.iter_rows(named=True), ranks, strict=True):
            step.fire_timers(rank[0])
            step.take(row, rank)
        if frontier.value is not None:
            step.fire_timers(frontier.value)
        if ending:
            step.end(frontier)
        rows = self._frame(step.entries, hidden)
        hashes = keyed_lsm.hashes_of(rows, self.by)
        kept = keyed_lsm.put(state, {_ENTRIES: rows}, {_ENTRIES: hashes}, busy)
        new = np.array(
            [entry.due not in (None, entry.scheduled) for entry in step.entries.values()]
        )
        if new.any():
            due = rows.filter(new)[_DUE].to_physical().to_numpy()
            calendar = keyed_lsm.add_timers(calendar, due, hashes[new])
        if calendar is not None:
            kept = {**kept, CALENDAR: calendar}
        next_ = _counter(step.next, ended or frontier.final)
        return [self._train(step, hidden)], {**kept, _NEXT: next_}

    def share(self, states: Sequence[State], owned: Callable[[pl.DataFrame], pl.Series]) -> State:
        """Merge the states of several instances, keeping the owned keys, in order of appearance."""
        parts = [keyed_lsm.take(state, [_ENTRIES], keyed_lsm.all_keys(state)) for state in states]
        rows = concat_rows([part[_ENTRIES] for part in parts])
        order = [_FIRST_TIME, *rank_names(rows.columns)]
        rows = rows.filter(owned(rows)).sort(order, nulls_last=False, maintain_order=True)
        rows = rows.with_columns(pl.int_range(pl.len(), dtype=pl.Int64).alias(_NUMBER))
        hashes = keyed_lsm.hashes_of(rows, self.by)
        empty = {_ENTRIES: rows}
        after = keyed_lsm.put(keyed_lsm.start(empty), empty, {_ENTRIES: hashes}, np.unique(hashes))
        ended = any(state[_NEXT]["ended"].item() for state in states)
        return {**after, **merged_calendar(states, after), _NEXT: _counter(rows.height, ended)}

    @property
    def _has_on_time(self) -> bool:
        """Whether the class overrides ``on_time``: if not, no key is visited at the end."""
        return type(self.operator).on_time is not PerKey.on_time

    def _busy(
        self, state: State, train: pl.DataFrame, frontier: Frontier, ending: bool
    ) -> tuple[keyed_lsm.Hashes, pl.DataFrame | None]:
        """The hashes of the busy keys, and the rest of the calendar."""
        busy = [keyed_lsm.hashes_of(train, self.by)]
        calendar = state.get(CALENDAR)
        last: Any = train[self.schema.ts].max()
        times = [time for time in (last, frontier.value) if time is not None]
        if calendar is not None and times:
            now = physical_value(max(times), self.schema[self.schema.ts].dtype)
            due, calendar = keyed_lsm.split_due(calendar, now)
            busy.append(due)
        if ending:
            busy.append(keyed_lsm.all_keys(state))
        return np.unique(np.concatenate(busy)), calendar

    def _dtypes(self, hidden: Mapping[str, pl.DataType] | None = None) -> dict[str, pl.DataType]:
        order = self.schema[self.schema.ts].dtype
        keeps = {name: self._dtype(name, given) for name, given in self.operator.keeps.items()}
        own = {_NUMBER: pl.Int64(), _DUE: order, _FIRST_TIME: order, **(hidden or {})}
        return {name: self.schema[name].dtype for name in self.by} | keeps | own

    def _dtype(self, name: str, given: Any) -> pl.DataType:
        if isinstance(given, pl.DataType):
            return given
        try:
            return Type(given).dtype
        except ValueError:
            hint = nearest(str(given), [type_.value for type_ in Type if type_ is not Type.UNKNOWN])
            raise Wrong(f"{self.name}.keeps gives '{name}' the type '{given}'.{hint}") from None

    def _entries(self, known: pl.DataFrame, hidden: Sequence[str]) -> dict[Key, _Entry]:
        """The entries of keys, by key."""
        keeps = self.operator.keeps
        return {
            self.key_of(row): _Entry(
                row[_NUMBER],
                {name: row[name] for name in keeps},
                (row[_FIRST_TIME], *(row[name] for name in hidden)),
                row[_DUE],
                row[_DUE],
            )
            for row in known.iter_rows(named=True)
        }

    def key_of(self, row: Row) -> Key:
        """The key of a tuple; all NaNs are one key."""
        return tuple(_NAN if row[name] != row[name] else row[name] for name in self.by)

    def _frame(
        self, entries: Mapping[Key, _Entry], hidden: Mapping[str, pl.DataType]
    ) -> pl.DataFrame:
        """The entries as a frame."""
        dtypes = self._dtypes(hidden)
        values = [
            (
                *key,
                *(entry.state.get(name) for name in self.operator.keeps),
                entry.number,
                entry.due,
                *entry.first_rank,
            )
            for key, entry in entries.items()
        ]
        columns = zip(*values, strict=True) if values else ([] for _ in dtypes)
        return pl.DataFrame(
            [
                self._column(f"{self.name} stored", name, dtype, list(column))
                for (name, dtype), column in zip(dtypes.items(), columns, strict=True)
            ]
        )

    def _train(self, step: _Step, hidden: Mapping[str, pl.DataType]) -> pl.DataFrame:
        """The output rows as a train, with ranks and positions where the input has them.

        Rows caused by a tuple take its rank; those caused by time take the rank of the first tuple
        of their key.
        """
        what = f"{self.name} returned"
        train = pl.DataFrame(
            [
                self._column(what, name, type_.dtype, [row[name] for row in step.rows])
                for name, type_ in self.fields.items()
            ]
        )
        order = train.schema[self.schema.ts]
        dtypes = {"why": pl.Int64(), "number": pl.Int64(), _FIRST_TIME: order, **hidden}
        causes = pl.DataFrame(step.causes, schema=dtypes, orient="row", strict=False)
        if ranks := ranks_of(causes):
            by_time = pl.when(pl.col("why") != _TUPLE).then(_FIRST_TIME)
            train = with_ranks(train, [causes["why"], *causes.select(by_time), *ranks])
        if POSITION in hidden:
            moments = train[self.schema.ts].to_physical().to_numpy()
            numbers = [causes[name].to_numpy() for name in (POSITION, "why", "number")]
            positions = combine_positions(
                *numbers, moments.astype(moments.dtype, copy=True).view(np.int64)
            )
            train = train.with_columns(pl.Series(POSITION, positions))
        return train

    @staticmethod
    def _column(what: str, name: str, dtype: pl.DataType, values: list[Any]) -> pl.Series:
        try:
            return pl.Series(name, values, dtype=dtype, strict=True)
        except (TypeError, OverflowError, pl.exceptions.PolarsError):
            wrong = next((v for v in values if not _fits(v, dtype)), values)
            raise BoxcarsError(f"{what} {wrong!r} as '{name}', which is not {dtype}.") from None


class _Step:
    """One pass over a train: the keys it touches, the output rows, and the pending timers."""

    def __init__(self, driver: TupleDriver, entries: dict[Key, _Entry], number: int) -> None:
        self.driver, self.operator = driver, driver.operator
        self.entries, self.next = entries, number
        self.rows: list[Row] = []
        self.causes: list[Rank] = []
        """Of each row: its cause, its number among the rows of that cause, and the rank of the
        cause."""
        self.known = {*driver.fields, *driver.schema.fields, INPUT}
        self.timers = [(e.due, e.number, key) for key, e in entries.items() if e.due is not None]
        heapq.heapify(self.timers)

    def take(self, row: Row, rank: Rank) -> None:
        """Process a tuple."""
        key = self.driver.key_of(row)
        entry = self.entries.get(key)
        if entry is None:
            entry = _Entry(self.next, dict.fromkeys(self.operator.keeps), rank)
            self.next += 1
            self.entries[key] = entry
        self._call(_TUPLE, key, entry, rank[0], row, rank)

    def fire_timers(self, now: Any) -> None:
        """Fire the timers that are due."""
        while self.timers and self.timers[0][0] <= now:
            due, number, key = heapq.heappop(self.timers)
            entry = self.entries.get(key)
            if entry is not None and (entry.number, entry.due) == (number, due):
                self._call(_TIME, key, entry, due, Frontier(due), entry.first_rank)

    def end(self, frontier: Frontier) -> None:
        """Notify every key of the end of the input."""
        for key, entry in sorted(self.entries.items(), key=lambda item: item[1].number):
            self._call(_END, key, entry, frontier.value, frontier, entry.first_rank)

    def _call(
        self, why: int, key: Key, entry: _Entry, now: Any, argument: Any, cause: Rank
    ) -> None:
        """Call the operator for a key, and validate its output and its state."""
        method = "on_tuple" if why == _TUPLE else "on_time"
        location = f"{self.driver.name}.{method}"
        state = entry.state
        found = call_user_code(
            location, _call_to_list, getattr(self.operator, method), state, argument
        )
        if found:
            filled = {**dict(zip(self.driver.by, key, strict=True)), self.driver.schema.ts: now}
            self.rows += [self._row(location, row, filled) for row in found]
            self.causes += [(why, number, *cause) for number in range(len(found))]
        if all(value is None for value in state.values()):
            del self.entries[key]
            return
        if extra := state.keys() - self.operator.keeps.keys():
            raise BoxcarsError(f"{location} stored '{min(extra)}', which is not in keeps.")
        due = call_user_code(f"{self.driver.name}.due", self.operator.due, state)
        if due == entry.due and why == _TUPLE:
            return
        if due is not None and due <= now and why != _END:
            raise BoxcarsError(
                f"{location} left a state that is due at {due}, but the time is already {now}."
            )
        entry.due = due
        if due is not None:
            heapq.heappush(self.timers, (due, entry.number, key))

    def _row(self, location: str, row: Any, filled: Row) -> Row:
        """A row with all output fields and no others."""
        if not isinstance(row, Mapping):
            raise BoxcarsError(
                f"{location} returned {row!r}, expected rows such as {{name: value}}."
            )
        full = {**filled, **row}
        if not self.driver.fields.keys() <= full.keys():
            missing = next(name for name in self.driver.fields if name not in full)
            raise BoxcarsError(f"{location} returned a row without '{missing}'.")
        if not row.keys() <= self.known:
            extra = next(name for name in row if name not in self.known)
            hint = nearest(str(extra), self.driver.fields)
            raise BoxcarsError(f"{location} returned the unknown field '{extra}'.{hint}")
        ts = self.driver.schema.ts
        if self.driver.by and full[ts] != filled[ts]:
            raise BoxcarsError(
                f"{location} returned a row whose '{ts}' is {full[ts]}, but the current time is "
                f"{filled[ts]}. Leave the field out, and it is filled in."
            )
        return full


def _hidden(frame: pl.DataFrame) -> dict[str, pl.DataType]:
    """The rank and position columns of tuples."""
    names = [*rank_names(frame.columns), *([POSITION] if POSITION in frame.columns else [])]
    return {name: frame.schema[name] for name in names}


def _call_to_list(call: Any, state: Row, argument: Any) -> Any:
    found = call(state, argument)
    return found if found is None else list(found)


def _counter(number: int, ended: bool) -> pl.DataFrame:
    """The number of the next key, and whether the input has ended."""
    return pl.DataFrame({"number": [number], "ended": [ended]})


def _fits(value: Any, dtype: pl.DataType) -> bool:
    try:
        pl.Series([value], dtype=dtype, strict=True)
    except (TypeError, OverflowError, pl.exceptions.PolarsError):
        return False
    return True
