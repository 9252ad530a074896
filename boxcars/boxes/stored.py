"""Common base of the boxes over stored tables: an SQL statement per tuple."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Mapping
from typing import Any, ClassVar, Self

import polars as pl

from boxcars.kernels.columns.system_columns import POSITION
from boxcars.kernels.contract import Tabled
from boxcars.model.box import Ports, param
from boxcars.model.problem import Wrong
from boxcars.model.schema import HIDDEN, UNKNOWN_SCHEMA, Schema
from boxcars.model.types import Type
from boxcars.sql import Column, Kind, Statement, tables_of
from boxcars.sql.store import TUPLE, Store

INPUTS = "inputs"
"""The port with the tuples themselves, of a box that changes a table."""

_RECORDS_OF_ONE_TUPLE = 1 << 20


class Stored(Tabled):
    """A box that runs an SQL statement for each tuple, named ``input`` in it."""

    kind: ClassVar[Kind]

    sql: str = param("The statement; input.<field> is a value of the tuple.")
    table: str | None = param(
        "The table, for documentation; it must be one that the SQL names.",
        default=None,
    )

    @classmethod
    def build(cls, sql: str, *, table: str | None = None) -> Self:
        """The statement, and optionally its table."""
        return cls(sql, table)

    def arguments(self) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """The arguments of :meth:`build`."""
        return (self.sql,), {"table": self.table} if self.table is not None else {}

    def with_outputs(self, number: int) -> Self:
        """In Borealis XML the last outputs may be omitted."""
        return self if number <= len(self.ports) else super().with_outputs(number)

    def gives_several(self) -> bool:
        """A statement may return several records for a tuple."""
        return True

    @property
    def tables(self) -> tuple[str, ...]:
        """The tables that the statement names."""
        return tables_of(self.sql, self.kind)

    def statement(self, tables: Mapping[str, Any], schema: Schema) -> Statement:
        """The statement, checked against the tables and the input."""
        return Statement.of(self.kind, self.sql, tables, schema)

    def outputs(self, inputs: Ports) -> Mapping[str, Schema]:
        """The schemas of the outputs; the order attribute of the input is in all of them."""
        inputs.in_order()
        unknown = dict.fromkeys(self.ports, UNKNOWN_SCHEMA)
        try:
            statement = self.statement(inputs.tables, inputs[0])
            if self.table not in (None, *statement.tables):
                named = " and ".join(f"'{table}'" for table in statement.tables)
                inputs.wrong(f"the SQL names {named}, not '{self.table}'.", "table")
            return self.schemas(statement, inputs[0]) if inputs[0].known else unknown
        except Wrong as wrong:
            inputs.wrong(str(wrong), "sql")
            return unknown

    @abstractmethod
    def schemas(self, statement: Statement, schema: Schema) -> Mapping[str, Schema]:
        """The schemas of the outputs of a valid statement."""


class Changing(Stored):
    """A box that changes records of a table: update and delete."""

    writes: ClassVar[bool] = True

    @property
    def ports(self) -> tuple[str, ...]:
        """The records, then the tuples themselves."""
        return ("0", INPUTS)

    def schemas(self, statement: Statement, schema: Schema) -> Mapping[str, Schema]:
        """The changed records, and the input itself."""
        return {"0": record_schema(statement, schema, [schema.ts]), INPUTS: schema}

    def run(self, train: pl.DataFrame, schema: Schema, store: Store) -> Mapping[str, pl.DataFrame]:
        """Run the statement for all tuples; returns the records and the tuples."""
        statement = self.statement(store.tables, schema)
        names = column_names(statement.columns, [schema.ts])
        records = store.run(statement, train, names)
        return {"0": with_tuples(records, train, [schema.ts]), INPUTS: train}


def column_names(columns: Iterable[Column], taken: Iterable[str]) -> list[str]:
    """Output names of record columns that are emitted with fields of the tuple.

    A column whose name is taken is prefixed with its table: ``DB_Phone``.
    """
    used = set(taken)
    names = []
    for column in columns:
        name = column.name
        if name in used and column.table:
            name = f"{column.table}_{column.name}"
        if name in used:
            raise Wrong(
                f"the output would have two fields '{name}': give one of them another "
                "name in the SQL, with AS."
            )
        used.add(name)
        names.append(name)
    return names


def record_schema(statement: Statement, schema: Schema, carried: Iterable[str]) -> Schema:
    """The schema of records with some fields of their tuple."""
    fields: dict[str, Type] = {name: schema[name] for name in carried}
    names = column_names(statement.columns, fields)
    types = (column.type for column in statement.columns)
    return schema.with_fields(fields | dict(zip(names, types, strict=True)))


def with_tuples(records: pl.DataFrame, train: pl.DataFrame, carried: Iterable[str]) -> pl.DataFrame:
    """Prepend fields of the tuple and its hidden columns to each of its records."""
    fields = [*carried, *(name for name in train.columns if name.startswith(HIDDEN))]
    joined = train.select(fields)[records[TUPLE]].hstack(records.drop(TUPLE))
    if POSITION in fields:
        within = pl.int_range(pl.len(), dtype=pl.Int64).over(records[TUPLE].alias(HIDDEN))
        return joined.with_columns(pl.col(POSITION) * _RECORDS_OF_ONE_TUPLE + within)
    return joined
