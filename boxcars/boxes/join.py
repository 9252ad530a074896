"""Join: match the tuples of two streams."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import ClassVar

import polars as pl
from sqlglot import exp

from boxcars.expr import Expr, conjuncts
from boxcars.expr.parse import parse
from boxcars.kernels.columns.frames import concat_rows
from boxcars.kernels.columns.ranks import RANK, merge_owned, rank_names
from boxcars.kernels.columns.system_columns import POSITION
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
from boxcars.kernels.join.match import (
    Axis,
    Condition,
    Indexed,
    Input,
    Limit,
    find_pairs,
    read_window,
    window_state,
)
from boxcars.kernels.state.segments import read_segments
from boxcars.model.arc import LATE, MAIN
from boxcars.model.box import Ports, param
from boxcars.model.ordered_map import Fields
from boxcars.model.problem import a
from boxcars.model.routing import Routing
from boxcars.model.schema import UNKNOWN_SCHEMA, Schema
from boxcars.model.types import Type
from boxcars.model.window import Window

SIDES = ("left", "right")
_SPREAD = 0x1E3779B97F4A7C15
_POSITIVE = 2**63 - 1


class Matching(Stateful):
    """Common base of join and product: two windows, and the pairs that match.

    The tuples of both streams are processed in order; at equal order values the left ones come
    first. Each purges the window of the other stream, is matched with what is left there, and is
    added to its own window.
    """

    ranks: ClassVar[bool] = True
    arity: ClassVar[tuple[int, int | None]] = (2, 2)

    on: Expr = param("The join predicate over left.<field> and right.<field>.", xml="predicate")
    window: Window = param(
        "The greatest distance of two tuples, or the number of tuples each side retains."
    )
    right: Window | None = param(
        "The window of the right tuples; `window` then applies to the left tuples only.",
        default=None,
    )

    def gives_several(self) -> bool:
        """A tuple may match several others."""
        return True

    @property
    def side_ports(self) -> tuple[str, ...]:
        """``late`` has the tuples that arrived after the frontier."""
        return (LATE,)

    @property
    @abstractmethod
    def keys(self) -> tuple[tuple[str, str], ...]:
        """Pairs of fields, left and right, that are equal in every match."""

    def routing(self, port: int, schemas: tuple[Schema, ...]) -> Routing:
        """By the equal fields, otherwise as pairs; tuple windows need a single instance."""
        if "tuples" in (self.window.by, (self.right or self.window).by):
            return Routing.single("its windows count the tuples of all keys")
        if self.keys:
            return Routing.key(equal_fields(self.keys, port, schemas))
        schema = schemas[port]
        read = [f for f in schema.fields if f"{SIDES[port]}.{f}" in self.on.fields]
        return Routing.pairs(((name, schema[name]) for name in read or [schema.ts]), side=port)

    def outputs(self, inputs: Ports) -> Mapping[str, Schema]:
        """The order attribute, then the fields of both sides."""
        left, right = inputs[0], inputs[1]
        if not (left.known and right.known):
            return {MAIN: UNKNOWN_SCHEMA, LATE: UNKNOWN_SCHEMA}
        self._check_window(self.window, inputs, left, "window")
        if self.right is not None:
            self._check_window(self.right, inputs, right, "right")
        both = pair(left, right)
        self._check_on(inputs, both)
        inputs.in_order()
        fields = {_joined(name): type_ for name, type_ in both.fields.items()}
        if left.ts in fields:
            inputs.wrong(
                f"the output would have two fields '{left.ts}': rename the order attribute first.",
                "in",
                0,
            )
        schema = Schema(Fields({left.ts: left[left.ts]} | fields), left.ts)
        return {MAIN: schema, LATE: replace(left, ordered=False)}

    def _check_window(self, window: Window, inputs: Ports, schema: Schema, name: str) -> None:
        if window.by not in ("time", "tuples"):
            inputs.wrong(f"{a(self.type)} needs a time or tuples window, got {window.by}.", name)
            return
        for more in ("advance", "timeout", "slack", "emit", "origin", "flush"):
            if getattr(window, more) != getattr(Window(window.by), more):
                inputs.wrong(f"the window of {a(self.type)} takes only a size.", name, more)
        for where, message in window.problems(schema):
            inputs.wrong(message, name, where)

    def _check_on(self, inputs: Ports, both: Schema) -> Type:
        got = inputs.type(self.on, "on", schema=both)
        if not Type.BOOL.accepts(got):
            inputs.wrong(f"expected a bool, got {a(got)}.", "on")
        return got

    def start(self, schemas: tuple[Schema, ...]) -> State:
        """The empty state."""
        return {
            name: frame
            for side, schema in zip(SIDES, schemas, strict=True)
            for name, frame in _state([Indexed(schema.empty())], schema.empty(), side).items()
        }

    def step(
        self,
        state: State,
        trains: tuple[pl.DataFrame, ...],
        frontiers: tuple[Frontier, ...],
        schemas: tuple[Schema, ...],
    ) -> Step:
        """Match the tuples before the frontier, and drop those that can match no more."""
        frontier, condition = earliest(frontiers), find_condition(self.on, self.keys, schemas)
        type_ = schemas[0][schemas[0].ts]
        inputs = []
        for port, window in enumerate((self.window, self.right or self.window)):
            axis = Axis(schemas[port].ts, type_)
            waiting = append_rows(state[_waiting(SIDES[port])], trains[port])
            cut = split_point(axis.column(waiting).to_frame(), axis.ts, frontier)
            old = read_window(state, SIDES[port], condition, port)
            new = condition.with_keys(waiting[:cut], port)
            inputs.append(Input(axis, Limit.of(window, type_), old, new, waiting[cut:]))
        left, right = inputs
        pairs = [
            _result(found, schemas, bool(self.keys)) for found in find_pairs(left, right, condition)
        ]
        new_state = {
            **_state(left.keep(right, frontiers[1]), left.rest, "left"),
            **_state(right.keep(left, frontiers[0]), right.rest, "right"),
        }
        return Step({MAIN: pl.concat(pairs), LATE: trains[0].clear()}, frontier, new_state)

    def share(
        self, states: Sequence[State], owned: OwnedTuples, schemas: tuple[Schema, ...]
    ) -> State:
        """The windows and the waiting tuples."""
        new: dict[str, pl.DataFrame] = {}
        for port, (side, schema) in enumerate(zip(SIDES, schemas, strict=True)):
            windows = [concat_rows(read_segments(state, side)) for state in states]
            waiting = [state[_waiting(side)] for state in states]
            kept, rest = (
                merge_owned(frames, partial(owned, port), schema.ts)
                for frames in (windows, waiting)
            )
            new |= _state([Indexed(kept)], rest, side)
        return new


class Join(Matching, type="join", icon="⋈"):
    """Match each tuple with nearby tuples of the other stream that satisfy ``on``.

    ``on`` needs at least one equality of two fields; without one, use a ``product``. In ``on``
    fields are written ``left.caller`` and ``right.caller``; in the output they are named
    ``left_caller`` and ``right_caller``, after the order attribute, which is the later of the two.
    With a time window two tuples match if their order attributes differ by less than its size; with
    a tuple window a tuple is matched with the last tuples of the other side. A null equals nothing.

    Paper: StreamCloud's Join (thesis, 2.1.1).

    >>> import boxcars as bx
    >>> net = bx.Network("n")
    >>> calls = net.input("calls", ts="time", fields={"time": "int", "caller": "str"})
    >>> bills = net.input("bills", ts="time", fields={"time": "int", "payer": "str"})
    >>> paid = calls.join(bills, on="left.caller = right.payer", window=bx.time(60))
    """

    @property
    def keys(self) -> tuple[tuple[str, str], ...]:
        """The fields of the terms such as ``left.k = right.k``."""
        return tuple(found for term in conjuncts(self.on) if (found := equality(term)))

    def _check_on(self, inputs: Ports, both: Schema) -> Type:
        got = super()._check_on(inputs, both)
        if got is Type.BOOL and not self.keys:
            inputs.wrong(
                "a join needs an equality such as left.k = right.k; for other predicates use "
                "product.",
                "on",
            )
        return got


def pair(left: Schema, right: Schema) -> Schema:
    """The fields of both sides, as ``on`` names them."""
    fields = {
        f"{side}.{name}": type_
        for side, schema in zip(SIDES, (left, right), strict=True)
        for name, type_ in schema.fields.items()
    }
    return Schema(Fields(fields), f"left.{left.ts}")


def equality(term: Expr) -> tuple[str, str] | None:
    """The left and right field of an equality term; None for other terms.

    >>> equality(Expr.of("right.payer = left.caller"))
    ('caller', 'payer')
    """
    if term.polars is not None:
        return None
    root = parse(term.text).root
    if not isinstance(root, exp.EQ):
        return None
    sides = (root.this, root.expression)
    if not all(isinstance(side, exp.Column) for side in sides):
        return None
    fields = {side: field for side, _, field in (node.name.partition(".") for node in sides)}
    return (fields["left"], fields["right"]) if set(fields) == set(SIDES) else None


def equal_fields(
    keys: Sequence[tuple[str, str]], port: int, schemas: tuple[Schema, ...]
) -> list[tuple[str, Type]]:
    """The equality fields of one side, and the types they are compared in."""
    left, right = schemas
    return [(key[port], _common_type(left[key[0]], right[key[1]])) for key in keys]


def find_condition(
    on: Expr, keys: Sequence[tuple[str, str]], schemas: tuple[Schema, ...]
) -> Condition:
    """The key, and the remaining terms of ``on``: all of them where the key is only a hash."""
    both = pair(*schemas)
    dtypes = tuple(type_.dtype for _, type_ in equal_fields(keys, 0, schemas))
    exact = Condition.is_exact(dtypes)
    terms = [t for t in conjuncts(on) if not (keys and exact and equality(t))]
    lefts, rights = (tuple(key[port] for key in keys) for port in range(2))
    return Condition(
        (lefts, rights),
        dtypes,
        tuple(term.compile(both) for term in terms),
        frozenset(name for term in terms for name in term.fields),
    )


def _common_type(one: Type, two: Type) -> Type:
    """The type in which two fields are compared: int and float compare as float."""
    return one if one is two else Type.FLOAT


def _state(window: Sequence[Indexed], rest: pl.DataFrame, side: str) -> State:
    """The state frames of an input: its window, and the tuples that wait for the frontier."""
    return {**window_state(window, side), _waiting(side): rest}


def _waiting(side: str) -> str:
    return f"waiting {side}"


def _joined(name: str) -> str:
    return name.replace(".", "_", 1)


def _result(pairs: pl.DataFrame, schemas: tuple[Schema, ...], keyed: bool) -> pl.DataFrame:
    """Output tuples of pairs, with a position if both sides have one."""
    left, right = schemas
    later = pl.max_horizontal(
        f"left.{left.ts}", pl.col(f"right.{right.ts}").cast(left[left.ts].dtype)
    )
    columns = [later.alias(left.ts)]
    columns += [pl.col(name).alias(_joined(name)) for name in pair(left, right).fields]
    positions = [f"{side}.{POSITION}" for side in SIDES]
    if set(positions) <= set(pairs.columns):
        mixed = pl.col(positions[0]) * _SPREAD + pl.col(positions[1])
        columns.append((mixed & _POSITIVE).alias(POSITION))
    return pairs.select(*columns, *_ranks(pairs.columns, schemas, keyed))


def _ranks(columns: Sequence[str], schemas: tuple[Schema, ...], keyed: bool) -> list[pl.Expr]:
    """A pair is ranked by its later tuple (at equal times the right one), then by the other.

    With a key, all matches of one tuple are on one instance and emitted in their order; without,
    they are ordered by their order value and then by their ranks.
    """
    lefts, rights = (
        [f"{side}.{name}" for name in rank_names(c.removeprefix(f"{side}.") for c in columns)]
        for side in SIDES
    )
    if not (lefts and rights):
        return []
    left, right = (
        pl.col(f"{side}.{schema.ts}").cast(schemas[0][schemas[0].ts].dtype)
        for side, schema in zip(SIDES, schemas, strict=True)
    )
    at_right = right >= left
    found = [
        at_right,
        *(pl.when(~at_right).then(name) for name in lefts),
        *(pl.when(at_right).then(name) for name in rights),
    ]
    if not keyed:
        found.append(pl.min_horizontal(left, right))
        found += [pl.when(at_right).then(name) for name in lefts]
        found += [pl.when(~at_right).then(name) for name in rights]
    return [rank.alias(f"{RANK}{number}") for number, rank in enumerate(found)]
