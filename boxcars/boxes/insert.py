"""Insert: keep each tuple as a record of a stored table."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

import polars as pl

from boxcars.boxes.stored import Stored
from boxcars.model.schema import Schema
from boxcars.sql import Kind, Statement
from boxcars.sql.store import Store


class Insert(Stored, type="insert", icon="⊞"):
    """Keep each tuple as a record of a stored table, and pass it on.

    The SQL says which value goes to which column; the columns may be left out if there is a value
    for each, in their order. A bare name in VALUES is a field of the tuple too. What happens to a
    record whose key is there already is said by ON CONFLICT; without it the run stops. A tuple
    leaves once it is stored; nobody has to read it.

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
        """The tuples as they came."""
        return {"0": schema}

    def run(self, train: pl.DataFrame, schema: Schema, store: Store) -> Mapping[str, pl.DataFrame]:
        """Store all tuples of the train."""
        statement = self.statement(store.tables, schema)
        store.run(statement, train, [column.name for column in statement.columns])
        return {"0": train}
