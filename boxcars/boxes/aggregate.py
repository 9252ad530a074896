"""Aggregate: functions over windows of tuples."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, ClassVar, Self

from boxcars.expr import Expr, call
from boxcars.model.arc import LATE, MAIN
from boxcars.model.box import Box, Ports, param
from boxcars.model.frozen import Fields
from boxcars.model.problem import Wrong, a, nearest
from boxcars.model.schema import Schema
from boxcars.model.types import Type
from boxcars.model.window import Window

SYNONYMS: Mapping[str, str] = {
    "firstval": "first",
    "first_val": "first",
    "lastval": "last",
    "last_val": "last",
    "mean": "avg",
}
_SAME = ("first", "last", "min", "max")
_NUMBER = ("sum", "delta")
_FLOAT = ("avg", "median", "stddev", "variance")
FUNCTIONS: tuple[str, ...] = (*_SAME, *_NUMBER, *_FLOAT, "quantile", "count", "count_distinct")


class Aggregate(Box, type="aggregate", icon="Σ"):
    """Compute functions over windows of tuples, by time, tuples or value, for each group.

    The output has the fields of ``by``, the order attribute, and a field for each function.

    Paper: StreamCloud's Aggregate (thesis, 2.1.1).

    >>> import boxcars as bx
    >>> calls = bx.Network("n").input("calls", ts="time", fields={"time": "int", "caller": "str"})
    >>> hourly = calls.aggregate(bx.time(3600, advance=600), by="caller", calls="count()")
    """

    stateful: ClassVar[bool] = True

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
        if not self.fields:
            inputs.wrong("an aggregate needs at least one function.", "fields")
        groups = {name: inputs.field(name, "by", i) for i, name in enumerate(self.by)}
        types = {name: self._function(e, inputs, name) for name, e in self.fields.items()}
        for name in types:
            if name in self.by:
                inputs.wrong(f"'{name}' is a group-by field already.", "fields", name)
        if not schema.known:
            return {MAIN: schema, LATE: schema}
        if not schema.ordered:
            inputs.wrong(
                f"the order attribute '{schema.ts}' was computed anew, so the input is not in "
                "order: sort it first.",
                "in",
            )
        fields = Fields({**groups, schema.ts: schema[schema.ts], **types})
        ordered = schema.ts not in types
        return {MAIN: Schema(fields, schema.ts, ordered), LATE: replace(schema, ordered=False)}

    def _function(self, expr: Expr, inputs: Ports, name: str) -> Type:
        try:
            found = call(expr)
        except Wrong as wrong:
            inputs.wrong(str(wrong), "fields", name)
            return Type.UNKNOWN
        known = [*FUNCTIONS, *SYNONYMS]
        if found is None or SYNONYMS.get(found[0], found[0]) not in FUNCTIONS:
            hint = nearest(found[0], known) if found else " Write for example sum(price)."
            inputs.wrong(f"'{expr.text}' is not an aggregate function.{hint}", "fields", name)
            return Type.UNKNOWN
        function, arguments = SYNONYMS.get(found[0], found[0]), found[1]
        wanted = {"count": (0, 1), "quantile": (2, 2)}.get(function, (1, 1))
        if not wanted[0] <= len(arguments) <= wanted[1]:
            inputs.wrong(
                f"{function} takes {wanted[1]} argument{'s' * (wanted[1] > 1)}, "
                f"got {len(arguments)}.",
                "fields",
                name,
            )
            return Type.UNKNOWN
        got = [inputs.type(argument, "fields", name) for argument in arguments]
        return self._result(function, got, inputs, name)

    def _result(self, function: str, got: list[Type], inputs: Ports, name: str) -> Type:
        if function in ("count", "count_distinct"):
            return Type.INT
        if function in _SAME:
            return got[0]
        if not got[0].numeric:
            inputs.wrong(f"{function} needs a number, got {a(got[0])}.", "fields", name)
            return Type.UNKNOWN
        return got[0] if function in _NUMBER else Type.FLOAT
