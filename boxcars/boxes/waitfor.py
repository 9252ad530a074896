"""WaitFor: hold tuples until a tuple of another stream releases them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from math import isfinite
from typing import Any, ClassVar

import numpy as np
import polars as pl

from boxcars.boxes.join import SIDES, equal_fields, equality, find_condition, pair
from boxcars.expr import Expr, conjuncts
from boxcars.kernels.columns.ranks import merge_owned, ranks_of, with_ranks
from boxcars.kernels.contract import (
    Frontier,
    OwnedTuples,
    State,
    Stateful,
    Step,
    append_rows,
    earliest,
    split_point,
)
from boxcars.kernels.join.match import KEY, Axis, Condition, Indexed, Input, Limit, find_pairs
from boxcars.kernels.ordering.sorting import later, physical, stored_numbers
from boxcars.kernels.state import keyed_lsm
from boxcars.model.arc import MAIN
from boxcars.model.box import Ports, param
from boxcars.model.problem import a
from boxcars.model.routing import Routing
from boxcars.model.schema import UNKNOWN_SCHEMA, Schema
from boxcars.model.types import Type
from boxcars.model.window import Window

TIMEOUT = "timeout"
"""The port with the tuples that were not released in time."""

_HELD, _CALENDAR, _NEXT = "held", "calendar", "next"
_NUMBER = "__number"
_ROW, _TIME = "__row", "__time"
_LEFT, _RIGHT = f"left.{_ROW}", f"right.{_ROW}"


class WaitFor(Stateful, type="waitfor", icon="⧗"):
    """Hold each left tuple until a tuple of the right stream satisfies ``on`` with it.

    The tuple is emitted once, with its own fields; its order attribute becomes that of the right
    tuple, the first that satisfies ``on``. At equal order values left tuples come before right
    ones. A tuple that has waited for ``timeout`` goes to the output ``timeout`` instead, at that
    time: a right tuple at exactly that time is too late. Tuples that still wait when both inputs
    end go there too, with the time of their timeout, so every left tuple is emitted on one of the
    outputs. In ``on`` fields are written ``left.k`` and ``right.k``. Equalities such as ``left.k =
    right.k`` are looked up by key; without any, every right tuple is compared with every waiting
    left tuple.

    Paper: Aurora's WaitFor (retrospective, 4.2).

    >>> import boxcars as bx
    >>> net = bx.Network("n")
    >>> reads = net.input("reads", ts="t", fields={"t": "int", "car": "int"})
    >>> tolls = net.input("tolls", ts="t", fields={"t": "int", "car": "int"})
    >>> ready, gone = reads.waitfor(tolls, on="left.car = right.car", timeout=30)
    """

    ranks: ClassVar[bool] = True
    waiting: ClassVar[tuple[str, ...]] = SIDES
    arity: ClassVar[tuple[int, int | None]] = (2, 2)

    on: Expr = param("When a right tuple releases a left one.", xml="predicate")
    timeout: int | float = param(
        "How long a tuple waits, in units of the order attribute, seconds for a timestamp."
    )

    @property
    def ports(self) -> tuple[str, ...]:
        """The released tuples, and ``timeout`` with those that were not released."""
        return (MAIN, TIMEOUT)

    def gives_several(self) -> bool:
        """A right tuple may release several left ones."""
        return True

    @property
    def keys(self) -> tuple[tuple[str, str], ...]:
        """The fields of the terms such as ``left.k = right.k``."""
        return tuple(found for term in conjuncts(self.on) if (found := equality(term)))

    def routing(self, port: int, schemas: tuple[Schema, ...]) -> Routing:
        """By the equal fields."""
        if not self.keys:
            return Routing.single("every right tuple may release any left tuple")
        return Routing.key(equal_fields(self.keys, port, schemas))

    def outputs(self, inputs: Ports) -> Mapping[str, Schema]:
        """Both outputs have the fields of the left input."""
        left, right = inputs[0], inputs[1]
        check_timeout(self.timeout, inputs)
        if not (left.known and right.known):
            return dict.fromkeys(self.ports, UNKNOWN_SCHEMA)
        got = inputs.type(self.on, "on", schema=pair(left, right))
        if not Type.BOOL.accepts(got):
            inputs.wrong(f"expected a bool, got {a(got)}.", "on")
        inputs.in_order()
        return dict.fromkeys(self.ports, left)

    def start(self, schemas: tuple[Schema, ...]) -> State:
        """The empty state."""
        waiting = {side: schema.empty() for side, schema in zip(SIDES, schemas, strict=True)}
        return {
            **keyed_lsm.start({_HELD: _numbered(schemas[0].empty(), 0)}),
            _NEXT: _next(0),
            **waiting,
        }

    def step(
        self,
        state: State,
        trains: tuple[pl.DataFrame, ...],
        frontiers: tuple[Frontier, ...],
        schemas: tuple[Schema, ...],
    ) -> Step:
        """Release tuples up to the frontier of both inputs, then time out those that are due."""
        ts, frontier = schemas[0].ts, earliest(frontiers)
        type_ = schemas[0][ts]
        new: list[pl.DataFrame] = []
        rest: dict[str, pl.DataFrame] = {}
        for side, train, schema in zip(SIDES, trains, schemas, strict=True):
            waiting = append_rows(state[side], train)
            order = Axis(schema.ts, type_).column(waiting).to_frame()
            cut = split_point(order, schema.ts, frontier)
            new.append(waiting[:cut])
            rest[side] = waiting[cut:]
        condition = find_condition(self.on, self.keys, schemas)
        new_keys = [_words(tuples, port, condition) for port, tuples in enumerate(new)]
        busy, calendar = _busy(state, new_keys, frontier, type_)
        number = int(state[_NEXT]["number"][0])
        known = keyed_lsm.take(state, [_HELD], busy)[_HELD].sort(_NUMBER)
        held = append_rows(known, _numbered(new[0], number))
        due = later(stored_numbers(held[ts], type_), physical(self.timeout, type_), type_)
        releases = self._find(held, due, new, schemas, condition)
        waits = np.ones(held.height, np.bool_)
        waits[releases[_LEFT].to_numpy()] = False
        expired = waits & _is_due(due, frontier, type_)
        timeouts = pl.Series(ts, due[expired]).cast(type_.dtype)
        waits &= ~expired
        fresh = waits & (held[_NUMBER].to_numpy() >= number)
        rest |= _put(state, held.filter(waits), condition, busy)
        rest[_CALENDAR] = keyed_lsm.add_timers(
            calendar, due[fresh], _words(held.filter(fresh), 0, condition)
        )
        rest[_NEXT] = _next(number + new[0].height)
        released = _released(held, new[1], releases, schemas)
        timed_out = _timed_out(held.filter(expired), timeouts, ts)
        return Step(
            {MAIN: released, TIMEOUT: timed_out}, _output_frontier(frontier, timeouts), rest
        )

    def share(
        self, states: Sequence[State], owned: OwnedTuples, schemas: tuple[Schema, ...]
    ) -> State:
        """The held tuples, and those that wait for the frontier."""
        ts, type_ = schemas[0].ts, schemas[0][schemas[0].ts]
        condition = find_condition(self.on, self.keys, schemas)
        waiting = {
            side: merge_owned([s[side] for s in states], partial(owned, port), schemas[port].ts)
            for port, side in enumerate(SIDES)
        }
        known = [
            keyed_lsm.take(s, [_HELD], keyed_lsm.all_keys(s))[_HELD].sort(_NUMBER) for s in states
        ]
        held = _numbered(merge_owned(known, partial(owned, 0), ts), 0)
        words = _words(held, 0, condition)
        due = later(stored_numbers(held[ts], type_), physical(self.timeout, type_), type_)
        kept = _put(keyed_lsm.start({_HELD: held}), held, condition, np.unique(words))
        calendar = {_CALENDAR: keyed_lsm.add_timers(None, due, words), _NEXT: _next(held.height)}
        return {**kept, **calendar, **waiting}

    def _find(
        self,
        held: pl.DataFrame,
        due: Any,
        new: list[pl.DataFrame],
        schemas: tuple[Schema, ...],
        condition: Condition,
    ) -> pl.DataFrame:
        """Rows of left tuples with the row of the right tuple that releases each, in order."""
        left, right = schemas
        type_ = left[left.ts]
        marks = (due, stored_numbers(new[1][right.ts], type_))
        limit = Limit.of(Window("time", self.timeout), type_)
        limits = (limit, Limit(timed=True, reach=type(limit.reach)(0)))  # right tuples do not wait
        inputs = []
        for port, tuples in enumerate((held, new[1])):
            side, schema = SIDES[port], schemas[port]
            reads = {schema.ts, *(f for f in schema.fields if f"{side}.{f}" in condition.reads)}
            rows = condition.with_keys(tuples, port).select(
                *sorted(reads),
                *([KEY] if condition.dtypes else []),
                pl.Series(_ROW, np.arange(tuples.height)),
                pl.Series(_TIME, marks[port]),
            )
            known = held.height - new[0].height if port == 0 else 0
            axis = Axis(schema.ts, type_)
            old = [Indexed(rows[:known])]
            inputs.append(Input(axis, limits[port], old, rows[known:], rows.clear()))
        in_time = pl.col(f"left.{_TIME}") > pl.col(f"right.{_TIME}")
        found = [
            pairs.filter(in_time).group_by(_LEFT).agg(pl.col(_RIGHT).min())
            for pairs in find_pairs(inputs[0], inputs[1], condition)
        ]
        return pl.concat(found).group_by(_LEFT).agg(pl.col(_RIGHT).min()).sort(_RIGHT, _LEFT)


def _released(
    held: pl.DataFrame, right: pl.DataFrame, releases: pl.DataFrame, schemas: tuple[Schema, ...]
) -> pl.DataFrame:
    """The released tuples, each with the time and the rank of the right tuple."""
    times = right[schemas[1].ts].gather(releases[_RIGHT]).cast(schemas[0][schemas[0].ts].dtype)
    released = held[releases[_LEFT]].drop(_NUMBER).with_columns(times.alias(schemas[0].ts))
    if ranks := ranks_of(right):
        released = with_ranks(released, [rank.gather(releases[_RIGHT]) for rank in ranks])
    return released


def _timed_out(tuples: pl.DataFrame, timeouts: pl.Series, ts: str) -> pl.DataFrame:
    """The tuples that timed out, each at the time of its timeout."""
    if ranks := ranks_of(tuples):
        tuples = with_ranks(tuples, [tuples[ts], *ranks])
    return tuples.drop(_NUMBER).with_columns(timeouts)


def _numbered(tuples: pl.DataFrame, first: int) -> pl.DataFrame:
    """Number tuples in arrival order, so that those of busy keys can be taken out alone."""
    numbers = pl.int_range(first, first + tuples.height, dtype=pl.Int64, eager=True)
    return tuples.with_columns(numbers.alias(_NUMBER))


def _next(number: int) -> pl.DataFrame:
    return pl.DataFrame({"number": [number]})


def _words(tuples: pl.DataFrame, port: int, condition: Condition) -> keyed_lsm.Hashes:
    """The keys as words, the same for both inputs; tuples without a key share one."""
    if not (condition.dtypes and tuples.height):
        return np.zeros(tuples.height, np.uint64)
    return condition.with_keys(tuples, port)[KEY].fill_null(0).to_numpy()


def _busy(
    state: State, new_keys: list[keyed_lsm.Hashes], frontier: Frontier, type_: Type
) -> tuple[keyed_lsm.Hashes, pl.DataFrame | None]:
    """The keys with new tuples or a due timeout, and the rest of the calendar."""
    calendar = state.get(_CALENDAR)
    if frontier.final:
        new_keys = [*new_keys, keyed_lsm.all_keys(state)]
    elif calendar is not None and frontier.value is not None:
        now = stored_numbers(pl.Series([frontier.value], dtype=type_.dtype), type_)[0]
        due, calendar = keyed_lsm.split_due(calendar, now)
        new_keys = [*new_keys, due]
    return np.unique(np.concatenate(new_keys)), calendar


def _put(
    state: State, held: pl.DataFrame, condition: Condition, busy: keyed_lsm.Hashes
) -> dict[str, pl.DataFrame]:
    """The tiers with these as the tuples of the busy keys."""
    found = keyed_lsm.put(state, {_HELD: held}, {_HELD: _words(held, 0, condition)}, busy)
    return {name: frame for name, frame in found.items() if name == _HELD or "." in name}


def _is_due(due: Any, frontier: Frontier, type_: Type) -> Any:
    """Whether timeouts are due; at the end of the input all are."""
    if frontier.final or frontier.value is None:
        return np.full(len(due), frontier.final)
    return due <= stored_numbers(pl.Series([frontier.value], dtype=type_.dtype), type_)[0]


def _output_frontier(frontier: Frontier, timeouts: pl.Series) -> Frontier:
    """The frontier of the inputs; at the end of the input, not before the last timeout."""
    if not (frontier.final and len(timeouts)):
        return frontier
    last: Any = timeouts[-1]
    return Frontier(last if frontier.value is None else max(last, frontier.value), final=True)


def check_timeout(timeout: int | float, inputs: Ports) -> None:
    """Check that a timeout is above 0, and an integer where the order attribute is."""
    schema = inputs[0]
    if not isfinite(timeout) or timeout <= 0:
        inputs.wrong(f"expected a number above 0, got {timeout}.", "timeout")
    elif schema.known and schema[schema.ts] is Type.INT and timeout != int(timeout):
        inputs.wrong(
            f"timeout counts the int '{schema.ts}', so it must be a whole number.", "timeout"
        )
