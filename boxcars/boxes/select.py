"""Select: look up each tuple in a stored table."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

import numpy as np
import polars as pl

from boxcars.boxes.stored import Stored, place, record_schema, with_tuples
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
    """Look up each tuple in a stored table: the records found, the tuples without, and how many.

    The SQL is a query about one tuple, which it calls ``input``. The first output has the records
    found, with the columns of the query behind the order attribute of the tuple. Those of one
    tuple come in the order of ORDER BY, else in that of their values. ``missing`` has the tuples
    for which there is no record, as they are. ``count`` has, for each tuple, the values that WHERE
    compares and the number of records as ``Count``; a value is called like the column that it is
    equal to, or else like the field of the tuple. Nobody has to use these two.

    A column that is called like the order attribute leaves with the name of its table before it,
    such as ``DB_time``. A null equals nothing. To get the fields of the tuple beside those of the
    record, use ``read``.

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
        """The records, the tuples without one, and the numbers."""
        return ("0", MISSING, COUNT)

    def schemas(self, statement: Statement, schema: Schema) -> Mapping[str, Schema]:
        """The columns of the query, the input itself, and what WHERE compares."""
        order = {schema.ts: schema[schema.ts]}
        compared = {name: schema[field] for name, field in _compared(statement, schema).items()}
        return {
            "0": record_schema(statement, schema, [schema.ts]),
            MISSING: schema,
            COUNT: schema.with_fields(order | compared | {NUMBER: Type.INT}),
        }

    def run(self, train: pl.DataFrame, schema: Schema, store: Store) -> Mapping[str, pl.DataFrame]:
        """Look up all tuples of the train; what was found tells who is missing."""
        statement = self.statement(store.tables, schema)
        records = store.run(statement, train, place(statement.columns, [schema.ts]))
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
    """The fields of the tuple in WHERE, by the names that they have beside the count."""
    if schema.ts == NUMBER:
        raise Wrong(f"the order attribute can't be called '{NUMBER}': the number of records is.")
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
