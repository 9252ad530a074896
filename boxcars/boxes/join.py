"""Join: match the tuples of two streams."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import ClassVar

from boxcars.expr import Expr
from boxcars.model.arc import LATE, MAIN
from boxcars.model.box import Box, Ports, param
from boxcars.model.frozen import Fields
from boxcars.model.problem import a
from boxcars.model.schema import UNKNOWN_SCHEMA, Schema
from boxcars.model.types import Type
from boxcars.model.window import Window

SIDES = ("left", "right")


class Join(Box, type="join", icon="⋈"):
    """Match each tuple with those of the other stream that are near it and satisfy ``on``.

    In ``on`` the fields are written ``left.caller`` and ``right.caller``; in the output they are
    ``left_caller`` and ``right_caller``, behind the order attribute: the later of the two.

    Paper: StreamCloud's Join (thesis, 2.1.1).

    >>> import boxcars as bx
    >>> net = bx.Network("n")
    >>> calls = net.input("calls", ts="time", fields={"time": "int", "caller": "str"})
    >>> bills = net.input("bills", ts="time", fields={"time": "int", "payer": "str"})
    >>> paid = calls.join(bills, on="left.caller = right.payer", window=bx.time(60))
    """

    stateful: ClassVar[bool] = True
    arity: ClassVar[tuple[int, int | None]] = (2, 2)

    on: Expr = param("When two tuples match, over left.<field> and right.<field>.", xml="predicate")
    window: Window = param("How far apart two tuples may be.")

    @property
    def side_ports(self) -> tuple[str, ...]:
        """``late`` has the tuples that came behind the frontier."""
        return (LATE,)

    def outputs(self, inputs: Ports) -> Mapping[str, Schema]:
        """The order attribute, then the fields of both sides."""
        left, right = inputs[0], inputs[1]
        if not (left.known and right.known):
            return {MAIN: UNKNOWN_SCHEMA, LATE: UNKNOWN_SCHEMA}
        for where, message in self.window.problems(left):
            inputs.wrong(message, "window", where)
        both = pair(left, right)
        got = inputs.type(self.on, "on", schema=both)
        if not Type.BOOL.accepts(got):
            inputs.wrong(f"expected a bool, got {a(got)}.", "on")
        if not left[left.ts].accepts(right[right.ts]):
            inputs.wrong(
                f"the order attributes differ: '{left.ts}' is {a(left[left.ts])}, "
                f"'{right.ts}' is {a(right[right.ts])}.",
                "in",
            )
        for i, schema in enumerate((left, right)):
            if not schema.ordered:
                inputs.wrong(
                    f"the order attribute '{schema.ts}' was computed anew, so this input is not "
                    "in order: sort it first.",
                    "in",
                    i,
                )
        fields = {left.ts: left[left.ts]}
        fields |= {name.replace(".", "_", 1): type_ for name, type_ in both.fields.items()}
        return {MAIN: Schema(Fields(fields), left.ts), LATE: replace(left, ordered=False)}


def pair(left: Schema, right: Schema) -> Schema:
    """The fields of two tuples side by side, as ``on`` names them."""
    fields = {
        f"{side}.{name}": type_
        for side, schema in zip(SIDES, (left, right), strict=True)
        for name, type_ in schema.fields.items()
    }
    return Schema(Fields(fields), f"left.{left.ts}")
