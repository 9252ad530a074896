"""Statements over stored tables, each in its place: what every way to run a network needs."""

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
    new: bool = False
    own: bool = False
    """Whether we chose the place, and not the user."""


class PlacedTables(ABC):
    """Tables that statements can be run over, wherever each of them is."""

    def __init__(self, tables: Mapping[str, Table]) -> None:
        self.tables = tables
        self._texts: dict[tuple[Statement, int], Text] = {}
        self._indexes: set[tuple[str, ...]] = set()

    @abstractmethod
    def place(self, name: str) -> Place:
        """Where a table is."""

    def records(self, name: str) -> pl.DataFrame:
        """The records of a table, in the order of their values."""
        every = Statement.of(Kind.SELECT, f'SELECT * FROM "{name}"', self.tables, UNKNOWN_SCHEMA)
        once = pl.DataFrame({"": [0]})
        return self.run(every, once, list(self.tables[name].fields)).drop(TUPLE)

    def run(self, statement: Statement, train: pl.DataFrame, names: Sequence[str]) -> pl.DataFrame:
        """Run a statement for each tuple of a train, in order; the records that it gave."""
        place = self.place_of(statement)
        types = {TUPLE: pl.Int64()} | {
            name: column.type.dtype for name, column in zip(names, statement.columns, strict=True)
        }
        if train.is_empty():
            return pl.DataFrame(schema=types)
        tables = " and ".join(f"'{name}'" for name in statement.tables)
        where = "" if place.own else f" ({place.address})"
        with place.database.explained(f"table {tables}{where}"):
            self.index(statement)
            if statement.kind is Kind.INSERT:
                text = self._text(statement, place.database)
                place.database.execute_many(text.sql, self._rows(text, train, place.database))
                return pl.DataFrame(schema=types)
            if statement.kind is Kind.SELECT:
                return self._look_up(statement, train, names)
            return self._each(statement, train, TUPLE, names)

    def place_of(self, statement: Statement) -> Place:
        """Where the tables of a statement are: all in one database."""
        places = [self.place(name) for name in statement.tables]
        other = next((p for p in places if p.database is not places[0].database), None)
        if other is not None:
            raise Wrong(
                f"{places[0].address} and {other.address} are in two databases; the tables of one "
                "statement must be in one."
            )
        return places[0]

    def index(self, statement: Statement) -> None:
        """Make a table of ours fast to look up, the first time it is asked."""
        for name in statement.tables:
            place, key = self.place(name), self.tables[name].key
            columns = dict.fromkeys(m.column for m in statement.matches if m.table == name)
            covered = set(key[: len(columns)]) == set(columns)
            if place.new and not covered and (name, *columns) not in self._indexes:
                self._indexes.add((name, *columns))
                place.database.index(place.address.table, list(columns))

    def _text(self, statement: Statement, database: Database, tuples: int = 0) -> Text:
        """The text of a statement, for one tuple or for many at once."""
        key = (statement, tuples)
        if key not in self._texts:
            stored = {name: self.place(name).address.table for name in statement.tables}
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
        database = self.place_of(statement).database
        text = self._text(statement, database)
        answers = database.query_each(text.sql, self._rows(text, tuples, database))
        rows = [(n, *record) for n, records in enumerate(answers) for record in records]
        return _frame(statement, rows, number, names)

    def _together(
        self, statement: Statement, tuples: pl.DataFrame, number: str, names: Sequence[str]
    ) -> pl.DataFrame:
        """The records for each tuple, behind its number, asked for many at once."""
        database = self.place_of(statement).database
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
