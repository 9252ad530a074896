"""The stored tables of a preview, and of a run while it is set up."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import polars as pl
import sqlalchemy as sa
from sqlglot import exp

from boxcars.connectors.conform import as_frame, conform
from boxcars.connectors.files import read_input
from boxcars.model.entities import Table
from boxcars.model.problem import BoxcarsError, Wrong, nearest
from boxcars.model.schema import Schema
from boxcars.sql import INPUT, Kind, Statement
from boxcars.tables.database import IN_MEMORY, Address, Database
from boxcars.tables.statements import Location, SqlTables


class Tables(SqlTables):
    """The tables of a preview; all changes since the last commit form one transaction.

    A table is given as data or as the address of a database. Data is loaded into the database
    ``default``, by default in memory; so is a table that is not given, which is empty.
    """

    def __init__(
        self, tables: Mapping[str, Table], given: Mapping[str, Any], default: sa.URL = IN_MEMORY
    ) -> None:
        super().__init__(tables)
        self._default = default
        self._databases: dict[sa.URL, Database] = {}
        self._locations: dict[str, Location] = {}
        check_names(tables, given)
        try:
            for name, table in tables.items():
                self._open(name, table, given.get(name))
        except BaseException:
            self.close()
            raise

    def _open(self, name: str, table: Table, given: Any) -> None:
        elsewhere = is_address(given)
        try:
            records = None if elsewhere or given is None else _read(table, given)
            address = Address.parse(given, name) if elsewhere else Address(self._default, name)
            self._ensure_table(name, table, address)
        except BoxcarsError as error:
            raise Wrong(f"table '{name}': {error}") from None
        if records is not None:
            self.load(name, records)

    def _ensure_table(self, name: str, table: Table, address: Address) -> None:
        taken = next((n for n, p in self._locations.items() if p.address == address), None)
        if taken is not None:
            raise Wrong(f"{address} is already the table '{taken}'.")
        with _at(address):
            if address.url not in self._databases:
                self._databases[address.url] = Database(address.url)
            database = self._databases[address.url]
            with database.explained("the table can't be used"):
                new = database.ensure_table(address.table, table)
        self._locations[name] = Location(database, address, new, own=address.url == self._default)

    def location(self, name: str) -> Location:
        """The location of a table."""
        return self._locations[name]

    def commit(self) -> None:
        """Commit all databases."""
        for database in self._databases.values():
            database.commit()

    def close(self) -> None:
        """Close all databases; uncommitted changes are rolled back."""
        for database in self._databases.values():
            database.close()

    def contents(self) -> dict[str, pl.DataFrame]:
        """The rows of the tables that are not in the user's databases, sorted by value."""
        return {
            name: self.records(name) for name, location in self._locations.items() if location.own
        }

    def load(self, name: str, records: pl.DataFrame) -> None:
        """Insert rows into a table and commit them."""
        schema = Schema(self.tables[name].fields, "")
        fields = [exp.column(field, INPUT, quoted=True).sql() for field in schema.fields]
        sql = f'INSERT INTO "{name}" VALUES ({", ".join(fields)})'
        self.run(Statement.of(Kind.INSERT, sql, self.tables, schema), records, list(schema.fields))
        self._locations[name].database.commit()


def check_names(tables: Mapping[str, Table], given: Mapping[str, Any]) -> None:
    """Raise if data is given for an unknown table."""
    for name in given:
        if name not in tables:
            raise Wrong(f"there is no table '{name}'.{nearest(name, tables)}")


def is_address(given: Any) -> bool:
    """Whether a table is given as the address of a database, and not as data."""
    return isinstance(given, str) and "://" in given


def _read(table: Table, given: Any) -> pl.DataFrame:
    """Read data of any kind as rows; a row that does not fit is an error, not a dead letter."""
    if isinstance(given, str | Path):
        read = read_input(given, table)
    else:
        read = conform(as_frame(given), table)
    if read.dead.height:
        raise Wrong(f"a record can't be read: {read.dead['reason'][0]}.")
    return read.tuples


@contextmanager
def _at(address: Address) -> Iterator[None]:
    """Prefix errors with the address of the table."""
    try:
        yield
    except BoxcarsError as error:
        raise Wrong(f"{address}: {error}") from None
