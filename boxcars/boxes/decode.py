"""Decode: bytes to tuples (an input converter box of Aurora)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import polars as pl

from boxcars.connectors.formats import make_format
from boxcars.kernels.columns.system_columns import HIDDEN_COLUMNS, POSITION
from boxcars.kernels.contract import Eager
from boxcars.model.arc import DEAD, MAIN
from boxcars.model.box import Ports, param
from boxcars.model.ordered_map import Fields
from boxcars.model.problem import Wrong, a
from boxcars.model.schema import HIDDEN, Schema
from boxcars.model.types import Type

RECORDS_IN_ONE_VALUE = 1 << 20


class Decode(Eager, type="decode", icon="⇥"):
    """Decode a field of bytes into tuples: CSV, JSON lines, XML, fixed-length binary, or custom.

    One value may hold many records. The order attribute of the input is kept, its other fields are
    dropped. A record that can't be read goes to the output ``dead``, with the reason.

    Paper: Aurora's converter boxes (retrospective, 4.4).

    >>> import boxcars as bx
    >>> raw = bx.Network("n").input("raw", ts="at", fields={"at": "int", "data": "bytes"})
    >>> calls = raw.decode(format="csv", fields={"caller": "str", "price": "float"})
    >>> corrupt = calls.dead
    """

    format: str = param("csv, jsonl, xml, binary, or the name of a user-defined converter.")
    fields: Fields[Type] = param(
        "The fields of a record.", xml=("record-field-type.#", "record-field-name.#")
    )
    field: str = param("The field of the input that holds the bytes.", default="data")
    options: Fields[Any] = param("Options of the format.", default=Fields())

    @property
    def side_ports(self) -> tuple[str, ...]:
        """``dead`` has the records that could not be read."""
        return (DEAD,)

    def outputs(self, inputs: Ports) -> Mapping[str, Schema]:
        """The order attribute, then the fields of a record."""
        schema = inputs[0]
        if not Type.BYTES.accepts(got := inputs.field(self.field, "field")):
            inputs.wrong(f"expected bytes, '{self.field}' is {a(got)}.", "field")
        try:
            make_format(self.format, self.fields, self.options)
        except Wrong as wrong:
            inputs.wrong(str(wrong), "format")
        for name in self.fields:
            inputs.new_field(name, "fields", name)
            if name == schema.ts:
                inputs.wrong(
                    f"'{name}' is taken by the order attribute of the input.", "fields", name
                )
        if not schema.known:
            return {MAIN: schema, DEAD: schema}
        order = {schema.ts: schema[schema.ts]}
        return {
            MAIN: schema.with_fields(order | dict(self.fields)),
            DEAD: dead_schema(inputs),
        }

    def gives_several(self) -> bool:
        """A value may hold several records."""
        return True

    def run(self, train: pl.DataFrame, schema: Schema) -> Mapping[str, pl.DataFrame]:
        """Decode all values of the train at once."""
        decoded = make_format(self.format, self.fields, self.options).decode(train[self.field])
        carried = train.select(schema.ts, HIDDEN_COLUMNS)
        tuples = pl.concat(
            [_numbered(carried, decoded.origin), decoded.tuples], how="horizontal"
        ).select(schema.ts, *self.fields, HIDDEN_COLUMNS)
        dead = pl.concat(
            [carried[decoded.dead["origin"]], decoded.dead.drop("origin")], how="horizontal"
        ).select(schema.ts, "record", "reason", HIDDEN_COLUMNS)
        return {MAIN: tuples, DEAD: dead}


def dead_schema(inputs: Ports) -> Schema:
    """The schema of dead letters: the order attribute, the record and the reason."""
    schema = inputs[0]
    letters = {"record": Type.BYTES, "reason": Type.STR}
    if schema.ts in letters:
        inputs.wrong(
            f"the order attribute can't be named '{schema.ts}': that is a field of dead letters.",
            "in",
        )
    return schema.with_fields({schema.ts: schema[schema.ts]} | letters)


def _numbered(carried: pl.DataFrame, origin: pl.Series) -> pl.DataFrame:
    """The carried columns of each record; records of one value get distinct positions."""
    rows = carried[origin]
    if POSITION not in rows.columns:
        return rows
    within = pl.int_range(pl.len()).over(origin.alias(HIDDEN))
    return rows.with_columns(pl.col(POSITION) * RECORDS_IN_ONE_VALUE + within)
