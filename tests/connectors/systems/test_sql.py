"""Tables as sinks, against a PostgreSQL server and SQLite."""

import sqlite3
import time
from collections.abc import Iterator, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any
from urllib.parse import quote

import psycopg
import pyarrow as pa
import pytest
from pyspark.sql import SparkSession

import boxcars as bx
from boxcars.connectors.systems.connector import Delivery, Lost, connect
from boxcars.model.problem import BoxcarsError, Wrong
from boxcars.model.schema import Schema
from tests.connectors.systems import servers
from tests.connectors.systems.contract import Sink, delivery, network, refuses, table
from tests.postgres import free_port


class There:
    """A PostgreSQL server."""

    def __init__(self, server: servers.Server) -> None:
        self.server, self.kill = server, server.kill
        self.base = f"postgresql://ann:{quote(servers.PASSWORD)}@127.0.0.1:{server.port}/postgres"
        self.start()

    def start(self) -> None:
        if self.server.process is None:
            self.server.start()
        while True:
            try:
                psycopg.connect(self.base).close()
            except psycopg.OperationalError:  # it is recovering
                time.sleep(0.05)
            else:
                return

    def address(self, name: str) -> str:
        return f"{self.base}?table={name}"

    def send(self, name: str, messages: Sequence[bytes]) -> None:
        raise NotImplementedError

    def query(self, sql: str, *values: Any) -> list[tuple[Any, ...]]:
        with psycopg.connect(self.base, autocommit=True) as connection:
            cursor = connection.execute(sql.encode(), values)
            return cursor.fetchall() if cursor.description else []

    def received(self, name: str) -> list[int]:
        if not self.query("SELECT 1 FROM pg_tables WHERE tablename = %s", name):
            return []
        return [t for (t,) in self.query(f'SELECT t FROM "{name}" ORDER BY t')]


@pytest.fixture(scope="module")
def there() -> Iterator[There]:
    with servers.running(servers.Postgres()) as server:
        yield There(server)


class TestSink(Sink):
    def test_a_terminated_session(self, there: There) -> None:
        sink = delivery(there.address("ended"))
        sink.deliver(table(0, 2), 1)
        there.query(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid()"
        )
        with pytest.raises(Lost, match="does not answer: terminating connection"):
            sink.deliver(table(2, 4), 2)
        sink.close()

    def test_an_incompatible_table(self, there: There) -> None:
        there.query("CREATE TABLE narrow (t BIGINT)")
        refuses(there.address("narrow"), "there is no column 'who'", source=False)
        there.query("CREATE TABLE text (t TEXT, who TEXT)")
        refuses(there.address("text"), "column 't' is TEXT, the field is an int", source=False)
        there.query("CREATE TABLE loose (t BIGINT, who TEXT)")
        refuses(there.address("loose") + "&key=t", "no primary key or unique", source=False)
        there.query("CREATE UNIQUE INDEX ON loose (t)")
        delivery(there.address("loose") + "&key=t").close()

    def test_a_schema(self, there: There) -> None:
        there.query('CREATE SCHEMA "My Own"')
        sink = delivery(there.address("deep") + "&schema=My Own")
        sink.deliver(table(0, 2), 1)
        sink.close()
        assert there.query('SELECT t FROM "My Own".deep') == [(0,), (1,)]


@pytest.fixture(params=["postgresql", "sqlite"])
def base(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """The URL of an empty database."""
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path}/x.db"
    there: There = request.getfixturevalue("there")
    there.query("DROP SCHEMA public CASCADE")
    there.query("CREATE SCHEMA public")
    return there.base


def rows_in(base: str, name: str) -> list[tuple[Any, ...]]:
    quoted = '"' + name.replace('"', '""') + '"'
    if base.startswith("postgresql"):
        with psycopg.connect(base) as server:
            return server.execute(f"SELECT * FROM {quoted} ORDER BY 1".encode()).fetchall()
    with sqlite3.connect(base.removeprefix("sqlite:///")) as file:
        return file.execute(f"SELECT * FROM {quoted} ORDER BY 1").fetchall()


def test_rows_are_replaced_by_key(base: str) -> None:
    sink = delivery(base + "?table=last&key=who")
    sink.deliver(pa.table({"t": [1, 2, 3], "who": ["ann", "bob", "ann"]}), 1)
    sink.deliver(pa.table({"t": [4], "who": ["bob"]}), 2)
    sink.close()
    assert rows_in(base, "last") == [(3, "ann"), (4, "bob")]


def test_all_fields_are_the_key(base: str) -> None:
    sink = delivery(base + "?table=seen&key=t,who")
    sink.deliver(table(0, 2), 1)
    sink.deliver(table(0, 3), 2)
    sink.close()
    assert [t for t, _ in rows_in(base, "seen")] == [0, 1, 2]


def test_a_replayed_epoch(base: str) -> None:
    for _ in range(2):
        sink = delivery(base + "?table=again", "one")
        sink.deliver(table(0, 3), 1)
        sink.close()
    other = delivery(base + "?table=again", "other")
    other.deliver(table(3, 5), 1)
    other.close()
    assert [t for t, _ in rows_in(base, "again")] == [0, 1, 2, 3, 4]


