"""Operators that take tuples one by one, with a state for each key."""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import polars as pl

from boxcars.kernels.columns.frames import whole
from boxcars.kernels.columns.ranks import rank_names, ranks_of, with_ranks
from boxcars.kernels.columns.system_columns import POSITION, mixed
from boxcars.kernels.contract import Frontier, Order, State, physical_value
from boxcars.kernels.state import keyed_lsm
from boxcars.kernels.user.operator import INPUT, Leaving, Operator, called
from boxcars.kernels.windows.busy_keys import CALENDAR, shared_calendar
from boxcars.model.problem import BoxcarsError, Wrong, nearest
from boxcars.model.schema import Schema
from boxcars.model.types import Type

Row = dict[str, Any]
Rows = Iterable[Row] | None
Key = tuple[Any, ...]

Place = tuple[Any, ...]
"""Where a tuple stands: its order value, then its hidden columns."""

_ENTRIES, _NEXT = "entries", "next"
_NUMBER, _DUE, _CAME = "__number", "__due", "__came"
_TIME, _TUPLE, _END = 0, 1, 2
"""What made rows leave; of one moment, what is due goes before tuples, and the end comes last."""
_NAN = float("nan")


class PerKey(Operator):
    """An operator of your own that takes tuples one by one, with a state for each key.

    ``keeps`` has the fields of the state and their types; each is None for a key that is new. A key
    whose fields are all None again is forgotten. Rows that leave need not have the fields of ``by``
    and the order attribute: these are filled in. A box with ``by`` runs in many places, so its rows
    have the time at which they leave and no other.

    >>> class Changes(PerKey):
    ...     keeps = {"price": "float"}
    ...
    ...     def on_tuple(self, state, row):
    ...         before, state["price"] = state["price"], row["price"]
    ...         return [row] if before != row["price"] else []
    """

    keeps: ClassVar[Mapping[str, str | Type | pl.DataType]] = {}

    def on_train(self, state: State, train: pl.DataFrame) -> tuple[Leaving, State]:
        """Not called: tuples come one by one."""
        raise NotImplementedError

    def on_tuple(self, state: Row, row: Row) -> Rows:
        """Take in a tuple, change the state of its key in place, give the rows that leave."""
        raise NotImplementedError

    def due(self, state: Row) -> Order | None:
        """When :meth:`on_time` is to be called for this key; asked after each call."""
        return None

    def on_time(self, state: Row, frontier: Frontier) -> Rows:
        """The time that was due has come; or, where ``frontier.final``, the end of the input."""
        return None


@dataclass
class _Entry:
    """What is known of a key: its number, counted as keys come, its state and when it is due.

    ``came`` is the place of its first tuple, which tells it from keys elsewhere. ``noted`` is the
    time at which the calendar will tell that it is busy.
    """

    number: int
    state: Row
    came: Place
    due: Any = None
    noted: Any = None


