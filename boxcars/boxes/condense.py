"""Condense: the partial aggregate that runs before a shuffle (Aurora*'s box splitting)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

import polars as pl

from boxcars.expr import Expr
from boxcars.kernels.columns.system_columns import HIDDEN_COLUMNS
from boxcars.kernels.contract import Eager
from boxcars.kernels.windows.axis import Axis
from boxcars.model.arc import MAIN
from boxcars.model.box import Ports, param
from boxcars.model.ordered_map import Fields
from boxcars.model.schema import Schema
from boxcars.model.types import Type
from boxcars.model.window import Window

COMBINED: Mapping[str, str] = {"count": "sum", "sum": "sum", "min": "min", "max": "max"}
"""Functions whose partial results combine to the result over all tuples, bit-identical, and how."""

_PANE = "__pane"
_SAMPLE = 4096
"""Tuples; the size of the sample that decides whether condensing a train pays."""


class Condense(Eager):
    """Pre-aggregates the tuples of a train that share a key and their windows.

    How much it condenses depends on how the stream is split, so it is not a box for users: the
    planner puts it upstream of an aggregate that combines its output.
    """

    type: ClassVar[str] = "condense"
    icon: ClassVar[str] = "σ"

    window: Window = param("The windows of the aggregate.")
    by: tuple[str, ...] = param("The group-by fields of the aggregate.")
    fields: Fields[Expr] = param("The argument of the function of each field.")
    how: Fields[str] = param("The function of each field.")

    def outputs(self, inputs: Ports) -> Mapping[str, Schema]:
        """The fields of the aggregate."""
        schema = inputs[0]
        kept = {name: schema[name] for name in (*self.by, schema.ts)}
        found = {name: self._type(name, schema) for name in self.how}
        return {MAIN: Schema(Fields(kept | found), schema.ts, schema.ordered)}

    def _type(self, name: str, schema: Schema) -> Type:
        return Type.INT if self.how[name] == "count" else self.fields[name].type_in(schema)

    def carries(self, field: str, schema: Schema) -> str | None:
        """The group-by fields; the order value is that of the first tuple."""
        return field if field in self.by else None

    def run(self, train: pl.DataFrame, schema: Schema) -> Mapping[str, pl.DataFrame]:
        """Condense groups of tuples, if that makes them much fewer; otherwise lift each tuple."""
        pane = Axis.of(self.window, schema[schema.ts]).pane_of(train[schema.ts])
        single = train.select(
            *self.by,
            schema.ts,
            *(self._lifted(name, schema).alias(name) for name in self.how),
            HIDDEN_COLUMNS,
            pl.Series(_PANE, pane),
        )
        keys = [*self.by, _PANE]
        sample = single[:_SAMPLE].select(keys)
        if 2 * sample.n_unique() < sample.height:
            firsts = [name for name in single.columns if name not in (*keys, *self.how)]
            single = single.group_by(keys, maintain_order=True).agg(
                pl.col(firsts).first(), *(_combined(name, how) for name, how in self.how.items())
            )
        fields = [*self.by, schema.ts, *self.how]
        return {MAIN: single.drop(_PANE).select(*fields, HIDDEN_COLUMNS)}

    def _lifted(self, name: str, schema: Schema) -> pl.Expr:
        """The function over a single tuple."""
        if self.how[name] != "count":
            return self.fields[name].compile(schema)
        if name not in self.fields:
            return pl.lit(1, dtype=pl.Int64)
        return self.fields[name].compile(schema).is_not_null().cast(pl.Int64)


def _combined(name: str, how: str) -> pl.Expr:
    column = pl.col(name)
    if how in ("min", "max"):
        return column.min() if how == "min" else column.max()
    return pl.when(column.count() > 0).then(column.sum()).alias(name)
