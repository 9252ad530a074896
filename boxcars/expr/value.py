"""Typed parts of an expression: type, Polars expression, and the user's text."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import polars as pl

from boxcars.model.types import Type


@dataclass(frozen=True)
class Value:
    """A typed part of an expression; ``NULL`` has the type UNKNOWN, which fits all others."""

    type: Type
    expr: pl.Expr
    words: str
    constant: Any = None
    is_constant: bool = False

    def __str__(self) -> str:
        return f"{self.words} ({self.type})" if self.type is not Type.UNKNOWN else self.words

    def to(self, wanted: Type) -> Value:
        """Convert it to a wider type: an int to a float, NULL to anything."""
        if self.type is wanted:
            return self
        constant = float(self.constant) if wanted is Type.FLOAT and self.constant else self.constant
        return replace(self, type=wanted, expr=self.expr.cast(wanted.dtype), constant=constant)


def literal(constant: bool | int | float | str | None, words: str) -> Value:
    """Return the value of a constant."""
    type_ = {bool: Type.BOOL, int: Type.INT, float: Type.FLOAT, str: Type.STR}.get(
        type(constant), Type.UNKNOWN
    )
    expr = pl.lit(constant).cast(pl.Int64) if type_ is Type.INT else pl.lit(constant)
    return Value(type_, expr, words, constant, is_constant=True)


def common(types: Iterable[Type]) -> Type | None:
    """Return the common type, or None if there is none.

    >>> common([Type.INT, Type.FLOAT]), common([Type.INT, Type.STR])
    (<Type.FLOAT: 'float'>, None)
    """
    kinds = set(types) - {Type.UNKNOWN}
    if len(kinds) > 1:
        return Type.FLOAT if kinds == {Type.INT, Type.FLOAT} else None
    return kinds.pop() if kinds else Type.UNKNOWN


def listed(values: Sequence[Value]) -> str:
    """List some values in a message: ``a (str) and 5 (int)``."""
    *most, last = map(str, dict.fromkeys(map(str, values)))
    return f"{', '.join(most)} and {last}" if most else last


def per_value(
    function: Callable[..., Any], *columns: pl.Expr, returns: Type, remember: bool = True
) -> pl.Expr:
    """Call a Python function for each row of values, or once per distinct row.

    A null among the values gives null without a call.

    >>> pl.select(per_value(str.title, pl.lit("new york"), returns=Type.STR)).item()
    'New York'
    """

    def on_batch(batch: pl.Series) -> pl.Series:
        known: dict[tuple[Any, ...], Any] = {}
        results: list[Any] = []
        for row in batch.struct.unnest().rows():
            if None in row:
                results.append(None)
            elif not remember:
                results.append(function(*row))
            else:
                if row not in known:
                    known[row] = function(*row)
                results.append(known[row])
        return pl.Series(batch.name, results, dtype=returns.dtype)

    named = [column.alias(f"{index}") for index, column in enumerate(columns)]
    return pl.struct(named).map_batches(on_batch, return_dtype=returns.dtype, is_elementwise=True)