@dataclass(frozen=True)
class TupleDriver:
    """Drives an operator that takes tuples: what is due goes before tuples of that moment."""

    name: str
    operator: PerKey
    fields: Mapping[str, Type]
    by: Sequence[str]
    schema: Schema

    def start(self) -> State:
        """No keys."""
        for name in self.operator.keeps:
            if name in self.by:
                raise Wrong(f"{self.name} keeps '{name}', which is in by.")
        rows = {_ENTRIES: pl.DataFrame(schema=self._dtypes())}
        return {**keyed_lsm.start(rows), _NEXT: _counter(0, ended=False)}

    def advance(
        self, state: State, train: pl.DataFrame, frontier: Frontier
    ) -> tuple[list[Leaving], State]:
        """Go through the tuples, then let time pass up to the frontier."""
        number, ended = state[_NEXT].row(0)
        ending = frontier.final and not ended and self._hears_time
        busy, calendar = self._busy(state, train, frontier, ending)
        known = keyed_lsm.take(state, [_ENTRIES], busy)[_ENTRIES]
        hidden = _hidden(train) or _hidden(known)
        turn = _Turn(self, self._entries(known, list(hidden)), number)
        came = train.select(self.schema.ts, *_hidden(train)).iter_rows()
        bare = train.drop(*_hidden(train))
        for row, place in zip(bare.iter_rows(named=True), came, strict=True):
            turn.wake(place[0])
            turn.take(row, place)
        if frontier.value is not None:
            turn.wake(frontier.value)
        if ending:
            turn.end(frontier)
        rows = self._frame(turn.entries, hidden)
        hashes = keyed_lsm.hashes_of(rows, self.by)
        kept = keyed_lsm.put(state, {_ENTRIES: rows}, {_ENTRIES: hashes}, busy)
        new = np.array([entry.due not in (None, entry.noted) for entry in turn.entries.values()])
        if new.any():
            due = rows.filter(new)[_DUE].to_physical().to_numpy()
            calendar = keyed_lsm.remind(calendar, due, hashes[new])
        if calendar is not None:
            kept = {**kept, CALENDAR: calendar}
        next_ = _counter(turn.next, ended or frontier.final)
        return [self._train(turn, hidden)], {**kept, _NEXT: next_}

    def share(self, states: Sequence[State], mine: Callable[[pl.DataFrame], pl.Series]) -> State:
        """All that is known of some keys, in the order in which they came."""
        parts = [keyed_lsm.take(state, [_ENTRIES], keyed_lsm.all_keys(state)) for state in states]
        rows = whole([part[_ENTRIES] for part in parts])
        order = [_CAME, *rank_names(rows.columns)]
        rows = rows.filter(mine(rows)).sort(order, nulls_last=False, maintain_order=True)
        rows = rows.with_columns(pl.int_range(pl.len(), dtype=pl.Int64).alias(_NUMBER))
        hashes = keyed_lsm.hashes_of(rows, self.by)
        empty = {_ENTRIES: rows}
        after = keyed_lsm.put(keyed_lsm.start(empty), empty, {_ENTRIES: hashes}, np.unique(hashes))
        ended = any(state[_NEXT]["ended"].item() for state in states)
        return {**after, **shared_calendar(states, after), _NEXT: _counter(rows.height, ended)}

    @property
    def _hears_time(self) -> bool:
        """Whether the class does anything at the end: if not, no key has to be looked at."""
        return type(self.operator).on_time is not PerKey.on_time

    def _busy(
        self, state: State, train: pl.DataFrame, frontier: Frontier, ending: bool
    ) -> tuple[keyed_lsm.Hashes, pl.DataFrame | None]:
        """The hashes of the keys that something may happen to, and what is left of the calendar."""
        busy = [keyed_lsm.hashes_of(train, self.by)]
        calendar = state.get(CALENDAR)
        last: Any = train[self.schema.ts].max()
        times = [time for time in (last, frontier.value) if time is not None]
        if calendar is not None and times:
            now = physical_value(max(times), self.schema[self.schema.ts].dtype)
            reminded, calendar = keyed_lsm.due_by(calendar, now)
            busy.append(reminded)
        if ending:
            busy.append(keyed_lsm.all_keys(state))
        return np.unique(np.concatenate(busy)), calendar

    def _dtypes(self, hidden: Mapping[str, pl.DataType] | None = None) -> dict[str, pl.DataType]:
        order = self.schema[self.schema.ts].dtype
        keeps = {name: self._dtype(name, given) for name, given in self.operator.keeps.items()}
        own = {_NUMBER: pl.Int64(), _DUE: order, _CAME: order, **(hidden or {})}
        return {name: self.schema[name].dtype for name in self.by} | keeps | own

    def _dtype(self, name: str, given: Any) -> pl.DataType:
        if isinstance(given, pl.DataType):
            return given
        try:
            return Type(given).dtype
        except ValueError:
            hint = nearest(str(given), [type_.value for type_ in Type if type_ is not Type.UNKNOWN])
            raise Wrong(f"{self.name} keeps '{name}' as '{given}'.{hint}") from None

    def _entries(self, known: pl.DataFrame, hidden: Sequence[str]) -> dict[Key, _Entry]:
        """What is known of keys, by key."""
        keeps = self.operator.keeps
        return {
            self.key_of(row): _Entry(
                row[_NUMBER],
                {name: row[name] for name in keeps},
                (row[_CAME], *(row[name] for name in hidden)),
                row[_DUE],
                row[_DUE],
            )
            for row in known.iter_rows(named=True)
        }

    def key_of(self, row: Row) -> Key:
        """The key of a tuple; what is not a number is one key."""
        return tuple(_NAN if row[name] != row[name] else row[name] for name in self.by)

    def _frame(
        self, entries: Mapping[Key, _Entry], hidden: Mapping[str, pl.DataType]
    ) -> pl.DataFrame:
        """The state of the keys as a frame."""
        dtypes = self._dtypes(hidden)
        values = [
            (
                *key,
                *(entry.state.get(name) for name in self.operator.keeps),
                entry.number,
                entry.due,
                *entry.came,
            )
            for key, entry in entries.items()
        ]
        columns = zip(*values, strict=True) if values else ([] for _ in dtypes)
        return pl.DataFrame(
            [
                self._column(f"{self.name} keeps", name, dtype, list(column))
                for (name, dtype), column in zip(dtypes.items(), columns, strict=True)
            ]
        )

    def _train(self, turn: _Turn, hidden: Mapping[str, pl.DataType]) -> pl.DataFrame:
        """The rows that leave as a train, with ranks and positions where what entered has them.

        Rows of a tuple stand as that tuple does, those of time as the first tuples of their keys.
        """
        what = f"{self.name} gave"
        train = pl.DataFrame(
            [
                self._column(what, name, type_.dtype, [row[name] for row in turn.rows])
                for name, type_ in self.fields.items()
            ]
        )
        order = train.schema[self.schema.ts]
        dtypes = {"why": pl.Int64(), "place": pl.Int64(), _CAME: order, **hidden}
        causes = pl.DataFrame(turn.causes, schema=dtypes, orient="row", strict=False)
        if ranks := ranks_of(causes):
            by_time = pl.when(pl.col("why") != _TUPLE).then(_CAME)
            train = with_ranks(train, [causes["why"], *causes.select(by_time), *ranks])
        if POSITION in hidden:
            moments = train[self.schema.ts].to_physical().to_numpy()
            numbers = [causes[name].to_numpy() for name in (POSITION, "why", "place")]
            places = mixed(*numbers, moments.astype(moments.dtype, copy=True).view(np.int64))
            train = train.with_columns(pl.Series(POSITION, places))
        return train

    @staticmethod
    def _column(what: str, name: str, dtype: pl.DataType, values: list[Any]) -> pl.Series:
        try:
            return pl.Series(name, values, dtype=dtype, strict=True)
        except (TypeError, OverflowError, pl.exceptions.PolarsError):
            wrong = next((v for v in values if not _fits(v, dtype)), values)
            raise BoxcarsError(f"{what} {wrong!r} as '{name}', which is not {dtype}.") from None


