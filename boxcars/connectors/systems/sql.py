"""Database tables as sinks: ``postgresql://user@host/db?table=alarms&key=caller``, SQLite."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from datetime import datetime
from pathlib import Path
from typing import Any

import polars as pl
import pyarrow as pa
import sqlalchemy as sa
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.exc import DBAPIError, SQLAlchemyError

from boxcars.connectors.systems.connector import Connector, Delivery, Lost
from boxcars.connectors.systems.messages import arrived, or_closed, words
from boxcars.connectors.systems.url import Url
from boxcars.model.problem import BoxcarsError, Wrong, a, nearest
from boxcars.model.schema import Schema
from boxcars.model.types import Type

LEDGER = sa.Table(
    "boxcars_delivered",
    sa.MetaData(),
    sa.Column("home", sa.Text, primary_key=True),
    sa.Column("epoch", sa.BigInteger, nullable=False),
)
"""The last delivered epoch of each output."""

_DRIVERS = {"sqlite": "sqlite+pysqlite", "postgresql": "postgresql+psycopg"}
_SECONDS = 10
"""Seconds to wait for a connection; in SQLite, for another writer."""
_COLUMNS: dict[Type, Any] = {
    Type.STR: sa.Text(),
    Type.INT: sa.BigInteger(),
    Type.FLOAT: sa.Double(),
    Type.BOOL: sa.Boolean(),
    Type.TIMESTAMP: sa.DateTime(),
    Type.BYTES: sa.LargeBinary(),
}
_KINDS: dict[Any, Type] = {
    sa.String: Type.STR,
    sa.Integer: Type.INT,
    sa.Numeric: Type.FLOAT,
    sa.Float: Type.FLOAT,
    sa.Boolean: Type.BOOL,
    sa.DateTime: Type.TIMESTAMP,
    sa.LargeBinary: Type.BYTES,
}
_REFUSED = ("authentication failed", "does not exist", "no pg_hba.conf entry", "no password")
"""Texts of PostgreSQL's permanent connection errors, for which the driver has no code."""


class Sql(Connector):
    """A PostgreSQL or SQLite table; it is created if it does not exist.

    Options: ``table``; ``key``, the fields of an upsert, separated by commas, without which rows
    are inserted; ``schema``, in PostgreSQL.
    """

    scheme, title = "postgresql", "a PostgreSQL or SQLite table"
    guarantee_out = "exactly once: the rows and their epoch number in one transaction"
    tested = "a PostgreSQL server; SQLite"

    def delivery(self, schema: Schema, home: str) -> Delivery:
        """Create a connection that writes rows into the table."""
        url = self.url
        url.check(["table", "key", "schema", "patience"], path="a database")
        if not url.options.get("table"):
            raise Wrong(f"{url}: expected a table, as in {url.scheme}://.../database?table=alarms.")
        if url.options["table"] == LEDGER.name:
            raise Wrong(f"{url}: '{LEDGER.name}' is reserved for the delivered epochs.")
        return SqlDelivery(url, schema, home)


