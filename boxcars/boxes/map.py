"""Map: compute the fields of the output from those of the input."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, ClassVar, Self

import polars as pl

from boxcars.expr import Expr
from boxcars.kernels.columns.system_columns import HIDDEN_COLUMNS
from boxcars.kernels.contract import Frontier, Lazy
from boxcars.model.box import Ports, param
from boxcars.model.order import has_place, range_of
from boxcars.model.ordered_map import Fields
from boxcars.model.schema import Schema
from boxcars.model.types import Type

Source = str | int | float | bool | pl.Expr | Expr


class Map(Lazy, type="map", icon="ƒ"):
    """Compute new fields for each tuple, each by an expression.

    Only the named fields are in the output, unless ``keep``, ``rename`` or ``drop`` is given: then
    the other fields stay. The order attribute must be among the output fields: under its own name,
    or copied under another one.

    Paper: Aurora's Map (CIDR 2003, 2.2), StreamCloud's Map (thesis, 2.1.1).

    >>> import boxcars as bx
    >>> calls = bx.Network("n").input("calls", ts="time", fields={"time": "int", "euro": "float"})
    >>> dollars = calls.map(time="time", dollars="1.2492 * euro")
    """

    keeps_rows: ClassVar[bool] = True

    fields: Fields[Expr] = param(
        "The new fields, each with its expression.",
        default=Fields(),
        xml=("expression.#", "output-field-name.#"),
    )
    keep: bool = param("Whether all other fields are kept.", default=False)
    rename: Fields[str] = param(
        "Old names and their new ones; the other fields are kept.",
        default=Fields(),
        xml=("rename-to.#", "rename-field.#"),
    )
    drop: tuple[str, ...] = param("Fields to drop; the other fields are kept.", default=())

    @classmethod
    def build(
        cls,
        fields: Mapping[str, Source] | None = None,
        /,
        *,
        keep: bool = False,
        rename: Mapping[str, str] | None = None,
        drop: str | Sequence[str] = (),
        **more: Source,
    ) -> Self:
        """New fields by keyword, or in a mapping where a name is not a keyword."""
        exprs = Fields({name: Expr.of(e) for name, e in {**(fields or {}), **more}.items()})
        dropped = (drop,) if isinstance(drop, str) else tuple(drop)
        return cls(exprs, keep, Fields(rename or {}), dropped)

    def arguments(self) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """The arguments of :meth:`build`."""
        plain = self.plain()
        fields = plain.pop("fields", {})
        reserved = {"keep", "rename", "drop"}
        if all(name.isidentifier() and name not in reserved for name in fields):
            return (), {**fields, **plain}
        return (fields,), plain

    @property
    def keeps(self) -> bool:
        """Whether fields that are not named are kept."""
        return self.keep or bool(self.rename) or bool(self.drop)

    def outputs(self, inputs: Ports) -> Mapping[str, Schema]:
        """The kept fields, then the new ones in the given order."""
        schema = inputs[0]
        self._check_names(inputs, schema)
        types = {name: inputs.type(e, "fields", name) for name, e in self.fields.items()}
        kept = {new: schema[old] for new, old in self._kept(schema).items()}
        if not schema.known:
            return {"0": schema}
        ts = self._order_attribute(schema)
        if ts is None:
            inputs.wrong(
                f"the order attribute '{schema.ts}' is lost: add {schema.ts}: {schema.ts}.",
                "fields",
            )
            return {"0": replace(schema, fields=Fields(kept | types), ordered=False)}
        ordered = schema.ordered and self._order_kept(ts, schema)
        return {"0": Schema(Fields(kept | types), ts, ordered)}

    def _check_names(self, inputs: Ports, schema: Schema) -> None:
        if not self.fields and not self.keeps:
            inputs.wrong("a map needs at least one field.", "fields")
        for old in self.rename:
            inputs.field(old, "rename", old)
        for i, name in enumerate(self.drop):
            inputs.field(name, "drop", i)
        for new in self.fields:
            inputs.new_field(new, "fields", new)
        taken = {n for n in schema.fields if n not in self.rename and n not in self.drop}
        for old, new in self.rename.items():
            inputs.new_field(new, "rename", old)
            if new in taken:
                inputs.wrong(f"there is already a field '{new}'.", "rename", old)
            taken.add(new)

    def _kept(self, schema: Schema) -> dict[str, str]:
        """The kept fields: new name to old."""
        if not self.keeps:
            return {}
        return {self.rename.get(n, n): n for n in schema.fields if n not in self.drop}

    def _order_attribute(self, schema: Schema) -> str | None:
        """The order attribute of the output: the old name, or a copy under a new one."""
        kept = self._kept(schema)
        if schema.ts in self.fields or kept.get(schema.ts) == schema.ts:
            return schema.ts
        copies = [new for new, old in kept.items() if old == schema.ts]
        copies += [new for new, e in self.fields.items() if e.is_field() == schema.ts]
        return copies[0] if copies else None

    def _order_kept(self, ts: str, schema: Schema) -> bool:
        return ts not in self.fields or self.fields[ts].increasing_in(schema.ts)

    def carries(self, field: str, schema: Schema) -> str | None:
        """A kept field, or one whose expression is just a field."""
        new = self.fields.get(field)
        return new.is_field() if new is not None else self._kept(schema).get(field)

    def pipeline(self, train: pl.LazyFrame, schema: Schema) -> Mapping[str, pl.LazyFrame]:
        """A select over ``with_columns``, so that a constant is repeated for every tuple."""
        columns = {new: pl.col(old).alias(new) for new, old in self._kept(schema).items()}
        columns |= {name: e.compile(schema).alias(name) for name, e in self.fields.items()}
        return {"0": train.with_columns(*columns.values()).select(*columns, HIDDEN_COLUMNS)}

    def move_frontier(self, frontier: Frontier, schema: Schema) -> Frontier:
        """Compute the frontier as the order attribute is computed."""
        ts = self._order_attribute(schema)
        if frontier.value is None or ts is None or ts not in self.fields:
            return frontier
        if self.fields[ts].is_field() == schema.ts:
            return frontier
        if not self._order_kept(ts, schema):
            return replace(frontier, value=None)
        only = Schema(Fields({schema.ts: schema[schema.ts]}), schema.ts)
        row = pl.DataFrame({schema.ts: [frontier.value]}, schema=only.dtypes)
        found = row.select(self.fields[ts].compile(only)).item()
        if not self.in_range(row[schema.ts], schema).item():
            # No tuple lies outside the valid range, so the frontier saturates at its end.
            least, most = range_of(self.fields[ts].type_in(only))
            found = least if row[schema.ts].to_physical().item() < 0 else most
        return replace(frontier, value=found)

    def computes_order(self, schema: Schema) -> bool:
        """Whether the order attribute is computed, and increasing."""
        ts = self._order_attribute(schema)
        if ts is None or ts not in self.fields or not schema.ordered:
            return False
        return self.fields[ts].is_field() != schema.ts and self._order_kept(ts, schema)

    def in_range(self, times: pl.Series, schema: Schema) -> pl.Series:
        """Mask of the values that stay in range; ints are computed as floats, which can't wrap.

        Times are in order and so are the new values: if the first and last are in range, all are.
        """
        ts = self._order_attribute(schema)
        assert ts is not None
        type_ = schema[schema.ts]
        result = self.fields[ts].type_in(schema)
        if type_ is Type.INT:
            times, type_ = times.cast(pl.Float64), Type.FLOAT
        only = Schema(Fields({schema.ts: type_}), schema.ts)
        value = self.fields[ts].compile(only)
        inside = has_place(value if result is Type.TIMESTAMP else value.cast(pl.Float64), result)
        ends = pl.concat([times[:1], times[-1:]])
        if ends.to_frame().select(inside.all()).item():
            return pl.repeat(value=True, n=len(times), dtype=pl.Boolean, eager=True)
        return times.to_frame().select(inside).to_series()
