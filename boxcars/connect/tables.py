"""The stored tables of a network while it runs: where each is, and what the boxes ask of them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any

import polars as pl
import sqlalchemy as sa
from sqlglot import exp

from boxcars.connect.conform import as_frame, conform
from boxcars.connect.database import IN_MEMORY, Address, Database
from boxcars.connect.files import read_input
from boxcars.connect.records import Row, column_of, rows_of
from boxcars.model.entities import Table
from boxcars.model.problem import BoxcarsError, Wrong, nearest
from boxcars.model.schema import UNKNOWN_SCHEMA, Schema
from boxcars.sql import INPUT, Kind, Statement
from boxcars.sql.store import TUPLE
from boxcars.sql.write import NUMBER, Text, write_many, write_one

ASKED_TOGETHER = 2_000
"""How many tuples are looked up with one query."""
MOST_PARAMETERS = 30_000
"""How many parameters a statement of SQLite may have."""
FEW = 4
"""So few tuples are looked up one by one: to put them together takes longer."""


@dataclass(frozen=True)
class Place:
    """Where a table is, and whether it was made for this run."""

    database: Database
    address: Address
    new: bool

    @property
    def in_memory(self) -> bool:
        """Whether nobody else can see it."""
        return self.address.url.get_backend_name() == "sqlite" and not self.address.url.database


class Tables:
    """The tables of a run. What the boxes did since the last commit happens as one, or not at all.

    A table is given as data, which is loaded into memory, or as the address of a database. Without
    either it is in memory and empty.
    """

    def __init__(self, tables: Mapping[str, Table], given: Mapping[str, Any]) -> None:
        self.tables = tables
        self._databases: dict[sa.URL, Database] = {}
        self._places: dict[str, Place] = {}
        self._texts: dict[tuple[Statement, int], Text] = {}
        self._indexes: set[tuple[str, ...]] = set()
        for name in given:
            if name not in tables:
                raise Wrong(f"there is no table '{name}'.{nearest(name, tables)}")
        try:
            for name, table in tables.items():
                self._open(name, table, given.get(name))
        except BaseException:
            self.close()
            raise

    # Opening and closing.

    def _open(self, name: str, table: Table, given: Any) -> None:
        elsewhere = isinstance(given, str) and "://" in given
        try:
            records = None if elsewhere or given is None else _read(table, given)
            self._see_to(name, table, Address.parse(given if elsewhere else IN_MEMORY, name))
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
        self._places[name] = Place(database, address, new)

    def commit(self) -> None:
        """Make all that was done last."""
        for database in self._databases.values():
            database.commit()

    def close(self) -> None:
        """Leave all databases; what was not committed is undone."""
        for database in self._databases.values():
            database.close()

    def contents(self) -> dict[str, pl.DataFrame]:
        """The records of the tables that are in memory, in the order of their values."""
        return {name: self.records(name) for name, p in self._places.items() if p.in_memory}

    def records(self, name: str) -> pl.DataFrame:
        """The records of a table, in the order of their values."""
        every = Statement.of(Kind.SELECT, f'SELECT * FROM "{name}"', self.tables, UNKNOWN_SCHEMA)
        once = pl.DataFrame({"": [0]})
        return self.run(every, once, list(self.tables[name].fields)).drop(TUPLE)

    def load(self, name: str, records: pl.DataFrame) -> None:
        """Add records to a table, all or none."""
        schema = Schema(self.tables[name].fields, "")
        fields = [exp.column(field, INPUT, quoted=True).sql() for field in schema.fields]
        sql = f'INSERT INTO "{name}" VALUES ({", ".join(fields)})'
        self.run(Statement.of(Kind.INSERT, sql, self.tables, schema), records, list(schema.fields))
        self._places[name].database.commit()

    # Running statements.

    def run(self, statement: Statement, train: pl.DataFrame, names: Sequence[str]) -> pl.DataFrame:
        """Run a statement for each tuple of a train, in order; the records that it gave."""
        place = self._place(statement)
        types = {TUPLE: pl.Int64()} | {
            name: column.type.dtype for name, column in zip(names, statement.columns, strict=True)
        }
        if train.is_empty():
            return pl.DataFrame(schema=types)
        tables = " and ".join(f"'{name}'" for name in statement.tables)
        where = "" if place.in_memory else f" ({place.address})"
        with place.database.explained(f"table {tables}{where}"):
            self._index(statement)
            if statement.kind is Kind.INSERT:
                text = self._text(statement, place.database)
                place.database.execute_many(text.sql, self._rows(text, train, place.database))
                return pl.DataFrame(schema=types)
            if statement.kind is Kind.SELECT:
                return self._look_up(statement, train, names)
            return self._each(statement, train, TUPLE, names)

    def _place(self, statement: Statement) -> Place:
        places = [self._places[name] for name in statement.tables]
        other = next((p for p in places if p.database is not places[0].database), None)
        if other is not None:
            raise Wrong(
                f"{places[0].address} and {other.address} are in two databases; the tables of one "
                "statement must be in one."
            )
        return places[0]

    def _index(self, statement: Statement) -> None:
        """Make a table of ours fast to look up, the first time it is asked."""
        for name in statement.tables:
            place, key = self._places[name], self.tables[name].key
            columns = dict.fromkeys(m.column for m in statement.matches if m.table == name)
            covered = set(key[: len(columns)]) == set(columns)
            if place.new and not covered and (name, *columns) not in self._indexes:
                self._indexes.add((name, *columns))
                place.database.index(place.address.table, list(columns))

    def _text(self, statement: Statement, database: Database, tuples: int = 0) -> Text:
        """The text of a statement, for one tuple or for many at once."""
        key = (statement, tuples)
        if key not in self._texts:
            stored = {name: place.address.table for name, place in self._places.items()}
            self._texts[key] = (
                write_many(statement, database.dialect, stored, tuples)
                if tuples
                else write_one(statement, database.dialect, stored)
            )
        return self._texts[key]

    def _rows(self, text: Text, train: pl.DataFrame, database: Database) -> list[Row]:
        if not text.fields:
            return [()] * train.height
        columns = [pl.col(field).alias(str(i)) for i, field in enumerate(text.fields)]
        return rows_of(train.select(columns), database.dialect)

    def _look_up(
        self, statement: Statement, train: pl.DataFrame, names: Sequence[str]
    ) -> pl.DataFrame:
        """Ask once for tuples that ask the same, and for many tuples together if possible."""
        fields = list(statement.fields)
        if train.height <= FEW:
            return self._each(statement, train, TUPLE, names)
        if not fields:
            numbers = pl.DataFrame({NUMBER: pl.repeat(0, train.height, eager=True, dtype=pl.Int64)})
            records = self._each(statement, train[:1], NUMBER, names)
        else:
            asked = train.select(fields).unique().sort(fields)  # neighbours are found together
            numbered = asked.with_columns(pl.int_range(pl.len(), dtype=pl.Int64).alias(NUMBER))
            numbers = train.select(fields).join(
                numbered, on=fields, how="left", nulls_equal=True, maintain_order="left"
            )
            ask = self._each if statement.one_by_one else self._together
            records = ask(statement, asked, NUMBER, names)
        tuples = numbers.select(pl.int_range(pl.len(), dtype=pl.Int64).alias(TUPLE), NUMBER)
        return tuples.join(records, on=NUMBER, maintain_order="left_right").drop(NUMBER)

    def _each(
        self, statement: Statement, tuples: pl.DataFrame, number: str, names: Sequence[str]
    ) -> pl.DataFrame:
        """The records for each tuple, behind its number, asked one after the other."""
        database = self._place(statement).database
        text = self._text(statement, database)
        answers = database.query_each(text.sql, self._rows(text, tuples, database))
        rows = [(n, *record) for n, records in enumerate(answers) for record in records]
        return _frame(statement, rows, number, names)

    def _together(
        self, statement: Statement, tuples: pl.DataFrame, number: str, names: Sequence[str]
    ) -> pl.DataFrame:
        """The records for each tuple, behind its number, asked for many at once."""
        database = self._place(statement).database
        size = min(ASKED_TOGETHER, MOST_PARAMETERS // len(statement.fields))
        found = []
        for start in range(0, tuples.height, size):
            some = tuples[start : start + size]
            text = self._text(statement, database, some.height)
            one = Text("", text.fields[: len(statement.fields)])
            rows = self._rows(one, some, database)
            arrays = database.dialect.typed
            values = map(list, zip(*rows, strict=True)) if arrays else chain.from_iterable(rows)
            records = _frame(statement, database.query(text.sql, tuple(values)), number, names)
            found.append(records.with_columns(pl.col(number) + (start - 1)))
        return pl.concat(found)


def _frame(
    statement: Statement, rows: Sequence[Row], number: str, names: Sequence[str]
) -> pl.DataFrame:
    """A frame of records; without ORDER BY their own values put them in order."""
    columns = list(zip(*rows, strict=True)) or [()] * (len(names) + 1)
    given = zip(columns[1:], names, statement.columns, strict=True)
    frame = pl.DataFrame(
        [
            pl.Series(number, columns[0], dtype=pl.Int64),
            *(column_of(values, name, column.type) for values, name, column in given),
        ]
    )
    return frame if statement.tree.args.get("order") else frame.sort(frame.columns)


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
