"""Database connections: SQLite in memory or in a file, and PostgreSQL."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import sqlalchemy as sa
from sqlalchemy.exc import ArgumentError, SQLAlchemyError

from boxcars.model.entities import Table
from boxcars.model.problem import BoxcarsError, Wrong, a, nearest
from boxcars.model.types import Type
from boxcars.sql.write import POSTGRES, SQLITE, Dialect
from boxcars.tables.values import Row

IN_MEMORY = sa.URL.create("sqlite+pysqlite")
_DRIVERS = {"sqlite": "sqlite+pysqlite", "postgresql": "postgresql+psycopg"}
_DIALECTS = {"sqlite": SQLITE, "postgresql": POSTGRES}
_SECONDS_TO_CONNECT = 10
SECONDS_TO_WAIT = 60
"""Seconds to wait for a lock, which an earlier attempt of the same task may hold."""


@dataclass(frozen=True)
class Address:
    """The address of a table: a database, and the name of the table in it.

    >>> Address.parse("postgresql://ann:secret@db.example/calls#seen", "DB")
    postgresql://db.example/calls#seen
    """

    url: sa.URL
    table: str

    @classmethod
    def parse(cls, text: str, table: str) -> Address:
        """Parse ``sqlite:///file.db`` or ``postgresql://user@host/database``, with ``#table``."""
        base, _, name = text.partition("#")
        try:
            url = sa.make_url(base)
        except (ArgumentError, ValueError):  # its message would show the password
            url = sa.URL.create("unreadable")
        if url.drivername not in _DRIVERS:
            raise Wrong(
                "expected a database such as sqlite:///file.db or "
                "postgresql://user@host/database, optionally with #table."
            )
        return cls(url.set(drivername=_DRIVERS[url.drivername]), name or table)

    @property
    def in_memory(self) -> bool:
        """Whether it is private to this process, and ends with it."""
        return self.url.get_backend_name() == "sqlite" and self.file is None

    @property
    def file(self) -> Path | None:
        """The file of a SQLite database."""
        return file_of(self.url)

    @property
    def text(self) -> str:
        """The address for :meth:`parse`, with an absolute path; includes the password."""
        url = self.url.set(drivername=self.url.get_backend_name())
        if self.file is not None:
            url = url.set(database=str(self.file.resolve()))
        return f"{url.render_as_string(hide_password=False)}#{self.table}"

    def __repr__(self) -> str:
        """The address without user and password."""
        url = self.url
        port = f":{url.port}" if url.port else ""
        return (
            f"{url.get_backend_name()}://{url.host or ''}{port}/{url.database or ''}#{self.table}"
        )


def file_of(url: sa.URL) -> Path | None:
    """The file of a SQLite database; None for any other database."""
    if url.get_backend_name() != "sqlite" or url.database in (None, "", ":memory:"):
        return None
    return Path(str(url.database))


