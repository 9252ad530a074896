"""Insert: store each tuple as a record of a table."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

import polars as pl

from boxcars.boxes.stored import Stored
from boxcars.model.schema import Schema
from boxcars.sql import Kind, Statement
from boxcars.sql.store import Store


class Insert(Stored, type="insert", icon="⊞"):
    """Insert each tuple as a record into a stored table, and pass it on.

    The SQL says which value goes to which column; the column list is optional if there is a value
    for each column, in order. A bare name in VALUES is a field of the tuple too. ON CONFLICT says
    what happens to a record whose key exists already; without it the run fails. A tuple is emitted
    once it is stored; the output is optional.

    Paper: StreamCloud's Insert (thesis, 2.3).

    >>> import boxcars as bx
    >>> net = bx.Network("last-seen")
    >>> calls = net.input("calls", ts="time", fields={"time": "int", "caller": "str"})
    >>> seen = net.table("seen", fields={"phone": "str", "at": "int"}, key="phone")
    >>> stored = calls.insert(
    ...     "INSERT INTO seen (phone, at) VALUES (input.caller, input.time) "
    ...     "ON CONFLICT (phone) DO UPDATE SET at = excluded.at"
    ... )
    """

    kind: ClassVar[Kind] = Kind.INSERT
    writes: ClassVar[bool] = True

    def schemas(self, statement: Statement, schema: Schema) -> Mapping[str, Schema]:
        """The tuples unchanged."""
        return {"0": schema}

    def run(self, train: pl.DataFrame, schema: Schema, store: Store) -> Mapping[str, pl.DataFrame]:
        """Insert all tuples of the train."""
        statement = self.statement(store.tables, schema)
        store.run(statement, train, [column.name for column in statement.columns])
        return {"0": train}
