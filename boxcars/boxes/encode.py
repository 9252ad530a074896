"""Encode: tuples to bytes (an output converter box of Aurora)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import polars as pl

from boxcars.boxes.decode import dead_schema
from boxcars.connectors.formats import make_format
from boxcars.kernels.columns.system_columns import HIDDEN_COLUMNS
from boxcars.kernels.contract import Eager
from boxcars.model.arc import DEAD, MAIN
from boxcars.model.box import Ports, param
from boxcars.model.ordered_map import Fields
from boxcars.model.problem import Wrong
from boxcars.model.schema import Schema
from boxcars.model.types import Type


class Encode(Eager, type="encode", icon="⇤"):
    """Encode each tuple as bytes: CSV, JSON lines, XML, fixed-length binary, or custom.

    The output has the order attribute and the bytes. A tuple that the format can't write goes to
    the output ``dead``, with the reason.

    Paper: Aurora's converter boxes (retrospective, 4.4).

    >>> import boxcars as bx
    >>> calls = bx.Network("n").input("calls", ts="at", fields={"at": "int", "caller": "str"})
    >>> lines = calls.encode(format="jsonl")
    """

    format: str = param("csv, jsonl, xml, binary, or the name of a user-defined converter.")
    field: str = param("The field of the output that holds the bytes.", default="data")
    options: Fields[Any] = param("Options of the format.", default=Fields())

    @property
    def side_ports(self) -> tuple[str, ...]:
        """``dead`` has the tuples that could not be written."""
        return (DEAD,)

    def outputs(self, inputs: Ports) -> Mapping[str, Schema]:
        """The order attribute and the bytes."""
        schema = inputs[0]
        if not schema.known:
            return {MAIN: schema, DEAD: schema}
        try:
            make_format(self.format, schema.fields, self.options)
        except Wrong as wrong:
            inputs.wrong(str(wrong), "format")
        inputs.new_field(self.field, "field")
        if self.field == schema.ts:
            inputs.wrong(f"'{self.field}' is the order attribute; choose another name.", "field")
        order = {schema.ts: schema[schema.ts]}
        return {
            MAIN: schema.with_fields(order | {self.field: Type.BYTES}),
            DEAD: dead_schema(inputs),
        }

    def run(self, train: pl.DataFrame, schema: Schema) -> Mapping[str, pl.DataFrame]:
        """Encode the whole train at once."""
        encoded = make_format(self.format, schema.fields, self.options).encode(
            train.select(list(schema.fields))
        )
        carried = train.select(schema.ts, HIDDEN_COLUMNS)
        data = carried.with_columns(encoded.data.alias(self.field))
        dead = pl.concat(
            [carried[encoded.dead["origin"]], encoded.dead.drop("origin")], how="horizontal"
        )
        return {
            MAIN: data.filter(pl.col(self.field).is_not_null()).select(
                schema.ts, self.field, HIDDEN_COLUMNS
            ),
            DEAD: dead.select(schema.ts, "record", "reason", HIDDEN_COLUMNS),
        }
