"""Select: look up each tuple in a stored table."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

import numpy as np
import polars as pl

from boxcars.boxes.stored import Stored, column_names, record_schema, with_tuples
from boxcars.kernels.columns.system_columns import HIDDEN_COLUMNS
from boxcars.model.problem import Wrong
from boxcars.model.schema import Schema
from boxcars.model.types import Type
from boxcars.sql import Kind, Statement
from boxcars.sql.store import TUPLE, Store

MISSING, COUNT = "missing", "count"
"""The ports of the tuples without a record, and of the number of records."""
NUMBER = "Count"
"""The field with the number of records."""


class Select(Stored, type="select", icon="⊡"):
    """Look up each tuple in a stored table: records found, tuples without any, and counts.

    The SQL is a query about one tuple, named ``input`` in it. The first output has the records
    found: the order attribute of the tuple, then the columns of the query. The records of one tuple
    are in the order of ORDER BY, otherwise sorted by value. ``missing`` has the tuples without a
    record, unchanged. ``count`` has, for each tuple, the values that WHERE compares and the number
    of records as ``Count``; a value has the name of the column it is compared with, otherwise that
    of the field of the tuple. These two outputs are optional.

    A column with the name of the order attribute is prefixed with its table, such as ``DB_time``. A
    null equals nothing. To get the fields of the tuple along with those of the record, use
    ``read``.

    Paper: StreamCloud's Select (thesis, 2.3).

    >>> import boxcars as bx
    >>> net = bx.Network("blacklist")
    >>> calls = net.input("calls", ts="time", fields={"time": "int", "caller": "str"})
    >>> fraud = net.table("fraud", fields={"phone": "str"}, key="phone")
    >>> known, unknown, number = calls.select("SELECT * FROM fraud WHERE phone = input.caller")
    """

    kind: ClassVar[Kind] = Kind.SELECT

    @property
    def ports(self) -> tuple[str, ...]:
        """The records, the tuples without any, and the counts."""
        return ("0", MISSING, COUNT)

    def schemas(self, statement: Statement, schema: Schema) -> Mapping[str, Schema]:
        """The columns of the query, the input itself, and the values that WHERE compares."""
        order = {schema.ts: schema[schema.ts]}
        compared = {name: schema[field] for name, field in _compared(statement, schema).items()}
        return {
            "0": record_schema(statement, schema, [schema.ts]),
            MISSING: schema,
            COUNT: schema.with_fields(order | compared | {NUMBER: Type.INT}),
        }

    def run(self, train: pl.DataFrame, schema: Schema, store: Store) -> Mapping[str, pl.DataFrame]:
        """Look up all tuples of the train."""
        statement = self.statement(store.tables, schema)
        records = store.run(statement, train, column_names(statement.columns, [schema.ts]))
        found = np.bincount(records[TUPLE].to_numpy(), minlength=train.height)
        number = pl.Series(NUMBER, found, dtype=pl.Int64)
        compared = [
            pl.col(field).alias(name) for name, field in _compared(statement, schema).items()
        ]
        return {
            "0": with_tuples(records, train, [schema.ts]),
            MISSING: train.filter(number == 0),
            COUNT: train.select(schema.ts, *compared, number, HIDDEN_COLUMNS),
        }


def _compared(statement: Statement, schema: Schema) -> dict[str, str]:
    """The fields of the tuple in WHERE, by their names in the output ``count``."""
    if schema.ts == NUMBER:
        raise Wrong(
            f"the order attribute can't be named '{NUMBER}': that is the number of records."
        )
    taken = {NUMBER, schema.ts}
    columns = {match.field: match.column for match in statement.matches}
    names: dict[str, str] = {}
    for field in statement.where_fields:
        choices = (columns.get(field, field), field, f"input_{field}")
        name = next((choice for choice in choices if choice not in taken), None)
        if name is not None and field != schema.ts:
            taken.add(name)
            names[name] = field
    return names