class SqlDelivery(Delivery):
    """Writes the rows of an epoch and its number in the ledger, in one transaction."""

    def __init__(self, url: Url, schema: Schema, home: str) -> None:
        self._url, self._fields, self._home = url, schema.fields, home
        self._key = [name for name in url.options.get("key", "").split(",") if name]
        for name in self._key:
            if name not in schema:
                hint = nearest(name, schema.fields)
                raise Wrong(f"{url}: there is no field '{url.hide(name)}'.{hint}")
        self._table = _table(url, schema, self._key)
        self._engine = _engine(url)
        self._insert: Any = {"sqlite": sqlite, "postgresql": postgresql}[url.scheme].insert
        self._connection: sa.Connection | None = None

    def open(self) -> None:
        """Connect; create the table and the ledger, or compare the columns."""
        with or_closed(self), self._explained():
            connection = self._connection = self._engine.connect()
            with connection.begin():
                if self._url.scheme == "postgresql":  # creating a table concurrently fails
                    connection.execute(sa.select(sa.func.pg_advisory_xact_lock(726_2779)))
                LEDGER.create(connection, checkfirst=True)
                inspector = sa.inspect(connection)
                if inspector.has_table(self._table.name, self._table.schema):
                    self._compare(inspector)
                else:
                    self._table.create(connection)

    def _compare(self, inspector: sa.Inspector) -> None:
        """Raise Wrong if the existing table can't store the rows."""
        where = self._table.name, self._table.schema
        found = {column["name"]: column["type"] for column in inspector.get_columns(*where)}
        for name, type_ in self._fields.items():
            if name not in found:
                raise Wrong(f"{self._url}: there is no column '{name}'.{nearest(name, found)}")
            kinds = (ours for kind, ours in _KINDS.items() if isinstance(found[name], kind))
            if not next(kinds, Type.UNKNOWN).accepts(type_):
                raise Wrong(
                    f"{self._url}: column '{name}' is {found[name]}, the field is {a(type_)}."
                )
        if self._key and set(self._key) not in _unique(inspector, *where):
            raise Wrong(
                f"{self._url}: the table has no primary key or unique constraint on "
                f"{', '.join(self._key)}, so rows can't be replaced by this key."
            )

    def deliver(self, table: pa.Table, epoch: int) -> None:
        """Write the rows and the epoch atomically, unless the epoch was delivered already."""
        rows = _rows(pl.DataFrame(table))
        assert self._connection is not None
        with self._explained(), self._connection.begin():
            if self._claim(self._connection, epoch):
                self._connection.execute(self._statement(), rows)

    def _claim(self, connection: sa.Connection, epoch: int) -> bool:
        """Record an epoch in the ledger, and return whether it is new. Concurrent writers wait."""
        insert = self._insert(LEDGER).values(home=self._home, epoch=epoch)
        claimed = connection.execute(
            insert.on_conflict_do_update(
                index_elements=["home"],
                set_={"epoch": insert.excluded.epoch},
                where=LEDGER.c.epoch < insert.excluded.epoch,
            ).returning(LEDGER.c.epoch)
        ).all()
        if claimed:
            return True
        last = sa.select(LEDGER.c.epoch).where(LEDGER.c.home == self._home)
        return not arrived(connection.scalar(last), epoch)

    def _statement(self) -> Any:
        insert = self._insert(self._table)
        if not self._key:
            return insert
        rest = {name: insert.excluded[name] for name in self._fields if name not in self._key}
        if not rest:
            return insert.on_conflict_do_nothing(index_elements=self._key)
        return insert.on_conflict_do_update(index_elements=self._key, set_=rest)

    @contextmanager
    def _explained(self) -> Iterator[None]:
        try:
            yield
        except SQLAlchemyError as error:
            cause = (isinstance(error, DBAPIError) and error.orig) or error
            said = words(cause, self._url)
            if _passes(cause) and not any(words_ in said for words_ in _REFUSED):
                raise Lost(f"the database does not answer: {said}") from None
            raise Wrong(f"{self._url}: the database refused the request: {said}") from None

    def close(self) -> None:
        """Disconnect."""
        if self._connection is not None:
            with suppress(SQLAlchemyError):
                self._connection.close()
        self._connection = None


def _rows(frame: pl.DataFrame) -> list[dict[str, Any]]:
    """The rows as dicts for the database driver."""
    for name, dtype in frame.schema.items():
        if dtype.is_temporal():
            near = frame[name].is_between(datetime.min, datetime.max)
            if not near.all(ignore_nulls=True):
                raise BoxcarsError(
                    f"'{name}': a timestamp outside the years 1 to 9999 can't be stored."
                )
    return frame.rows(named=True)


def _engine(url: Url) -> sa.Engine:
    where = sa.URL.create(
        _DRIVERS[url.scheme],
        username=url.user or None,
        password=url.password or None,
        host=url.host or None,
        port=url.port,
        database=url.path,
    )
    if url.scheme == "sqlite":
        if not Path(url.path).parent.is_dir():
            folder = url.hide(str(Path(url.path).parent))
            raise Wrong(f"{url}: there is no folder '{folder}'.")
        return sa.create_engine(
            where, poolclass=sa.pool.NullPool, connect_args={"timeout": _SECONDS}
        )
    settings = {"connect_timeout": _SECONDS, "options": "-c timezone=UTC"}
    return sa.create_engine(where, poolclass=sa.pool.NullPool, connect_args=settings)


def _table(url: Url, schema: Schema, key: Sequence[str]) -> sa.Table:
    """The definition of the table; SQLAlchemy quotes all names."""
    return sa.Table(
        url.options["table"],
        sa.MetaData(),
        *(
            sa.Column(name, _COLUMNS[t], primary_key=name in key, autoincrement=False, quote=True)
            for name, t in schema.fields.items()
        ),
        schema=url.options.get("schema"),
        quote=True,
    )


def _unique(inspector: sa.Inspector, name: str, schema: str | None) -> list[set[str]]:
    """The sets of columns with a unique constraint."""
    keys = [inspector.get_pk_constraint(name, schema)["constrained_columns"]]
    keys += [found["column_names"] for found in inspector.get_unique_constraints(name, schema)]
    for index in inspector.get_indexes(name, schema):
        if index["unique"] and not index.get("dialect_options", {}).get("postgresql_where"):
            keys.append([column for column in index["column_names"] if column is not None])
    return [set(columns) for columns in keys if columns]


def _passes(cause: BaseException) -> bool:
    """Whether an error is temporary: the server is unreachable, or another client is writing."""
    name = getattr(cause, "sqlite_errorname", None)
    if name is not None:
        return str(name).startswith(("SQLITE_BUSY", "SQLITE_LOCKED"))
    kinds = {kind.__name__ for kind in type(cause).__mro__}
    return bool(kinds & {"OperationalError", "InterfaceError"})
