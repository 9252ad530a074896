"""Filter: select tuples, or route them to several outputs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Self

import polars as pl

from boxcars.expr import Expr
from boxcars.kernels.contract import Lazy
from boxcars.model.box import Ports, param
from boxcars.model.schema import Schema
from boxcars.model.types import Type

ELSE = "else"
_ROUTE = "__route"


class Filter(Lazy, type="filter", icon="▽"):
    """Route each tuple to the output of the first predicate that holds; null counts as false.

    With ``otherwise`` tuples that match no predicate go to a last output, otherwise they are
    dropped.

    Paper: Aurora's Filter (CIDR 2003, 2.2), StreamCloud's Filter (thesis, 2.1.1).

    >>> import boxcars as bx
    >>> calls = bx.Network("n").input("calls", ts="t", fields={"t": "int", "price": "float"})
    >>> cheap, medium, rest = calls.filter("price <= 5", "price <= 10", otherwise=True)
    """

    where: tuple[Expr, ...] = param("The predicates, evaluated in this order.", xml="expression.#")
    otherwise: bool = param(
        "Whether tuples that match no predicate go to the output 'else'.",
        key="else",
        default=False,
    )

    @classmethod
    def build(cls, *where: str | pl.Expr | Expr, otherwise: bool = False) -> Self:
        """Predicates in order; ``otherwise=True`` adds an output for the rest."""
        return cls(tuple(Expr.of(predicate) for predicate in where), otherwise)

    def arguments(self) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """The arguments of :meth:`build`."""
        where = tuple(predicate.plain() for predicate in self.where)
        return where, {"otherwise": True} if self.otherwise else {}

    @property
    def ports(self) -> tuple[str, ...]:
        """One output per predicate, and optionally ``else``."""
        return (*map(str, range(len(self.where))), *([ELSE] if self.otherwise else []))

    def with_outputs(self, number: int) -> Self:
        """In Borealis XML an output beyond those of the predicates is the ``else``."""
        more = number == len(self.where) + 1 and not self.otherwise
        return replace(self, otherwise=True) if more else super().with_outputs(number)

    def outputs(self, inputs: Ports) -> Mapping[str, Schema]:
        """Every output has the schema of the input."""
        if not self.where:
            inputs.wrong("a filter needs at least one predicate.", "where")
        for i, predicate in enumerate(self.where):
            inputs.expect(predicate, Type.BOOL, "where", i)
        return dict.fromkeys(self.ports, inputs[0])

    def carries(self, field: str, schema: Schema) -> str | None:
        """All fields pass unchanged."""
        return field

    def pipeline(self, train: pl.LazyFrame, schema: Schema) -> Mapping[str, pl.LazyFrame]:
        """A plain filter for one output; for several, the route of each tuple comes first."""
        predicates = [predicate.compile(schema) for predicate in self.where]
        if len(self.ports) == 1:
            return {"0": train.filter(predicates[0])}
        route = pl.lit(len(predicates), dtype=pl.UInt32)
        for i, predicate in reversed(list(enumerate(predicates))):
            route = pl.when(predicate).then(pl.lit(i, dtype=pl.UInt32)).otherwise(route)
        routed = train.with_columns(route.alias(_ROUTE))
        return {
            port: routed.filter(pl.col(_ROUTE) == i).drop(_ROUTE)
            for i, port in enumerate(self.ports)
        }
