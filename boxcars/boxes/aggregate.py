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
from boxcars.kernels.contract import Frontier, OwnedTuples, State, Stateful, Step
from boxcars.kernels.ordering.sorting import WAITING
from boxcars.kernels.windows.axis import Axis
from boxcars.kernels.windows.incremental_windows import IncrementalWindows
from boxcars.kernels.windows.kernel_of_window import window_kernel
from boxcars.kernels.windows.value_windows import VALUE
from boxcars.kernels.windows.window_results import (
    Functions,
    Grouping,
    Kernel,
    Results,
    Shareable,
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
"""Name prefix of the state frames with tuples that wait for earlier ones."""


class Aggregate(Stateful, type="aggregate", icon="Σ"):
    """Compute aggregate functions over windows of tuples, by time, tuples or value, per group.

    The output has the fields of ``by``, the order attribute, and one field per function.

    Paper: StreamCloud's Aggregate (thesis, 2.1.1).

    >>> import boxcars as bx
    >>> calls = bx.Network("n").input("calls", ts="time", fields={"time": "int", "caller": "str"})
    >>> hourly = calls.aggregate(bx.time(3600, advance=600), by="caller", calls="count()")
    """

    ranks: ClassVar[bool] = True
    waiting: ClassVar[tuple[str, ...]] = (f"{SLACK}{WAITING}",)

    window: Window = param("Which tuples are aggregated together.")
    fields: Fields[Expr] = param(
        "The new fields, each with its function.",
        xml=("aggregate-function.#", "aggregate-function-output-name.#"),
    )
    by: tuple[str, ...] = param(
        "The group-by fields; each group has its own windows.", default=(), xml="group-by"
    )

    @classmethod
    def build(
        cls,
        window: Window,
        by: str | Sequence[str] = (),
        fields: Mapping[str, str | Expr] | None = None,
        **more: str | Expr,
    ) -> Self:
        """The window, the group-by fields, and new fields by keyword or in a mapping."""
        exprs = {name: Expr.of(e) for name, e in {**(fields or {}), **more}.items()}
        return cls(window, Fields(exprs), (by,) if isinstance(by, str) else tuple(by))

    def arguments(self) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """The arguments of :meth:`build`."""
        return (self.window,), {k: v for k, v in self.plain().items() if k != "window"}

    @property
    def side_ports(self) -> tuple[str, ...]:
        """``late`` has the tuples that arrived after the frontier."""
        return (LATE,)

    @property
    def timed(self) -> bool:
        """Whether passing time alone can close its windows."""
        return self.window.timed

    def outputs(self, inputs: Ports) -> Mapping[str, Schema]:
        """The group-by fields, the order attribute, then the functions."""
        schema = inputs[0]
        for where, message in self.window.problems(schema):
            inputs.wrong(message, "window", where)
        if self.window.by == "runs" and not self.by:
            inputs.wrong("a runs window needs a field whose value changes: name it in by.", "by")
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
                f"'{ts}' is the order attribute; in the output it is the time of the result. To "
                f"group by it, copy it first with a map (moment: {ts}, keep: true) and group by "
                "'moment'.",
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
        """Report windows that do not fit into 64-bit arithmetic: too large, or too fine."""
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
                    f"size {window.size} and advance {window.step} have too small a common "
                    "divisor: round one of them.",
                    "window",
                    "advance",
                )

    def routing(self, port: int, schemas: tuple[Schema, ...]) -> Routing:
        """By group, unless the result of a group depends on the tuples of others."""
        if not self.by:
            return Routing.single("it has no group-by fields")
        if self.window.by == "runs":
            return Routing.single("a run ends when a tuple of another group arrives")
        if self.window.slack:
            return Routing.single("its slack counts the tuples of all groups")
        return Routing.key((name, schemas[0][name]) for name in self.by)

    def halves(self, schema: Schema) -> tuple[Box, Box] | None:
        """Split into a partial aggregate before a shuffle and a combining one after it.

        None unless the result is bit-identical: windows must close by time, since other windows
        depend on neighboring tuples, and sums of floats depend on the order in which they are
        added.
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
        """The empty state."""
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
        """Emit the results that are due."""
        (schema,), (train,), (frontier,) = schemas, trains, frontiers
        sorting: State = {}
        late = train.clear()
        if self.window.slack:
            waiting = _renamed(state, SLACK, "")
            state = {name: frame for name, frame in state.items() if not name.startswith(SLACK)}
            sorted_ = self._sorter().step(waiting, trains, frontiers, schemas)
            sorting = _renamed(sorted_.state, "", SLACK)
            train, late, frontier = sorted_.trains[MAIN], sorted_.trains[LATE], sorted_.frontier
        valid = self._valid(train, schema)
        accepted = train if valid.all() else train.filter(valid)
        new = self._columns(accepted, schema)
        results = self._kernel(schema).close(Grouping(self.by, schema.ts), state, new, frontier)
        rejected = ~valid
        rejected[np.flatnonzero(valid)[results.late]] = True
        late = pl.concat([late, train.filter(rejected)]) if rejected.any() else late
        keys, values = results.compute(self.by, self._functions())
        emitted = self._rows(results, keys, values, schema)
        if ranks := ranks_of(accepted):
            own = self._ranks(results, list(keys.values()), ranks)
            emitted = with_ranks(emitted, [results.ts, *own] if schema.ts in self.fields else own)
        return Step({MAIN: emitted, LATE: late}, results.frontier, {**results.state, **sorting})

    def gives_several(self) -> bool:
        """False if time closes windows one by one, or if a tuple fills at most one window."""
        window = self.window
        if window.by == "value" or window.emit != "close" or window.obsolete != "close":
            return True
        return window.by == "tuples" and (window.timeout is not None or window.flush)

    def share(
        self, states: Sequence[State], owned: OwnedTuples, schemas: tuple[Schema, ...]
    ) -> State:
        """The windows of the groups this instance owns."""
        kernel = self._kernel(schemas[0])
        assert isinstance(kernel, Shareable)
        return kernel.share(Grouping(self.by, schemas[0].ts), states, partial(owned, 0))

    def shown(self, state: State, schemas: tuple[Schema, ...]) -> State:
        """The rows in the log, with their keys."""
        kernel = self._kernel(schemas[0])
        if not isinstance(kernel, IncrementalWindows):
            return state
        rows = kernel.shown(Grouping(self.by, schemas[0].ts), state)
        return {**rows, **{name: state[name] for name in state if name.startswith(SLACK)}}

    def _valid(self, train: pl.DataFrame, schema: Schema) -> NDArray[np.bool_]:
        """Mask of the tuples that a window can hold: those whose window field has a valid value."""
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
        """The output tuples."""
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
        """Results caused by time are ranked by key, those caused by a tuple by its rank."""
        if results.cause is None:
            return keys
        if results.phase is None:
            return [rank.gather(results.cause) for rank in ranks]
        by_time = pl.Series(results.cause < 0)
        caused = pl.select(pl.when(~by_time).then(pl.Series(results.cause))).to_series()
        return [
            pl.Series(results.phase),
            *(pl.select(pl.when(by_time).then(key)).to_series() for key in keys),
            *(rank.gather(caused) for rank in ranks),
        ]

    def _columns(self, train: pl.DataFrame, schema: Schema) -> pl.DataFrame:
        """The columns a window needs of a tuple: its key, its order and the function arguments."""
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
        """The kernel of the window."""
        return window_kernel(self.window, schema, self._functions())

    def _functions(self) -> Functions:
        """The functions of the fields."""
        found = [read_function(expr) for expr in self.fields.values()]
        return tuple((function, len(arguments)) for function, arguments in found)

    def _sorter(self) -> BSort:
        """The box that sorts the input first, as far as the slack allows."""
        if self.window.slack_by == "time":
            return BSort(slack=self.window.slack)
        return BSort(tuples=int(self.window.slack))


def _combines(function: Function, arguments: tuple[Expr, ...], schema: Schema) -> bool:
    """Whether partial results combine to the result over all tuples, bit-identical."""
    if function.name not in COMBINED:
        return False
    types = [argument.type_in(schema) for argument in arguments]
    if function.name == "sum":
        return types == [Type.INT]
    return function.name == "count" or Type.FLOAT not in types


def _renamed(state: State, old: str, new: str) -> State:
    """Replace the prefix of frame names; frames without the old prefix are left out."""
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
    """The type of a field computed by a function; errors are collected."""
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
