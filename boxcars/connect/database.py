"""A database that holds tables: SQLite in this process or in a file, or PostgreSQL."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Any

import sqlalchemy as sa
from sqlalchemy.exc import ArgumentError, SQLAlchemyError

from boxcars.connect.records import Row
from boxcars.model.entities import Table
from boxcars.model.problem import BoxcarsError, Wrong, a, nearest
from boxcars.model.types import Type
from boxcars.sql.write import POSTGRES, SQLITE, Dialect

IN_MEMORY = "sqlite://"
_DRIVERS = {"sqlite": "sqlite+pysqlite", "postgresql": "postgresql+psycopg"}
_DIALECTS = {"sqlite": SQLITE, "postgresql": POSTGRES}
_SECONDS_TO_CONNECT = 10


@dataclass(frozen=True)
class Address:
    """Where a table is: a database, and the name of the table in it.

    >>> Address.parse("postgresql://ann:secret@db.example/calls#seen", "DB")
    postgresql://db.example/calls#seen
    """

    url: sa.URL
    table: str

    @classmethod
    def parse(cls, text: str, table: str) -> Address:
        """Read ``sqlite:///file.db`` or ``postgresql://user@host/database``, perhaps ``#table``."""
        base, _, name = text.partition("#")
        try:
            url = sa.make_url(base)
        except (ArgumentError, ValueError):  # its words would show the password
            url = sa.URL.create("unreadable")
        if url.drivername not in _DRIVERS:
            raise Wrong(
                "expected a database such as sqlite:///file.db or "
                "postgresql://user@host/database, perhaps with #table."
            )
        return cls(url.set(drivername=_DRIVERS[url.drivername]), name or table)

    def __repr__(self) -> str:
        """Without who may enter and how."""
        url = self.url
        port = f":{url.port}" if url.port else ""
        return (
            f"{url.get_backend_name()}://{url.host or ''}{port}/{url.database or ''}#{self.table}"
        )


class Database:
    """A connection to a database. What was done since the last commit can be undone."""

    def __init__(self, url: sa.URL) -> None:
        backend = url.get_backend_name()
        self.dialect: Dialect = _DIALECTS[backend]
        options = {"connect_timeout": _SECONDS_TO_CONNECT} if backend == "postgresql" else {}
        engine = sa.create_engine(url, poolclass=sa.pool.NullPool, connect_args=options)
        self.errors: tuple[type[Exception], ...] = (
            SQLAlchemyError,
            engine.dialect.loaded_dbapi.Error,
        )
        self.secret = str(url.password) if url.password else ""
        self.connection: sa.Connection
        with self.explained("the database can't be opened"):
            self.connection = engine.connect()
            self.connection.exec_driver_sql(
                "SET TIME ZONE 'UTC'" if self.dialect.typed else "PRAGMA case_sensitive_like = ON"
            )
            self.connection.commit()

    @contextmanager
    def explained(self, what: str) -> Iterator[None]:
        """Say in a sentence what a database complains of, and what to do."""
        try:
            yield
        except self.errors as error:
            raise BoxcarsError(f"{what}: {self._sentence(error)}") from None

    def _sentence(self, error: Exception) -> str:
        cause: BaseException = getattr(error, "orig", None) or error
        words = (str(cause).strip().splitlines() or [type(cause).__name__])[0].rstrip(".")
        if self.secret:
            words = words.replace(self.secret, "***")
        return f"{words}.{_advice(cause)}"

    @property
    def cursor(self) -> Any:
        """A cursor of the driver, in the transaction that is under way."""
        if not self.connection.in_transaction():
            self.connection.begin()
        return self.connection.connection.cursor()

    def execute_many(self, sql: str, rows: Sequence[Row]) -> None:
        """Execute a statement for each row of parameters."""
        self.cursor.executemany(sql, rows)

    def query(self, sql: str, parameters: Row = ()) -> list[Row]:
        """The records that a statement gives."""
        cursor = self.cursor
        cursor.execute(sql, parameters)
        found: list[Row] = cursor.fetchall()
        return found

    def query_each(self, sql: str, rows: Sequence[Row]) -> Iterator[list[Row]]:
        """The records that a statement gives for each row of parameters, one after the other."""
        if not self.dialect.typed:
            yield from (self.query(sql, row) for row in rows)
            return
        cursor = self.cursor
        cursor.executemany(sql, rows, returning=True)  # sent without waiting for each answer
        for _ in rows:
            yield cursor.fetchall()
            cursor.nextset()

    def commit(self) -> None:
        """Make what was done last."""
        with self.explained("the database could not keep what was done"):
            self.connection.commit()

    def close(self) -> None:
        """Leave; what was not committed is undone, also where the connection is lost already."""
        with suppress(*self.errors):
            self.connection.close()

    def see_to(self, name: str, table: Table) -> bool:
        """Create a table that is not there; else compare its columns. Whether it is new."""
        inspector = sa.inspect(self.connection)
        if not inspector.has_table(name):
            _definition(name, table, self.dialect).create(self.connection)
            self.connection.commit()
            return True
        found = {column["name"]: column["type"] for column in inspector.get_columns(name)}
        self.connection.commit()
        for column, type_ in table.fields.items():
            if column not in found:
                raise Wrong(f"there is no column '{column}'.{nearest(column, found)}")
            stored = _type_of(found[column])
            if not type_.accepts(stored):
                raise Wrong(f"column '{column}' is {found[column]} there, expected {a(type_)}.")
        return False

    def index(self, name: str, columns: Sequence[str]) -> None:
        """Make records be found fast by these columns."""
        what = hashlib.blake2b("/".join((name, *columns)).encode(), digest_size=8).hexdigest()
        table = sa.Table(name, sa.MetaData(), *(sa.Column(column) for column in columns))
        sa.Index(f"boxcars_{what}", *table.c).create(self.connection)