class _Turn:
    """One pass over a train: the keys it touches, the rows that leave, who is due when."""

    def __init__(self, driver: TupleDriver, entries: dict[Key, _Entry], number: int) -> None:
        self.driver, self.operator = driver, driver.operator
        self.entries, self.next = entries, number
        self.rows: list[Row] = []
        self.causes: list[Place] = []
        """Of each row: what made it leave, its number among those, and the place of that."""
        self.known = {*driver.fields, *driver.schema.fields, INPUT}
        self.wakes = [(e.due, e.number, key) for key, e in entries.items() if e.due is not None]
        heapq.heapify(self.wakes)

    def take(self, row: Row, place: Place) -> None:
        """Hand over a tuple."""
        key = self.driver.key_of(row)
        entry = self.entries.get(key)
        if entry is None:
            entry = _Entry(self.next, dict.fromkeys(self.operator.keeps), place)
            self.next += 1
            self.entries[key] = entry
        self._call(_TUPLE, key, entry, place[0], row, place)

    def wake(self, now: Any) -> None:
        """Call whose time has come."""
        while self.wakes and self.wakes[0][0] <= now:
            due, number, key = heapq.heappop(self.wakes)
            entry = self.entries.get(key)
            if entry is not None and (entry.number, entry.due) == (number, due):
                self._call(_TIME, key, entry, due, Frontier(due), entry.came)

    def end(self, frontier: Frontier) -> None:
        """Tell every key that nothing more will come."""
        for key, entry in sorted(self.entries.items(), key=lambda item: item[1].number):
            self._call(_END, key, entry, frontier.value, frontier, entry.came)

    def _call(
        self, why: int, key: Key, entry: _Entry, now: Any, argument: Any, cause: Place
    ) -> None:
        """Call the operator for a key, and see what it gave and what it keeps."""
        method = "on_tuple" if why == _TUPLE else "on_time"
        place = f"{self.driver.name}.{method}"
        state = entry.state
        found = called(place, _listed, getattr(self.operator, method), state, argument)
        if found:
            filled = {**dict(zip(self.driver.by, key, strict=True)), self.driver.schema.ts: now}
            self.rows += [self._row(place, row, filled) for row in found]
            self.causes += [(why, number, *cause) for number in range(len(found))]
        if all(value is None for value in state.values()):
            del self.entries[key]
            return
        if extra := state.keys() - self.operator.keeps.keys():
            raise BoxcarsError(f"{place} keeps '{min(extra)}', which is not in keeps.")
        due = called(f"{self.driver.name}.due", self.operator.due, state)
        if due == entry.due and why == _TUPLE:
            return
        if due is not None and due <= now and why != _END:
            raise BoxcarsError(
                f"{place} left a state that is due at {due}, but it is {now} already."
            )
        entry.due = due
        if due is not None:
            heapq.heappush(self.wakes, (due, entry.number, key))

    def _row(self, place: str, row: Any, filled: Row) -> Row:
        """A row with all fields of the output and no others."""
        if not isinstance(row, Mapping):
            raise BoxcarsError(f"{place} gave {row!r}, expected rows such as {{name: value}}.")
        whole = {**filled, **row}
        if not self.driver.fields.keys() <= whole.keys():
            missing = next(name for name in self.driver.fields if name not in whole)
            raise BoxcarsError(f"{place} gave a row without '{missing}'.")
        if not row.keys() <= self.known:
            extra = next(name for name in row if name not in self.known)
            hint = nearest(str(extra), self.driver.fields)
            raise BoxcarsError(f"{place} gave the unknown field '{extra}'.{hint}")
        ts = self.driver.schema.ts
        if self.driver.by and whole[ts] != filled[ts]:
            raise BoxcarsError(
                f"{place} gave a row whose '{ts}' is {whole[ts]}, but it is {filled[ts]}: other "
                "keys, elsewhere, can't wait for it. Leave the field out, and it is filled in."
            )
        return whole


def _hidden(frame: pl.DataFrame) -> dict[str, pl.DataType]:
    """The ranks and positions that tuples have."""
    names = [*rank_names(frame.columns), *([POSITION] if POSITION in frame.columns else [])]
    return {name: frame.schema[name] for name in names}


def _listed(call: Any, state: Row, argument: Any) -> Any:
    found = call(state, argument)
    return found if found is None else list(found)


def _counter(number: int, ended: bool) -> pl.DataFrame:
    """The number of the next key, and whether the end has come."""
    return pl.DataFrame({"number": [number], "ended": [ended]})


def _fits(value: Any, dtype: pl.DataType) -> bool:
    try:
        pl.Series([value], dtype=dtype, strict=True)
    except (TypeError, OverflowError, pl.exceptions.PolarsError):
        return False
    return True
