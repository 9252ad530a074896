"""Read: put what is stored about a tuple beside it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

import polars as pl

from boxcars.boxes.stored import Stored, place, record_schema, with_tuples
from boxcars.model.schema import Schema
from boxcars.sql import Kind, Statement
from boxcars.sql.store import Store


class Read(Stored, type="read", icon="⊟"):
    """Put each record that a query finds for a tuple beside the tuple: a join with a table.

    The SQL is a query about one tuple, which it calls ``input``. For each record found the fields
    of the tuple leave, and behind them the columns of the query. A column whose name a field has
    already leaves with the name of its table before it, such as ``cards_limit``; so does nothing
    that the SQL gives a name with AS. A tuple without a record leaves nothing: a query with an
    aggregate, such as ``SELECT count(*) AS n``, always gives one.

    A ``select`` gives the records alone, and tells which tuples have none.

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
        records = store.run(statement, train, place(statement.columns, schema.fields))
        return {"0": with_tuples(records, train, schema.fields)}
