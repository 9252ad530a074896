"""The stored tables of a network while it runs: where each is, and what it holds."""

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
from boxcars.tables.statements import Place, PlacedTables


class Tables(PlacedTables):
    """The tables of a run. What the boxes did since the last commit happens as one, or not at all.

    A table is given as data or as the address of a database. Data is loaded into the database
    ``home``, which is in memory unless one is given; a table without either is there and empty.
    """

    def __init__(
        self, tables: Mapping[str, Table], given: Mapping[str, Any], home: sa.URL = IN_MEMORY
    ) -> None:
        super().__init__(tables)
        self._home = home
        self._databases: dict[sa.URL, Database] = {}
        self._places: dict[str, Place] = {}
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
            address = Address.parse(given, name) if elsewhere else Address(self._home, name)
            self._see_to(name, table, address)
        except BoxcarsError as error:
            raise Wrong(f"table '{name}': {error}") from None
        if records is not None:
            self.load(name, records)

    def _see_to(self, name: str, table: Table, address: Address) -> None:
        taken = next((n for n, p in self._places.items() if p.address == address), None)
        if taken is not None:
            raise Wrong(f"{address} is the table '{taken}' already.")
        with _at(address):
            if address.url not in self._databases:
                self._databases[address.url] = Database(address.url)
            database = self._databases[address.url]
            with database.explained("the table can't be used"):
                new = database.see_to(address.table, table)
        self._places[name] = Place(database, address, new, own=address.url == self._home)

    def place(self, name: str) -> Place:
        """Where a table is."""
        return self._places[name]

    def commit(self) -> None:
        """Make all that was done last."""
        for database in self._databases.values():
            database.commit()

    def close(self) -> None:
        """Leave all databases; what was not committed is undone."""
        for database in self._databases.values():
            database.close()

    def contents(self) -> dict[str, pl.DataFrame]:
        """The records of the tables that are in no database of the user, in order."""
        return {name: self.records(name) for name, place in self._places.items() if place.own}

    def load(self, name: str, records: pl.DataFrame) -> None:
        """Add records to a table, all or none."""
        schema = Schema(self.tables[name].fields, "")
        fields = [exp.column(field, INPUT, quoted=True).sql() for field in schema.fields]
        sql = f'INSERT INTO "{name}" VALUES ({", ".join(fields)})'
        self.run(Statement.of(Kind.INSERT, sql, self.tables, schema), records, list(schema.fields))
        self._places[name].database.commit()


def check_names(tables: Mapping[str, Table], given: Mapping[str, Any]) -> None:
    """Complain about what is given for a table that the network does not have."""
    for name in given:
        if name not in tables:
            raise Wrong(f"there is no table '{name}'.{nearest(name, tables)}")


def is_address(given: Any) -> bool:
    """Whether a table is given as the address of a database, and not as data."""
    return isinstance(given, str) and "://" in given


def _read(table: Table, given: Any) -> pl.DataFrame:
    """Data of any origin as records; one that does not fit is not left out in silence."""
    if isinstance(given, str | Path):
        read = read_input(given, table)
    else:
        read = conform(as_frame(given), table)
    if read.dead.height:
        raise Wrong(f"a record can't be read: {read.dead['reason'][0]}.")
    return read.tuples


@contextmanager
def _at(address: Address) -> Iterator[None]:
    """Say of which table a complaint is."""
    try:
        yield
    except BoxcarsError as error:
        raise Wrong(f"{address}: {error}") from None