class Database:
    """A connection to a database, with one transaction at a time.

    A ``read_only`` connection refuses writes, and never blocks others.
    """

    def __init__(self, url: sa.URL, *, read_only: bool = False) -> None:
        self.dialect: Dialect = _DIALECTS[url.get_backend_name()]
        self.url = url
        options = {"connect_timeout": _SECONDS_TO_CONNECT} if self.dialect.typed else {}
        engine = sa.create_engine(url, poolclass=sa.pool.NullPool, connect_args=options)
        self.errors: tuple[type[Exception], ...] = (
            SQLAlchemyError,
            engine.dialect.loaded_dbapi.Error,
        )
        self.secret = str(url.password) if url.password else ""
        self.connection: sa.Connection
        with self.explained("the database can't be opened"):
            self.connection = engine.connect()
            for setting in _settings(self.dialect, read_only):
                self.connection.exec_driver_sql(setting)
            self.connection.commit()
        self._identity = self._find_identity()

    @contextmanager
    def explained(self, what: str) -> Iterator[None]:
        """Turn database errors into one or two sentences: what failed, and what to do."""
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
        """A cursor of the driver, in the current transaction."""
        if not self.connection.in_transaction():
            self.connection.begin()
        return self.connection.connection.cursor()

    def execute_many(self, sql: str, rows: Sequence[Row]) -> None:
        """Execute a statement for each row of parameters."""
        self.cursor.executemany(sql, rows)

    def query(self, sql: str, parameters: Row = ()) -> list[Row]:
        """The rows that a statement returns."""
        cursor = self.cursor
        cursor.execute(sql, parameters)
        found: list[Row] = cursor.fetchall()
        return found

    def query_each(self, sql: str, rows: Sequence[Row]) -> Iterator[list[Row]]:
        """The rows that a statement returns for each row of parameters."""
        if not self.dialect.typed:
            yield from (self.query(sql, row) for row in rows)
            return
        cursor = self.cursor
        cursor.executemany(sql, rows, returning=True)  # pipelined: does not wait for each answer
        for _ in rows:
            yield cursor.fetchall()
            cursor.nextset()

    def begin(self) -> None:
        """Begin a write transaction; in SQLite it locks out other writers."""
        cursor = self.cursor
        if not self.dialect.typed:
            cursor.execute("BEGIN IMMEDIATE")

    def commit(self) -> None:
        """Commit the transaction."""
        with self.explained("the database could not commit"):
            self.connection.commit()

    def rollback(self) -> None:
        """Roll back the transaction."""
        with self.explained("the database could not roll back"):
            self.connection.rollback()

    def is_alive(self) -> bool:
        """Whether the connection is alive, and its file was not removed or replaced."""
        try:
            if self.dialect.typed:
                self.query("SELECT 1")
                self.connection.rollback()
            return self._find_identity() == self._identity
        except self.errors:
            return False

    def _find_identity(self) -> tuple[int, int] | None:
        file = file_of(self.url)
        if file is None or not file.exists():
            return None
        found = file.stat()
        return found.st_dev, found.st_ino

    def close(self) -> None:
        """Close the connection, even if it is lost; uncommitted changes are rolled back."""
        with suppress(*self.errors):
            self.connection.close()

    def has_table(self, name: str) -> bool:
        """Whether the table exists."""
        return bool(sa.inspect(self.connection).has_table(name))

    def ensure_table(self, name: str, table: Table) -> bool:
        """Create a table, or check the columns of an existing one; return whether it is new."""
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
                raise Wrong(
                    f"column '{column}' is {found[column]} in the database, expected {a(type_)}."
                )
        return False

    def index(self, name: str, columns: Sequence[str]) -> None:
        """Create an index on these columns."""
        what = hashlib.blake2b("/".join((name, *columns)).encode(), digest_size=8).hexdigest()
        table = sa.Table(name, sa.MetaData(), *(sa.Column(column) for column in columns))
        sa.Index(f"boxcars_{what}", *table.c).create(self.connection)


def _settings(dialect: Dialect, read_only: bool) -> list[str]:
    """Settings of a new connection.

    A SQLite reader is restricted by a pragma instead of a read-only file, because it may have to
    roll back the journal of a killed writer. A writer does not spill its cache to the file, because
    that would lock out all readers until the end of the transaction.
    """
    wait = round(SECONDS_TO_WAIT * 1000)
    if dialect.typed:
        only = ["SET SESSION CHARACTERISTICS AS TRANSACTION READ ONLY"] if read_only else []
        return ["SET TIME ZONE 'UTC'", f"SET lock_timeout = {wait}", *only]
    only = ["PRAGMA query_only = ON"] if read_only else ["PRAGMA cache_spill = OFF"]
    return ["PRAGMA case_sensitive_like = ON", f"PRAGMA busy_timeout = {wait}", *only]


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
    """The type of an existing column; UNKNOWN if SQLite does not declare one."""
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
    if getattr(cause, "sqlite_errorname", "").startswith("SQLITE_BUSY"):
        kinds.add("LockNotAvailable")
    return next((advice for kind, advice in _ADVICES.items() if kind in kinds), "")


_ADVICES: Mapping[str, str] = {
    "LockNotAvailable": " Another run or program is writing there: stop it, or wait until it ends.",
    "InsufficientPrivilege": " Ask for this permission, or connect as another user.",
    "IntegrityError": (" Handle such rows with ON CONFLICT, or filter their tuples out before."),
    "DataError": " Such a value can't be stored there: map it to one that can.",
    "ProgrammingError": " Does the table still have the columns that the network declares?",
    "OperationalError": " Is it running and reachable, and does this user have the permission?",
}
"""Advice, by the error classes that all drivers have (PEP 249)."""