def _definition(name: str, table: Table, dialect: Dialect) -> sa.Table:
    text = sa.Text(collation="C") if dialect.typed else sa.Text()
    types: Mapping[Type, Any] = {**_COLUMNS, Type.STR: text}
    return sa.Table(
        name,
        sa.MetaData(),
        *(
            sa.Column(c, types[t], primary_key=c in table.key, autoincrement=False, quote=True)
            for c, t in table.fields.items()
        ),
        quote=True,
    )


def _type_of(stored: Any) -> Type:
    """The type of a column that is there; UNKNOWN if SQLite does not say."""
    return next((ours for kind, ours in _KINDS.items() if isinstance(stored, kind)), Type.UNKNOWN)


_COLUMNS: Mapping[Type, Any] = {
    Type.INT: sa.BigInteger(),
    Type.FLOAT: sa.Double(),
    Type.BOOL: sa.Boolean(),
    Type.TIMESTAMP: sa.DateTime(),
    Type.BYTES: sa.LargeBinary(),
}
_KINDS: Mapping[Any, Type] = {
    sa.String: Type.STR,
    sa.Integer: Type.INT,
    sa.Numeric: Type.FLOAT,
    sa.Float: Type.FLOAT,
    sa.Boolean: Type.BOOL,
    sa.DateTime: Type.TIMESTAMP,
    sa.LargeBinary: Type.BYTES,
}


def _advice(cause: BaseException) -> str:
    kinds = {kind.__name__ for kind in type(cause).__mro__}
    return next((advice for kind, advice in _ADVICES.items() if kind in kinds), "")


_ADVICES: Mapping[str, str] = {
    "IntegrityError": (
        " Say what happens to such a record with ON CONFLICT, or filter its tuple out before."
    ),
    "DataError": " Such a value can't be stored there: map it to one that can.",
    "ProgrammingError": " Does the table still have the columns that the network declares?",
    "OperationalError": " Is it running and reachable, and may this user do that?",
}
"""What to do, by the kinds of errors that all drivers have (PEP 249)."""
