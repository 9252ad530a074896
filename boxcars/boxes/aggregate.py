"""Aggregate: functions over windows of tuples."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, ClassVar, Self

import numpy as np
import polars as pl
from numpy.typing import NDArray

from boxcars.boxes.bsort import BSort
from boxcars.boxes.condense import COMBINED, Condense
from boxcars.expr import Expr, call, constant_value
from boxcars.kernels.aggregates.builtin import FUNCTIONS, SYNONYMS, Function, find_function
from boxcars.kernels.columns.ranks import ranks_of, with_ranks
from boxcars.kernels.columns.system_columns import POSITION
from boxcars.kernels.contract import Frontier, Mine, State, Stateful, Step
from boxcars.kernels.ordering.sorting import WAITING
from boxcars.kernels.windows.axis import Axis
from boxcars.kernels.windows.incremental_windows import Parking
from boxcars.kernels.windows.kernel_of_window import window_kernel
from boxcars.kernels.windows.value_windows import VALUE
from boxcars.kernels.windows.window_results import (
    Functions,
    Grouping,
    Kernel,
    Results,
    Spread,
    argument,
)
from boxcars.model.arc import LATE, MAIN
from boxcars.model.box import Box, Ports, param
from boxcars.model.order import FARTHEST_SIZE, has_place
from boxcars.model.ordered_map import Fields
from boxcars.model.problem import Wrong, nearest
from boxcars.model.routing import Routing
from boxcars.model.schema import Schema
from boxcars.model.types import Type
from boxcars.model.window import Window

_NO_MORE: Mapping[str, Function] = {}
SLACK = "slack."
"""What the names of the frames start with that wait for others to come before them."""


class Aggregate(Stateful, type="aggregate", icon="Σ"):
    """Compute functions over windows of tuples, by time, tuples or value, for each group.

    The output has the fields of ``by``, the order attribute, and a field for each function.

    Paper: StreamCloud's Aggregate (thesis, 2.1.1).

    >>> import boxcars as bx
    >>> calls = bx.Network("n").input("calls", ts="time", fields={"time": "int", "caller": "str"})
    >>> hourly = calls.aggregate(bx.time(3600, advance=600), by="caller", calls="count()")
    """

    ranks: ClassVar[bool] = True
    waiting: ClassVar[tuple[str, ...]] = (f"{SLACK}{WAITING}",)

    window: Window = param("Which tuples are looked at together.")
    fields: Fields[Expr] = param(
        "The new fields, each with its function.",
        xml=("aggregate-function.#", "aggregate-function-output-name.#"),
    )
    by: tuple[str, ...] = param(
        "A window of its own for each value of these fields.", default=(), xml="group-by"
    )

    @classmethod
    def build(
        cls,
        window: Window,
        by: str | Sequence[str] = (),
        fields: Mapping[str, str | Expr] | None = None,
        **more: str | Expr,
    ) -> Self:
        """A window, the group-by fields, and new fields by keyword or in a mapping."""
        exprs = {name: Expr.of(e) for name, e in {**(fields or {}), **more}.items()}
        return cls(window, Fields(exprs), (by,) if isinstance(by, str) else tuple(by))

    def arguments(self) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """The arguments of :meth:`build`."""
        return (self.window,), {k: v for k, v in self.plain().items() if k != "window"}

    @property
    def side_ports(self) -> tuple[str, ...]:
        """``late`` has the tuples that came behind the frontier."""
        return (LATE,)

    def outputs(self, inputs: Ports) -> Mapping[str, Schema]:
        """The group-by fields, the order attribute, then the functions."""
        schema = inputs[0]
        for where, message in self.window.problems(schema):
            inputs.wrong(message, "window", where)
        if self.window.by == "runs" and not self.by:
            inputs.wrong("runs need a field that changes: name it in by.", "by")
        if not self.fields:
            inputs.wrong("an aggregate needs at least one function.", "fields")
        groups = {name: inputs.field(name, "by", i) for i, name in enumerate(self.by)}
        types = {name: function_type(e, inputs, name) for name, e in self.fields.items()}
        for name in types:
            inputs.new_field(name, "fields", name)
            if name in self.by:
                inputs.wrong(f"'{name}' is a group-by field already.", "fields", name)
        if not schema.known:
            return {MAIN: schema, LATE: schema}
        if schema.ts in self.by:
            ts, at = schema.ts, self.by.index(schema.ts)
            inputs.wrong(
                f"'{ts}' is the order attribute, which is the time of the result in what leaves: "
                f"copy it first, in a map that keeps all fields (moment: {ts}, keep: true), and "
                "group by 'moment'.",
                "by",
                at,
            )
        if not self.window.slack:
            inputs.in_order()
        if not inputs.problems:
            self._check_range(inputs)
        fields = Fields({**groups, schema.ts: schema[schema.ts], **types})
        return {
            MAIN: Schema(fields, schema.ts, ordered=schema.ts not in types),
            LATE: replace(schema, ordered=False),
        }

    def _check_range(self, inputs: Ports) -> None:
        """Complain about windows that can't be counted with, in 64 bits: too large, or too fine."""
        window, schema = self.window, inputs[0]
        type_ = schema[str(window.field) if window.by == "value" else schema.ts]
        most = FARTHEST_SIZE // (1_000_000 if type_ is Type.TIMESTAMP else 1)
        for name in ("size", "advance", "origin", "timeout", "every"):
            number = getattr(window, name)
            if number is not None and abs(number) > most:
                inputs.wrong(f"expected at most {most:,}, got {number}.", "window", name)
                return
        if window.by in ("time", "value") and window.step:
            axis = Axis.of(window, type_)
            if max(axis.size, axis.advance) > FARTHEST_SIZE:
                inputs.wrong(
                    f"size {window.size} and advance {window.step} have no unit in common that is "
                    "large enough: round one of them.",
                    "window",
                    "advance",
                )

    def routing(self, port: int, schemas: tuple[Schema, ...]) -> Routing:
        """By group, unless what one group does depends on the tuples of others."""
        if not self.by:
            return Routing.single("it has no group-by fields")
        if self.window.by == "runs":
            return Routing.single("a run ends where any other group comes")
        if self.window.slack:
            return Routing.single("its slack is counted over all groups")
        return Routing.key((name, schemas[0][name]) for name in self.by)

    def halves(self, schema: Schema) -> tuple[Box, Box] | None:
        """Condense before a shuffle and combine behind it, if that gives the same to the last bit.

        Windows must close by time, for the others go by neighbours; sums of floats depend on the
        order in which they are added.
        """
        window = self.window
        plain = Window("time", window.size, window.advance, origin=window.origin)
        if replace(window, flush=False) != plain or window.step == 0 or schema.ts in self.fields:
            return None
        calls = {name: read_function(expr) for name, expr in self.fields.items()}
        exact = all(schema[name] is not Type.FLOAT for name in self.by)
        if not (exact and all(_combines(f, given, schema) for f, given in calls.values())):
            return None
        how = Fields({name: function.name for name, (function, _) in calls.items()})
        combined = {
            name: Expr.of(f'{COMBINED[function]}("{name.replace(chr(34), 2 * chr(34))}")')
            for name, function in how.items()
        }
        given = Fields({name: arguments[0] for name, (_, arguments) in calls.items() if arguments})
        front = Condense(window, self.by, given, how)
        return front, replace(self, fields=Fields(combined))

    def start(self, schemas: tuple[Schema, ...]) -> State:
        """No tuples are kept."""
        schema = schemas[0]
        nothing = self._columns(schema.empty(), schema)
        state = self._kernel(schema).start(Grouping(self.by, schema.ts), nothing)
        if self.window.slack:
            state = {**state, **_renamed(self._sorter().start(schemas), "", SLACK)}
        return state

    def step(
        self,
        state: State,
        trains: tuple[pl.DataFrame, ...],
        frontiers: tuple[Frontier, ...],
        schemas: tuple[Schema, ...],
    ) -> Step:
        """Give the results whose time has come."""
        (schema,), (train,), (frontier,) = schemas, trains, frontiers
        sorting: State = {}
        late = train.clear()
        if self.window.slack:
            waiting = _renamed(state, SLACK, "")
            state = {name: frame for name, frame in state.items() if not name.startswith(SLACK)}
            sorted_ = self._sorter().step(waiting, trains, frontiers, schemas)
            sorting = _renamed(sorted_.state, "", SLACK)
            train, late, frontier = sorted_.trains[MAIN], sorted_.trains[LATE], sorted_.frontier
        placed = self._placed(train, schema)
        taken = train if placed.all() else train.filter(placed)
        new = self._columns(taken, schema)
        results = self._kernel(schema).close(Grouping(self.by, schema.ts), state, new, frontier)
        lost = ~placed
        lost[np.flatnonzero(placed)[results.late]] = True
        late = pl.concat([late, train.filter(lost)]) if lost.any() else late
        keys, values = results.compute(self.by, self._functions())
        leaving = self._rows(results, keys, values, schema)
        if ranks := ranks_of(taken):
            own = self._ranks(results, list(keys.values()), ranks)
            leaving = with_ranks(leaving, [results.ts, *own] if schema.ts in self.fields else own)
        return Step({MAIN: leaving, LATE: late}, results.frontier, {**results.state, **sorting})

    def gives_several(self) -> bool:
        """Not if time closes windows one by one, or if a tuple fills one window at most."""
        window = self.window
        if window.by == "value" or window.emit != "close" or window.obsolete != "close":
            return True
        return window.by == "tuples" and (window.timeout is not None or window.flush)

    def share(self, states: Sequence[State], mine: Mine, schemas: tuple[Schema, ...]) -> State:
        """The windows of some groups."""
        kernel = self._kernel(schemas[0])
        assert isinstance(kernel, Spread)
        return kernel.share(Grouping(self.by, schemas[0].ts), states, partial(mine, 0))

    def shown(self, state: State, schemas: tuple[Schema, ...]) -> State:
        """Rows that are put away, with their keys."""
        kernel = self._kernel(schemas[0])
        if not isinstance(kernel, Parking):
            return state
        rows = kernel.shown(Grouping(self.by, schemas[0].ts), state)
        return {**rows, **{name: state[name] for name in state if name.startswith(SLACK)}}

    def _placed(self, train: pl.DataFrame, schema: Schema) -> NDArray[np.bool_]:
        """Which tuples a window can hold: not those without the value that they go by."""
        if self.window.by != "value":
            return np.ones(train.height, np.bool_)
        field = str(self.window.field)
        return train.select(has_place(pl.col(field), schema[field])).to_series().to_numpy().copy()

    def _rows(
        self,
        results: Results,
        keys: Mapping[str, pl.Series],
        values: Sequence[pl.Series],
        schema: Schema,
    ) -> pl.DataFrame:
        """The tuples that leave."""
        columns = {**keys, schema.ts: results.ts}
        for (name, expr), found in zip(self.fields.items(), values, strict=True):
            function, arguments = read_function(expr)
            type_ = function.result([argument.type_in(schema) for argument in arguments])
            columns[name] = found.cast(type_.dtype)
        if (position := results.position()) is not None:
            columns[POSITION] = position
        return pl.DataFrame(columns)

    def _ranks(
        self, results: Results, keys: list[pl.Series], ranks: Sequence[pl.Series]
    ) -> list[pl.Series]:
        """Results of time stand by key, those of tuples as the tuples that caused them."""
        if results.cause is None:
            return keys
        if results.turn is None:
            return [rank.gather(results.cause) for rank in ranks]
        by_time = pl.Series(results.cause < 0)
        caused = pl.select(pl.when(~by_time).then(pl.Series(results.cause))).to_series()
        return [
            pl.Series(results.turn),
            *(pl.select(pl.when(by_time).then(key)).to_series() for key in keys),
            *(rank.gather(caused) for rank in ranks),
        ]

    def _columns(self, train: pl.DataFrame, schema: Schema) -> pl.DataFrame:
        """What is kept of a tuple: its key, its order and the arguments of the functions."""
        columns = {name: pl.col(name) for name in (*self.by, schema.ts)}
        for number, expr in enumerate(self.fields.values()):
            for i, given in enumerate(read_function(expr)[1]):
                columns[argument(number, i)] = given.compile(schema)
        if POSITION in train.columns:
            columns[POSITION] = pl.col(POSITION)
        if self.window.by == "value":
            columns[VALUE] = pl.col(str(self.window.field))
        elif self.window.obsolete == "drop" and self.window.by == "time":
            columns[VALUE] = pl.col(schema.ts)
        return train.with_columns(**columns).select(list(columns))

    def _kernel(self, schema: Schema) -> Kernel:
        """The kind of windows."""
        return window_kernel(self.window, schema, self._functions())

    def _functions(self) -> Functions:
        """The functions of the fields."""
        found = [read_function(expr) for expr in self.fields.values()]
        return tuple((function, len(arguments)) for function, arguments in found)

    def _sorter(self) -> BSort:
        """The box that puts the input into order first, as far as the slack allows."""
        if self.window.slack_by == "time":
            return BSort(slack=self.window.slack)
        return BSort(tuples=int(self.window.slack))