def test_an_outdated_checkpoint(base: str) -> None:
    sink = delivery(base + "?table=old")
    sink.deliver(table(0, 3), 2)
    with pytest.raises(BoxcarsError, match="epoch 2 of this run was delivered already"):
        sink.deliver(table(0, 3), 1)
    sink.close()


def test_names_are_quoted(base: str) -> None:
    name = 'no"; DROP TABLE x; --'
    fields = {'a"b': "int", "select": "str"}
    sink = connect(f"{base}?table={quote(name)}&key=select").delivery(
        Schema.of(fields, ts='a"b'), "home"
    )
    sink.open()
    sink.deliver(pa.table({'a"b': [1, 2], "select": ["x'); --", "y"]}), 1)
    sink.close()
    assert rows_in(base, name) == [(1, "x'); --"), (2, "y")]


def test_all_types(base: str) -> None:
    fields = {"t": "timestamp", "f": "float", "b": "bool", "y": "bytes", "s": "str"}
    sink = connect(f"{base}?table=types").delivery(Schema.of(fields, ts="t"), "home")
    sink.open()
    moment = datetime(2026, 1, 2, 3, 4, 5, 678)
    rows = [
        {"t": moment, "f": 0.5, "b": True, "y": b"\x00\xff", "s": "ä"},
        {"t": moment.replace(year=2027), "f": None, "b": None, "y": None, "s": None},
    ]
    arrow = pa.Table.from_pylist(rows)
    sink.deliver(arrow, 1)
    far = arrow.set_column(0, "t", pa.array([2**62, 0], pa.timestamp("us")))
    with pytest.raises(BoxcarsError, match="outside the years"):
        sink.deliver(far, 2)
    sink.close()
    first, second = rows_in(base, "types")
    assert str(first[0]) == "2026-01-02 03:04:05.000678"
    assert first[1:] == (0.5, True, b"\x00\xff", "ä")
    assert second[1:] == (None, None, None, None)


def test_a_value_that_is_refused(base: str) -> None:
    sink: Delivery = delivery(base + "?table=strict&key=t")
    nothing = pa.table({"t": pa.array([1, None], pa.int64()), "who": ["ann", "bob"]})
    if base.startswith("sqlite"):
        with pytest.raises(BoxcarsError, match="refused the request: NOT NULL constraint failed"):
            sink.deliver(nothing, 1)
    else:
        with pytest.raises(BoxcarsError, match="refused the request: null value in column"):
            sink.deliver(nothing, 1)
    sink.deliver(table(0, 1), 1)  # neither its rows nor its epoch were stored
    sink.close()
    assert rows_in(base, "strict") == [(0, "ann 0")]


def test_a_run_into_sqlite(spark: SparkSession, tmp_path: Path) -> None:
    base = f"sqlite:///{tmp_path}/x.db"
    source = bx.script([*({"t": t, "who": "ann"} for t in range(5)), bx.PAUSE, bx.ABORT,
                        *({"t": t, "who": "bob"} for t in range(5, 9))])  # fmt: skip
    for _ in range(2):
        try:
            bx.run(
                network(0),
                {"rows": source},
                {"out": f"{base}?table=calls"},
                checkpoint=tmp_path / "c",
                spark=spark,
            ).wait(60)
        except bx.Aborted:
            continue
    assert [t for t, _ in rows_in(base, "calls")] == list(range(9))


def test_a_locked_sqlite_database(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("boxcars.connectors.systems.sql._SECONDS", 0.1)
    sink = delivery(f"sqlite:///{tmp_path}/x.db?table=busy")
    other = sqlite3.connect(tmp_path / "x.db", isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    with pytest.raises(Lost, match="database is locked"):
        sink.deliver(table(0, 2), 1)
    other.rollback()
    other.close()
    sink.close()
    sink.open()
    sink.deliver(table(0, 2), 1)
    sink.close()


def test_mistakes(there: There, tmp_path: Path) -> None:
    wrong = there.address("x").replace(quote(servers.PASSWORD), "geheim")
    said = refuses(wrong, "refused the request: .*password authentication failed", source=False)
    assert "geheim" not in said
    refuses(there.address("x").replace("/postgres?", "/nowhere?"), "nowhere", source=False)
    away = f"postgresql://127.0.0.1:{free_port()}/x?table=x"
    refuses(away, "the database does not answer: .*refused", source=False)
    refuses("postgresql://h/x", "expected a table, as in postgresql://", source=False)
    refuses("postgresql://h?table=x", "expected a database after the host", source=False)
    refuses("postgresql://h/x?table=boxcars_delivered", "is reserved", source=False)
    refuses("postgresql://h/x?table=x&key=whom", "Did you mean 'who'", source=False)
    refuses("postgresql://h/x?table=x", "can't be used as a source", sink=False)
    refuses(f"sqlite:///{tmp_path}/no/x.db?table=x", "there is no folder", source=False)
    (tmp_path / "text.db").write_text("this is no database, but it is long enough to be read" * 99)
    with pytest.raises(Wrong, match="refused the request: file is not a database"):
        delivery(f"sqlite:///{tmp_path}/text.db?table=x")
