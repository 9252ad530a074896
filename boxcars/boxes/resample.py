"""Resample: values of one stream at the times of another."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Self

import numpy as np
import polars as pl

from boxcars.boxes.aggregate import function_type, read_function
from boxcars.expr import Expr
from boxcars.kernels.contract import Frontier, State, Stateful, Step, append_rows
from boxcars.kernels.ordering.interpolation import INTERPOLATE, Nearby
from boxcars.kernels.ordering.sorting import earlier, later, physical, stored_numbers
from boxcars.model.arc import MAIN
from boxcars.model.box import Ports, param
from boxcars.model.ordered_map import Fields
from boxcars.model.routing import Routing
from boxcars.model.schema import UNKNOWN_SCHEMA, Schema
from boxcars.model.window import Window

_TIMES, _VALUES = "times", "values"
_MORE = {INTERPOLATE.name: INTERPOLATE}
_ZERO = ("count", "count_distinct")
"""Functions that are 0 instead of null over no tuples."""


class Resample(Stateful, type="resample", icon="∿"):
    """Add values of the right stream, around its time, to each tuple of the left stream.

    The functions are those of an aggregate, over the right tuples whose order attribute differs
    from that of the left tuple by less than the size of the window. There is one more:
    ``interpolate(x)`` is the value of ``x`` at the time of the left tuple, interpolated linearly
    between the last right tuple before it and the first after it; null if one of them is missing,
    unless there is one at that very time (of several, the last). Right tuples where ``x`` is null
    are ignored. Where no right tuple is near, counts are 0 and all other functions are null.

    The output has the fields of the left stream, in its order, and one field per function. A tuple
    waits until the right stream has passed its window. There are no groups: filter first.

    Paper: Aurora's Resample, which is only named there (CIDR 2003, 2.2).

    >>> import boxcars as bx
    >>> net = bx.Network("n")
    >>> clock = net.input("clock", ts="t", fields={"t": "int"})
    >>> heat = net.input("heat", ts="t", fields={"t": "int", "degrees": "float"})
    >>> steady = clock.resample(heat, bx.time(60), degrees="interpolate(degrees)")
    """

    arity: ClassVar[tuple[int, int | None]] = (2, 2)
    waiting: ClassVar[tuple[str, ...]] = (_TIMES,)

    window: Window = param("The greatest distance in time of right tuples, before and after.")
    fields: Fields[Expr] = param(
        "The new fields, each with its function.",
        xml=("resample-function.#", "resample-function-output-name.#"),
    )

    @classmethod
    def build(
        cls,
        window: Window,
        fields: Mapping[str, str | Expr] | None = None,
        **more: str | Expr,
    ) -> Self:
        """The window, and new fields by keyword or in a mapping."""
        exprs = {name: Expr.of(e) for name, e in {**(fields or {}), **more}.items()}
        return cls(window, Fields(exprs))

    def arguments(self) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """The arguments of :meth:`build`."""
        return (self.window,), {"fields": self.plain()["fields"]}

    def routing(self, port: int, schemas: tuple[Schema, ...]) -> Routing:
        """There are no groups, so all tuples must meet on one instance."""
        return Routing.single("every left tuple may need any right tuple")

    def outputs(self, inputs: Ports) -> Mapping[str, Schema]:
        """The fields of the left input, then the functions."""
        left, right = inputs[0], inputs[1]
        self._check_window(inputs)
        if not self.fields:
            inputs.wrong("a resample needs at least one function.", "fields")
        types = {
            name: function_type(e, inputs, name, _MORE, right) for name, e in self.fields.items()
        }
        for name in types:
            inputs.new_field(name, "fields", name)
            if name in left:
                inputs.wrong(f"there is already a field '{name}'.", "fields", name)
        if not (left.known and right.known):
            return {MAIN: UNKNOWN_SCHEMA}
        inputs.in_order()
        return {MAIN: left.with_fields({**left.fields, **types})}

    def _check_window(self, inputs: Ports) -> None:
        window = self.window
        if window.by != "time":
            inputs.wrong(f"a resample needs a time window, got {window.by}.", "window")
            return
        for more in ("advance", "timeout", "slack", "emit", "origin", "flush"):
            if getattr(window, more) != getattr(Window("time"), more):
                inputs.wrong("the window of a resample takes only a size.", "window", more)
        for where, message in window.problems(inputs[0]):
            inputs.wrong(message, "window", where)

    def start(self, schemas: tuple[Schema, ...]) -> State:
        """The empty state."""
        return {_TIMES: schemas[0].empty(), _VALUES: self._columns(schemas[1].empty(), schemas[1])}

    def step(
        self,
        state: State,
        trains: tuple[pl.DataFrame, ...],
        frontiers: tuple[Frontier, ...],
        schemas: tuple[Schema, ...],
    ) -> Step:
        """Emit the left tuples whose window the right stream has passed."""
        left, right = schemas
        type_ = left[left.ts]
        size = physical(self.window.size, type_)
        waiting = append_rows(state[_TIMES], trains[0])
        values = append_rows(state[_VALUES], self._columns(trains[1], right))
        at, times = stored_numbers(waiting[left.ts], type_), stored_numbers(values[right.ts], type_)
        ends = later(at, size, type_)
        ready = _passed(ends, frontiers[1], left)
        lo = np.searchsorted(times, earlier(at[:ready], size), "right")
        hi = np.searchsorted(times, ends[:ready], "left")
        near = np.flatnonzero(lo < hi)
        windows = Nearby.of(at[near], times, lo[near], hi[near])
        window = np.full(ready, -1)
        window[near] = np.arange(len(near))
        rows = pl.select(pl.when(pl.Series(window) >= 0).then(pl.Series(window))).to_series()
        columns = self._compute(windows, values, rows, right)
        rest = waiting[ready:]
        # The output frontier: waiting tuples will be emitted with their own order values.
        frontier = Frontier(rest[left.ts][0]) if rest.height else frontiers[0]
        unneeded = _unneeded(times, frontier, size, left)
        return Step(
            {MAIN: waiting[:ready].with_columns(columns)},
            frontier,
            {_TIMES: rest, _VALUES: values[unneeded:]},
        )

    def _compute(
        self, windows: Nearby, values: pl.DataFrame, rows: pl.Series, right: Schema
    ) -> list[pl.Series]:
        """The function values; ``rows`` has the window of each left tuple, null if none is near."""
        columns = []
        for number, (name, expr) in enumerate(self.fields.items()):
            function, arguments = read_function(expr, _MORE)
            given = [values[_argument(number, i)] for i in range(len(arguments))]
            result = function.result([argument.type_in(right) for argument in arguments])
            found = function.compute(windows, given).cast(result.dtype).gather(rows)
            columns.append((found.fill_null(0) if function.name in _ZERO else found).alias(name))
        return columns

    def _columns(self, train: pl.DataFrame, right: Schema) -> pl.DataFrame:
        """The retained columns of right tuples: their order and the function arguments."""
        columns = {right.ts: pl.col(right.ts)}
        for number, expr in enumerate(self.fields.values()):
            for i, argument in enumerate(read_function(expr, _MORE)[1]):
                columns[_argument(number, i)] = argument.compile(right)
        return train.with_columns(**columns).select(list(columns))


def _argument(function: int, number: int) -> str:
    """The column with an argument of a function."""
    return f"__{function}.{number}"


def _value(frontier: Frontier, left: Schema) -> Any:
    """The frontier as a stored order value of the left stream."""
    type_ = left[left.ts]
    return stored_numbers(pl.Series([frontier.value], dtype=type_.dtype, strict=False), type_)


def _passed(ends: Any, frontier: Frontier, left: Schema) -> int:
    """Number of window ends that the frontier has passed."""
    if frontier.final:
        return len(ends)
    if frontier.value is None:
        return 0
    return int(np.searchsorted(ends, _value(frontier, left)[0], "right"))


def _unneeded(times: Any, frontier: Frontier, size: Any, left: Schema) -> int:
    """Number of right tuples too old for all left tuples that wait or may arrive."""
    if frontier.final:
        return len(times)
    if frontier.value is None:
        return 0
    return int(np.searchsorted(times, earlier(_value(frontier, left), size)[0], "right"))
