"""Runs SQL statements on stored tables, wherever each table is; shared by previews and runs."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain

import polars as pl

from boxcars.model.entities import Table
from boxcars.model.problem import Wrong
from boxcars.model.schema import UNKNOWN_SCHEMA
from boxcars.sql import Kind, Statement
from boxcars.sql.store import TUPLE
from boxcars.sql.write import NUMBER, Text, write_many, write_one
from boxcars.tables.database import Address, Database
from boxcars.tables.values import Row, column_of, rows_of

BATCH = 2_000
"""Tuples that are looked up with one query."""
MAX_PARAMETERS = 30_000
"""Parameters of a statement; SQLite allows 32766."""
ONE_BY_ONE = 4
"""Tuples; up to this many are looked up one by one, which is faster than one query."""


@dataclass(frozen=True)
class Location:
    """The location of a table, and whether it was created by this run."""

    database: Database
    address: Address
    new: bool = False
    own: bool = False
    """Whether the table has no address from the user: it is in memory or in the checkpoint."""


class SqlTables(ABC):
    """Tables on which statements can be run, wherever each of them is."""

    def __init__(self, tables: Mapping[str, Table]) -> None:
        self.tables = tables
        self._texts: dict[tuple[Statement, int], Text] = {}
        self._indexes: set[tuple[str, ...]] = set()

    @abstractmethod
    def location(self, name: str) -> Location:
        """The location of a table."""

    def records(self, name: str) -> pl.DataFrame:
        """The rows of a table, sorted by value."""
        every = Statement.of(Kind.SELECT, f'SELECT * FROM "{name}"', self.tables, UNKNOWN_SCHEMA)
        once = pl.DataFrame({"": [0]})
        return self.run(every, once, list(self.tables[name].fields)).drop(TUPLE)

    def run(self, statement: Statement, train: pl.DataFrame, names: Sequence[str]) -> pl.DataFrame:
        """Run a statement for each tuple of a train, in order; return the resulting rows."""
        location = self.location_of(statement)
        types = {TUPLE: pl.Int64()} | {
            name: column.type.dtype for name, column in zip(names, statement.columns, strict=True)
        }
        if train.is_empty():
            return pl.DataFrame(schema=types)
        tables = " and ".join(f"'{name}'" for name in statement.tables)
        where = "" if location.own else f" ({location.address})"
        with location.database.explained(f"table {tables}{where}"):
            self.index(statement)
            if statement.kind is Kind.INSERT:
                text = self._text(statement, location.database)
                rows = self._rows(text, train, location.database)
                location.database.execute_many(text.sql, rows)
                return pl.DataFrame(schema=types)
            if statement.kind is Kind.SELECT:
                return self._look_up(statement, train, names)
            return self._each(statement, train, TUPLE, names)

    def location_of(self, statement: Statement) -> Location:
        """The location of the tables of a statement, which must be in one database."""
        locations = [self.location(name) for name in statement.tables]
        other = next((p for p in locations if p.database is not locations[0].database), None)
        if other is not None:
            raise Wrong(
                f"{locations[0].address} and {other.address} are in different databases; all "
                "tables of a statement must be in the same one."
            )
        return locations[0]

    def index(self, statement: Statement) -> None:
        """Create an index for a statement on tables that this run created, the first time."""
        for name in statement.tables:
            location, key = self.location(name), self.tables[name].key
            columns = dict.fromkeys(m.column for m in statement.matches if m.table == name)
            covered = set(key[: len(columns)]) == set(columns)
            if location.new and not covered and (name, *columns) not in self._indexes:
                self._indexes.add((name, *columns))
                location.database.index(location.address.table, list(columns))

    def _text(self, statement: Statement, database: Database, tuples: int = 0) -> Text:
        """The SQL text of a statement, for one tuple or for several at once."""
        key = (statement, tuples)
        if key not in self._texts:
            stored = {name: self.location(name).address.table for name in statement.tables}
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
        """Look up tuples: once for equal tuples, and many with one query if possible."""
        fields = list(statement.fields)
        if train.height <= ONE_BY_ONE:
            return self._each(statement, train, TUPLE, names)
        if not fields:
            numbers = pl.DataFrame({NUMBER: pl.repeat(0, train.height, eager=True, dtype=pl.Int64)})
            records = self._each(statement, train[:1], NUMBER, names)
        else:
            distinct = train.select(fields).unique().sort(fields)  # sorted for locality of reads
            numbered = distinct.with_columns(pl.int_range(pl.len(), dtype=pl.Int64).alias(NUMBER))
            numbers = train.select(fields).join(
                numbered, on=fields, how="left", nulls_equal=True, maintain_order="left"
            )
            ask = self._each if statement.one_by_one else self._batched
            records = ask(statement, distinct, NUMBER, names)
        tuples = numbers.select(pl.int_range(pl.len(), dtype=pl.Int64).alias(TUPLE), NUMBER)
        return tuples.join(records, on=NUMBER, maintain_order="left_right").drop(NUMBER)

    def _each(
        self, statement: Statement, tuples: pl.DataFrame, number: str, names: Sequence[str]
    ) -> pl.DataFrame:
        """The rows for each tuple, with its number first; one query for each tuple."""
        database = self.location_of(statement).database
        text = self._text(statement, database)
        answers = database.query_each(text.sql, self._rows(text, tuples, database))
        rows = [(n, *record) for n, records in enumerate(answers) for record in records]
        return _frame(statement, rows, number, names)

    def _batched(
        self, statement: Statement, tuples: pl.DataFrame, number: str, names: Sequence[str]
    ) -> pl.DataFrame:
        """The rows for each tuple, with its number first; one query for many tuples."""
        database = self.location_of(statement).database
        size = min(BATCH, MAX_PARAMETERS // len(statement.fields))
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
    """Build a frame of rows; without ORDER BY it is sorted by value."""
    columns = list(zip(*rows, strict=True)) or [()] * (len(names) + 1)
    given = zip(columns[1:], names, statement.columns, strict=True)
    frame = pl.DataFrame(
        [
            pl.Series(number, columns[0], dtype=pl.Int64),
            *(column_of(values, name, column.type) for values, name, column in given),
        ]
    )
    return frame if statement.tree.args.get("order") else frame.sort(frame.columns)
