"""Read: join each tuple with records of a stored table."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

import polars as pl

from boxcars.boxes.stored import Stored, column_names, record_schema, with_tuples
from boxcars.model.schema import Schema
from boxcars.sql import Kind, Statement
from boxcars.sql.store import Store


class Read(Stored, type="read", icon="⊟"):
    """Join each tuple with the records of a stored table that a query finds for it.

    The SQL is a query about one tuple, named ``input`` in it. Each record found is emitted with the
    fields of the tuple, followed by the columns of the query. A column whose name is taken by a
    field is prefixed with its table, such as ``cards_limit``, unless the SQL names it with AS. A
    tuple without records has no output; a query with an aggregate, such as ``SELECT count(*) AS
    n``, always returns one.

    A ``select`` emits the records alone, and reports the tuples without any.

    Paper: Aurora's Read (retrospective, 4.1).

    >>> import boxcars as bx
    >>> net = bx.Network("limits")
    >>> bills = net.input("bills", ts="time", fields={"time": "int", "card": "str"})
    >>> cards = net.table("cards", fields={"card": "str", "limit": "float"}, key="card")
    >>> limited = bills.read('SELECT "limit" FROM cards WHERE card = input.card')
    """

    kind: ClassVar[Kind] = Kind.SELECT

    def schemas(self, statement: Statement, schema: Schema) -> Mapping[str, Schema]:
        """The fields of the tuple, then the columns of the query."""
        return {"0": record_schema(statement, schema, schema.fields)}

    def run(self, train: pl.DataFrame, schema: Schema, store: Store) -> Mapping[str, pl.DataFrame]:
        """Look up all tuples of the train."""
        statement = self.statement(store.tables, schema)
        records = store.run(statement, train, column_names(statement.columns, schema.fields))
        return {"0": with_tuples(records, train, schema.fields)}