def _combines(function: Function, arguments: tuple[Expr, ...], schema: Schema) -> bool:
    """Whether results over some of the tuples give that over all, to the last bit."""
    if function.name not in COMBINED:
        return False
    types = [argument.type_in(schema) for argument in arguments]
    if function.name == "sum":
        return types == [Type.INT]
    return function.name == "count" or Type.FLOAT not in types


def _renamed(state: State, old: str, new: str) -> State:
    """The frames whose names start so, under names that start otherwise."""
    return {
        new + name.removeprefix(old): frame for name, frame in state.items() if name.startswith(old)
    }


def function_type(
    expr: Expr,
    inputs: Ports,
    name: str,
    more: Mapping[str, Function] = _NO_MORE,
    schema: Schema | None = None,
) -> Type:
    """The type of a field with a function, over the first input; what is wrong is noted."""
    try:
        function, arguments = read_function(expr, more)
    except Wrong as wrong:
        inputs.wrong(str(wrong), "fields", name)
        return Type.UNKNOWN
    got = [inputs.type(argument, "fields", name, schema=schema) for argument in arguments]
    if Type.UNKNOWN in got:
        return Type.UNKNOWN
    try:
        type_ = function.result(got)
        if function.constant is not None and len(arguments) > 1:
            function.constant(constant_value(arguments[1]))
    except Wrong as wrong:
        inputs.wrong(f"{function.name} {wrong}", "fields", name)
        return Type.UNKNOWN
    return type_


def read_function(
    expr: Expr, more: Mapping[str, Function] = _NO_MORE
) -> tuple[Function, tuple[Expr, ...]]:
    """The function of a field and its arguments; a box may have ``more`` functions."""
    found = call(expr)
    if found is None:
        raise Wrong(f"'{expr.text}' is not an aggregate function. Write for example sum(price).")
    name, arguments = found
    function = more.get(name) or find_function(name)
    if function is None:
        hint = nearest(name, [*FUNCTIONS, *SYNONYMS, *more])
        raise Wrong(f"'{expr.text}' is not an aggregate function.{hint}")
    least, most = function.arity
    if not least <= len(arguments) <= most:
        raise Wrong(f"{function.signature} takes {_range(least, most)}, got {len(arguments)}.")
    return function, arguments


def _range(least: int, most: int) -> str:
    noun = "argument" if most == 1 else "arguments"
    return f"{most} {noun}" if least == most else f"{least} to {most} {noun}"
