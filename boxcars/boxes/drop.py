"""Drop: shed tuples, at random or by a predicate."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

import polars as pl

from boxcars.expr import Expr
from boxcars.kernels.columns.system_columns import POSITION, pseudo_random
from boxcars.kernels.contract import Lazy
from boxcars.model.arc import MAIN
from boxcars.model.box import Ports, param
from boxcars.model.schema import Schema
from boxcars.model.types import Type


class Drop(Lazy, type="drop", icon="✂"):
    """Shed load: drop a random fraction of the tuples, or those of least value.

    With ``rate`` each tuple is dropped with that probability; the choice depends on the seed and on
    the position of the tuple in its input, so it is the same in every run. With ``where`` only
    tuples that satisfy the predicate may be dropped; without ``rate`` all of them are.

    Paper: Aurora's random and semantic load shedding (retrospective, 2.4).

    >>> import boxcars as bx
    >>> calls = bx.Network("n").input("calls", ts="t", fields={"t": "int", "price": "float"})
    >>> half = calls.drop(rate=0.5, seed=7)
    >>> expensive = calls.drop(where="price < 0.1")
    """

    positioned: ClassVar[bool] = True

    rate: float = param("The probability that a tuple is dropped.", default=1.0)
    where: Expr | None = param(
        "A predicate for the tuples that may be dropped; by default all may.", default=None
    )
    seed: int = param("The seed of the random choice.", default=0)

    def outputs(self, inputs: Ports) -> Mapping[str, Schema]:
        """The schema of the input."""
        if not 0 <= self.rate <= 1:
            inputs.wrong(f"expected a probability between 0 and 1, got {self.rate}.", "rate")
        if self.where is None and self.rate == 1:
            inputs.wrong("give a rate below 1, or where.")
        if self.where is not None:
            inputs.expect(self.where, Type.BOOL, "where")
        return {MAIN: inputs[0]}

    def carries(self, field: str, schema: Schema) -> str | None:
        """All fields pass unchanged."""
        return field

    def pipeline(self, train: pl.LazyFrame, schema: Schema) -> Mapping[str, pl.LazyFrame]:
        """Keep the tuples that are not chosen."""
        dropped = pseudo_random(pl.col(POSITION), self.seed) < self.rate
        if self.where is not None:
            chosen = self.where.compile(schema).fill_null(value=False)
            dropped = chosen if self.rate == 1 else chosen & dropped
        return {MAIN: train.filter(~dropped)}
