"""Aggregate: functions over windows of tuples."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Self

import polars as pl

from boxcars.expr import Expr, call
from boxcars.kernels import run_windows, time_windows, tuple_windows, value_windows
from boxcars.kernels.aggregates import FUNCTIONS, SYNONYMS, Function, find_function
from boxcars.kernels.axis import Axis
from boxcars.kernels.closed import Closed, Grouping
from boxcars.kernels.hidden import POSITION, mixed
from boxcars.kernels.kernel import Frontier, State, Stateful, Step
from boxcars.kernels.reorder import physical
from boxcars.kernels.tuple_windows import TupleWindow
from boxcars.kernels.value_windows import VALUE
from boxcars.model.arc import LATE, MAIN
from boxcars.model.box import Ports, param
from boxcars.model.frozen import Fields
from boxcars.model.problem import Wrong, nearest
from boxcars.model.schema import Schema
from boxcars.model.types import Type
from boxcars.model.window import Window

_NO_MORE: Mapping[str, Function] = {}


class Aggregate(Stateful, type="aggregate", icon="Σ"):
    """Compute functions over windows of tuples, by time, tuples or value, for each group.

    The output has the fields of ``by``, the order attribute, and a field for each function.

    Paper: StreamCloud's Aggregate (thesis, 2.1.1).

    >>> import boxcars as bx
    >>> calls = bx.Network("n").input("calls", ts="time", fields={"time": "int", "caller": "str"})
    >>> hourly = calls.aggregate(bx.time(3600, advance=600), by="caller", calls="count()")
    """

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
        inputs.in_order()
        fields = Fields({**groups, schema.ts: schema[schema.ts], **types})
        return {
            MAIN: Schema(fields, schema.ts, ordered=schema.ts not in types),
            LATE: replace(schema, ordered=False),
        }

    def start(self, schemas: tuple[Schema, ...]) -> State:
        """No tuples are kept."""
        w = self.window
        runs = w.by in ("tuples", "runs") or (w.by in ("time", "value") and w.step > 0)
        if not runs or w.emit != "close" or w.slack:
            raise Wrong(
                "this version can't run such a window yet: no landmark, no advance of 0 in time, "
                "no slack, and results only when a window closes."
            )
        nothing = self._columns(schemas[0].empty(), schemas[0])
        return _STARTS[w.by](nothing)

    def step(
        self,
        state: State,
        trains: tuple[pl.DataFrame, ...],
        frontiers: tuple[Frontier, ...],
        schemas: tuple[Schema, ...],
    ) -> Step:
        """Close the windows whose time has come and compute their functions."""
        schema = schemas[0]
        closed, late = self._close(state, trains[0], frontiers[0], schema)
        columns = {name: closed.keys[name].gather(closed.key) for name in self.by}
        columns[schema.ts] = closed.ts
        for number, (name, expr) in enumerate(self.fields.items()):
            function, arguments = read_function(expr)
            given = [closed.tuples[_argument(number, i)] for i in range(len(arguments))]
            result = function.result([argument.type_in(schema) for argument in arguments])
            columns[name] = function.compute(closed.windows, given).cast(result.dtype)
        if POSITION in closed.tuples.columns:
            columns[POSITION] = _position(closed)
        trains_out = {MAIN: pl.DataFrame(columns), LATE: late}
        return Step(trains_out, closed.frontier, closed.state)

    def _columns(self, train: pl.DataFrame, schema: Schema) -> pl.DataFrame:
        """What is kept of a tuple: its key, its order and the arguments of the functions."""
        columns = {name: pl.col(name) for name in (*self.by, schema.ts)}
        for number, expr in enumerate(self.fields.values()):
            for i, argument in enumerate(read_function(expr)[1]):
                columns[_argument(number, i)] = argument.compile(schema)
        if POSITION in train.columns:
            columns[POSITION] = pl.col(POSITION)
        if self.window.field:
            columns[VALUE] = pl.col(self.window.field)
        return train.with_columns(**columns).select(list(columns))

    def _close(
        self, state: State, train: pl.DataFrame, frontier: Frontier, schema: Schema
    ) -> tuple[Closed, pl.DataFrame]:
        """The windows that close with this train, and the tuples that came too late for theirs."""
        group, window, late = Grouping(self.by, schema.ts), self.window, train.clear()
        new, flush = self._columns(train, schema), window.flush
        if window.by == "time":
            axis = Axis.of(window, schema[schema.ts])
            return time_windows.close(axis, group, state, new, frontier, flush), late
        if window.by == "value":
            axis = Axis.of(window, schema[str(window.field)])
            closed, places = value_windows.close(axis, group, state, new, frontier, flush)
            return closed, train[places]
        if window.by == "runs":
            return run_windows.close(group, state, new, frontier, flush), late
        timeout = None if window.timeout is None else physical(window.timeout, schema[schema.ts])
        spec = TupleWindow(int(window.size), int(window.step) or 1, timeout, flush)
        return tuple_windows.close(spec, group, state, new, frontier), late


_STARTS: Mapping[str, Callable[[pl.DataFrame], State]] = {
    "time": time_windows.start,
    "tuples": tuple_windows.start,
    "value": value_windows.start,
    "runs": run_windows.start,
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
        return function.result(got)
    except Wrong as wrong:
        inputs.wrong(f"{function.name} {wrong}", "fields", name)
        return Type.UNKNOWN


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


def _position(closed: Closed) -> pl.Series:
    """A position for each result, from those of its first and last tuple and its order value."""
    slices, positions = closed.windows.slices, closed.tuples[POSITION]
    first, last = positions.gather(slices.lo), positions.gather(slices.hi - 1)
    time = closed.ts.to_physical().cast(pl.Int64, strict=False).fill_null(0)
    return pl.Series(mixed(first.to_numpy(), last.to_numpy(), time.to_numpy()))


def _argument(function: int, number: int) -> str:
    """The column with an argument of a function."""
    return f"__{function}.{number}"


def _range(least: int, most: int) -> str:
    noun = "argument" if most == 1 else "arguments"
    return f"{most} {noun}" if least == most else f"{least} to {most} {noun}"
