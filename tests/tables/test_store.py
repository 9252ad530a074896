"""Stored tables: values survive a round trip, and errors are one sentence."""

import math
import sqlite3
from datetime import datetime
from pathlib import Path
from typing import Any

import polars as pl
import psycopg
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import boxcars as bx
from boxcars.model.problem import BoxcarsError, Wrong
from boxcars.tables import statements
from boxcars.tables.database import Address
from tests.postgres import PASSWORD
from tests.stores import Store, rows

TYPES = {"s": "str", "i": "int", "f": "float", "b": "bool", "at": "timestamp", "raw": "bytes"}
DTYPES = {name: bx.Type(type_).dtype for name, type_ in TYPES.items()}

texts = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=20)
nasty = st.sampled_from(
    [
        *("'", "''", '"', ";", "'; DROP TABLE DB; --", "input.s", "%s", "%%", "%(s)s", "?", ":s"),
        *("$1", "\\", "{s}", "Robert'); DROP TABLE Students;--", "é", "日本", "🚂", "\n", " "),
    ]
)
records = st.fixed_dictionaries(
    {
        "s": st.none() | texts | nasty,
        "i": st.none() | st.integers(-(2**63), 2**63 - 1),
        "f": st.none() | st.floats(allow_nan=False),
        "b": st.none() | st.booleans(),
        "at": st.none() | st.datetimes(),
        "raw": st.none() | st.binary(max_size=9),
    }
)


@given(st.lists(records, min_size=1, max_size=6))
@settings(
    deadline=None, max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
def test_values_are_never_part_of_the_text(store: Store, data: list[dict[str, Any]]) -> None:
    """An inserted row is found by each of its values, for any values."""
    net = bx.Network("n")
    stream = net.input("i", ts="n", fields={"n": "int", **TYPES})
    net.table("DB", fields={"n": "int", **TYPES})
    stored = stream.insert(f"INSERT INTO DB VALUES (n, {', '.join(TYPES)})").named("insert")
    for name in TYPES:
        found = stored.read(f"SELECT DB.n AS m FROM DB WHERE DB.{name} = input.{name}")
        net.output(name, found.named(f"by-{name}"))
    numbered = [{"n": n, **record} for n, record in enumerate(data)]
    frame = pl.DataFrame(numbered, schema={"n": pl.Int64(), **DTYPES})
    result, held = store.preview(net, {"i": frame})
    assert held["DB"] == numbered
    for name in TYPES:
        equal = [
            (later["n"], earlier["n"])
            for later in numbered
            for earlier in numbered[: later["n"] + 1]
            if later[name] is not None and later[name] == earlier[name]
        ]
        assert [(row[0], row[-1]) for row in rows(result, name)] == equal


@pytest.mark.parametrize(
    "text", ["input.s", "it''s", "%", "a:b", "?", "100%s", '"', "-- x", "/* */"]
)
def test_literals_stay_what_they_are(store: Store, text: str) -> None:
    net = bx.Network("n")
    net.table("DB", fields={"s": "str"})
    stream = net.input("i", ts="n", fields={"n": "int", "s": "str"})
    sql = f"SELECT DB.s, '{text}' AS t FROM DB WHERE DB.s = '{text}' AND input.n > 0"
    net.output("o", stream.select(sql))
    meant = text.replace("''", "'")
    source = {"n": list(range(9)), "s": ["x"] * 9}
    result, _ = store.preview(net, {"i": source}, DB={"s": ["x", meant]})
    assert rows(result, "o") == [(n, meant, meant) for n in range(1, 9)]


def test_names_that_need_quotes(store: Store) -> None:
    net = bx.Network("n")
    net.table("Order", fields={"select": "int", 'a "b"': "str", "%s": "int"}, key="select")
    stream = net.input("i", ts="group", fields={"group": "int", "a.b": "str"})
    stored = stream.insert('INSERT INTO "Order" VALUES (input."group", input."a.b", 1)').named("b")
    sql = 'SELECT "a ""b""", "%s" FROM "Order" WHERE "select" = input."group" AND 5 % 2 = 1'
    net.output("o", stored.read(sql))
    data = {"group": list(range(7)), "a.b": list("abcdefg")}
    result, _ = store.preview(net, {"i": data})
    assert rows(result, "o") == [(n, "abcdefg"[n], "abcdefg"[n], 1) for n in range(7)]


def test_texts_are_ordered_by_their_bytes(store: Store) -> None:
    net = bx.Network("n")
    net.table("DB", fields={"s": "str"})
    stream = net.input("i", ts="n", fields={"n": "int", "s": "str"})
    net.output("o", stream.select("SELECT DB.s FROM DB WHERE DB.s < input.s ORDER BY DB.s DESC"))
    net.output("like", stream.select("SELECT DB.s FROM DB WHERE DB.s LIKE 'a%'").named("like"))
    texts = ["a", "B", "ä", "Z", "_", "A", "b"]
    result, _ = store.preview(net, {"i": {"n": [1], "s": ["b"]}}, DB={"s": texts})
    assert [s for _, s in rows(result, "o")] == ["a", "_", "Z", "B", "A"]
    assert [s for _, s in rows(result, "like")] == ["a"]


def test_nulls_come_last_where_order_by_goes_up(store: Store) -> None:
    net = bx.Network("n")
    net.table("DB", fields={"v": "int"})
    stream = net.input("i", ts="n", fields={"n": "int"})
    net.output("up", stream.select("SELECT v FROM DB ORDER BY v").named("up"))
    net.output("down", stream.select("SELECT v FROM DB ORDER BY v DESC").named("down"))
    result, _ = store.preview(net, {"i": {"n": [1]}}, DB={"v": [2, None, 1]})
    assert [v for _, v in rows(result, "up")] == [1, 2, None]
    assert [v for _, v in rows(result, "down")] == [None, 2, 1]


def test_literal_timestamps(store: Store) -> None:
    net = bx.Network("n")
    net.table("DB", fields={"at": "timestamp"})
    stream = net.input("i", ts="n", fields={"n": "int"})
    sql = "SELECT at, CAST(NULL AS timestamp) AS never FROM DB WHERE at >= TIMESTAMP '2026-01-01'"
    net.output("o", stream.select(sql))
    days = [datetime(2025, 12, 31), datetime(2026, 1, 1), datetime(2026, 1, 1, 5)]
    result, _ = store.preview(net, {"i": {"n": [1]}}, DB={"at": days})
    assert rows(result, "o") == [(1, day, None) for day in days[1:]]


@pytest.mark.parametrize("size", [1, 2, 3, 10])
def test_many_are_asked_together(store: Store, size: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(statements, "BATCH", size)
    net = bx.Network("n")
    net.table("DB", fields={"k": "int", "v": "int"})
    stream = net.input("i", ts="n", fields={"n": "int", "k": "int", "j": "int"})
    net.output("o", stream.select("SELECT v FROM DB WHERE k = input.k AND v < input.j"))
    source = {"n": list(range(10)), "k": [n * 7 % 5 for n in range(10)], "j": list(range(10))}
    stored = {"k": [v % 4 for v in range(12)], "v": list(range(12))}
    result, _ = store.preview(net, {"i": source}, DB=stored)
    assert rows(result, "o") == [
        (n, v) for n in range(10) for v in range(12) if v % 4 == n * 7 % 5 and v < n
    ]


class TestWhatCanNotBeStored:
    def net(self) -> bx.Network:
        net = bx.Network("n")
        net.table("DB", fields={"k": "int", "at": "timestamp"}, key="k")
        fields = {"n": "int", "k": "int", "at": "timestamp"}
        net.input("i", ts="n", fields=fields).insert("INSERT INTO DB VALUES (k, at)").named("keep")
        return net

    @pytest.mark.parametrize("trains", [1, 4])
    def test_a_train_with_a_mistake_changes_nothing(
        self, store: Store, trains: int, tmp_path: Path
    ) -> None:
        data = {"n": [1, 2, 3, 4], "k": [7, 8, 9, 8], "at": [None] * 4}
        with pytest.raises(BoxcarsError) as failed:
            store.preview(
                self.net(),
                {
                    "i": pl.DataFrame(
                        data, schema={"n": pl.Int64, "k": pl.Int64, "at": pl.Datetime("us")}
                    )
                },
                trains,
            )
        message = str(failed.value)
        assert message.startswith("box 'keep' failed: table 'DB'")
        assert "unique" in message.lower()
        assert message.endswith(
            "Handle such rows with ON CONFLICT, or filter their tuples out before."
        )
        assert PASSWORD not in message
        assert "\n" not in message

    def test_changes_of_the_train_are_rolled_back(self, tmp_path: Path) -> None:
        file = tmp_path / "a.db"
        data = {"n": [1, 2, 3, 4], "k": [7, 8, 9, 8], "at": [datetime(2026, 1, 1)] * 4}
        for trains, kept in {1: [], 2: [7], 4: [7, 8]}.items():
            file.unlink(missing_ok=True)
            with pytest.raises(BoxcarsError, match="UNIQUE constraint failed: DB.k"):
                bx.preview(
                    self.net(), {"i": data}, trains=trains, tables={"DB": f"sqlite:///{file}"}
                )
            with sqlite3.connect(file) as database:
                assert [k for (k,) in database.execute("SELECT k FROM DB ORDER BY k")] == kept

    def test_null_keys(self, store: Store) -> None:
        data = {"n": [1], "k": [None], "at": [datetime(2026, 1, 1)]}
        with pytest.raises(BoxcarsError, match="(?i)not.null"):
            store.preview(self.net(), {"i": data})

    def test_far_away_times(self, store: Store) -> None:
        far = pl.Series([10**18], dtype=pl.Int64).cast(pl.Datetime("us"))
        data = pl.DataFrame({"n": [1], "k": [1], "at": far})
        found, held = store.preview(self.net(), {"i": data})
        assert held == {"DB": []}
        assert found.dead["reason"].to_pylist() == [
            "at: the timestamp is not between the years 1 and 9999"
        ]


class TestGivenData:
    def net(self) -> bx.Network:
        net = bx.Network("n")
        net.table("DB", fields={"k": "str", "v": "int"}, key="k")
        net.output("o", net.input("i", ts="n", fields={"n": "int"}).read("SELECT * FROM DB"))
        return net

    def run(self, given: Any) -> list[Any]:
        return rows(bx.preview(self.net(), {"i": {"n": [1]}}, tables={"DB": given}), "o")

    def test_like_a_source(self, tmp_path: Path) -> None:
        data = {"k": ["a", "b"], "v": [1, 2]}
        file = tmp_path / "db.csv"
        file.write_text("k,v\na,1\nb,2\n", encoding="utf-8")
        pl.DataFrame(data).write_parquet(tmp_path / "db.parquet")
        forms = [data, pa.table(data), pl.DataFrame(data), [{"k": "b", "v": 2}, {"k": "a", "v": 1}]]
        for form in [*forms, file, str(file), tmp_path / "db.parquet"]:
            assert self.run(form) == [(1, "a", 1), (1, "b", 2)]

    @pytest.mark.parametrize("given", [None, [], {"k": [], "v": []}])
    def test_nothing(self, given: Any) -> None:
        assert self.run(given) == []

    @pytest.mark.parametrize(
        ("given", "message"),
        [
            ({"k": ["a"]}, "table 'DB': the data has no field 'v'. There is: k."),
            ({"k": ["a"], "v": ["x"]}, "table 'DB': a record can't be read: v: 'x' is not an int."),
            ({"k": [1], "v": [1]}, "table 'DB': field 'k' is Int64 in the data, expected a str."),
            ("nothing.csv", "table 'DB': nothing.csv: there is no such file."),
            (5, "table 'DB': expected a path, an Arrow table"),
            (
                {"k": ["a", "a"], "v": [1, 2]},
                "table 'DB': UNIQUE constraint failed: DB.k. Handle such rows",
            ),
            ({"k": [None], "v": [1]}, "table 'DB': NOT NULL constraint failed: DB.k."),
        ],
    )
    def test_what_does_not_fit(self, given: Any, message: str) -> None:
        with pytest.raises(BoxcarsError) as failed:
            self.run(given)
        assert str(failed.value).startswith(message)

    def test_unknown_tables(self) -> None:
        with pytest.raises(Wrong, match="there is no table 'db'. Did you mean 'DB'?"):
            bx.preview(self.net(), {"i": {"n": [1]}}, tables={"db": None})

    def test_nan_is_null_in_sqlite(self) -> None:
        net = bx.Network("n")
        net.table("DB", fields={"f": "float"})
        net.input("i", ts="n", fields={"n": "int", "f": "float"}).insert(
            "INSERT INTO DB VALUES (f)"
        )
        stored = bx.preview(net, {"i": {"n": [1, 2], "f": [math.nan, math.inf]}}).stored["DB"]
        assert stored["f"].to_pylist() == [None, math.inf]


class TestAddresses:
    @pytest.mark.parametrize(
        "text",
        [
            *("mysql://u:hush@h/d", "postgresql+asyncpg://u:hush@h/d", "://u:hush@", "what://"),
            *("postgresql://u:hush@h:port/d", "postgres://u:hush@h/d"),
        ],
    )
    def test_invalid_addresses(self, text: str) -> None:
        with pytest.raises(Wrong) as wrong:
            Address.parse(text, "DB")
        assert str(wrong.value).startswith("expected a database such as sqlite:///file.db or")
        assert "hush" not in str(wrong.value)

    def test_no_secret_is_shown(self) -> None:
        address = Address.parse("postgresql://ann:hush@host:77/d?password=hush#t", "DB")
        assert f"{address} {address!r}" == " ".join(["postgresql://host:77/d#t"] * 2)

    def test_two_tables_with_one_address(self, tmp_path: Path) -> None:
        net = bx.Network("n")
        for name in ("a", "b"):
            net.table(name, fields={"k": "int"})
        net.output("o", net.input("i", ts="n", fields={"n": "int"}))
        there = f"sqlite:///{tmp_path / 'x.db'}#t"
        with pytest.raises(Wrong, match="table 'b': .*x.db#t is already the table 'a'."):
            bx.preview(net, {"i": {"n": [1]}}, tables={"a": there, "b": there})

    def test_one_statement_over_two_databases(self, tmp_path: Path) -> None:
        net = bx.Network("n")
        for name in ("a", "b"):
            net.table(name, fields={"k": "int"})
        stream = net.input("i", ts="n", fields={"n": "int"})
        net.output("o", stream.read("SELECT a.k FROM a JOIN b ON a.k = b.k").named("r"))
        with pytest.raises(BoxcarsError, match="box 'r' failed: .* are in different databases"):
            bx.preview(net, {"i": {"n": [1]}}, tables={"a": f"sqlite:///{tmp_path / 'x.db'}"})


def insert() -> bx.Network:
    net = bx.Network("n")
    net.table("DB", fields={"k": "int", "at": "timestamp"}, key="k")
    stream = net.input("i", ts="k", fields={"k": "int", "at": "timestamp"})
    net.output("o", stream.insert("INSERT INTO DB VALUES (k, at)").named("b"))
    return net


NOON = datetime(2026, 1, 1, 12)


class TestDatabasesThatAreThere:
    def test_a_file_is_kept(self, tmp_path: Path) -> None:
        where = {"DB": f"sqlite:///{tmp_path / 'x.db'}"}
        for k in (1, 2):
            result = bx.preview(insert(), {"i": {"k": [k], "at": [NOON]}}, tables=where)
            assert result.stored == {}
        with sqlite3.connect(tmp_path / "x.db") as database:
            found = database.execute("SELECT * FROM DB").fetchall()
        assert found == [(1, "2026-01-01 12:00:00.000000"), (2, "2026-01-01 12:00:00.000000")]

    def test_more_columns_and_other_types_of_numbers(self, postgres: str) -> None:
        with psycopg.connect(postgres) as there:
            there.execute("DROP TABLE IF EXISTS old")
            there.execute("CREATE TABLE old (k int, at timestamptz, x numeric DEFAULT 5)")
        bx.preview(insert(), {"i": {"k": [1], "at": [NOON]}}, tables={"DB": f"{postgres}#old"})
        net = bx.Network("n")
        net.table("DB", fields={"at": "timestamp", "x": "float"})
        stream = net.input("i", ts="k", fields={"k": "int"})
        net.output("o", stream.read("SELECT * FROM DB"))
        result = bx.preview(net, {"i": {"k": [1]}}, tables={"DB": f"{postgres}#old"})
        assert rows(result, "o") == [(1, NOON, 5.0)]

    @pytest.mark.parametrize(
        ("columns", "message"),
        [
            ("k bigint", "there is no column 'at'. There is: k."),
            ("k text, at timestamp", "column 'k' is TEXT in the database, expected an int."),
            ("k bigint, at bigint", "column 'at' is BIGINT in the database, expected a timestamp."),
        ],
    )
    def test_columns_that_differ(
        self, tmp_path: Path, postgres: str, columns: str, message: str
    ) -> None:
        with sqlite3.connect(tmp_path / "x.db") as file:
            file.execute(f"CREATE TABLE wrong ({columns})")
        with psycopg.connect(postgres) as there:
            there.execute("DROP TABLE IF EXISTS wrong")
            there.execute(f"CREATE TABLE wrong ({columns})")
        for where in (f"sqlite:///{tmp_path / 'x.db'}#wrong", f"{postgres}#wrong"):
            with pytest.raises(BoxcarsError) as failed:
                bx.preview(insert(), {"i": {"k": [1], "at": [NOON]}}, tables={"DB": where})
            assert str(failed.value).startswith("table 'DB': ")
            assert str(failed.value).endswith(f"#wrong: {message}")
            assert "boxcars:" not in str(failed.value)

    def test_values_of_another_type(self, tmp_path: Path) -> None:
        """SQLite stores values of any type, regardless of the column."""
        with sqlite3.connect(tmp_path / "x.db") as file:
            file.execute("CREATE TABLE DB (k INTEGER, at DATETIME)")
            file.execute("INSERT INTO DB VALUES ('many', 'noon')")
        for name, value in {"k": "'many'", "at": "'noon'"}.items():
            net = bx.Network("n")
            net.table("DB", fields={"k": "int", "at": "timestamp"})
            stream = net.input("i", ts="n", fields={"n": "int"})
            net.output("o", stream.select(f"SELECT {name} FROM DB").named("b"))
            with pytest.raises(BoxcarsError, match=f"column '{name}' was declared .*, but {value}"):
                bx.preview(net, {"i": {"n": [1]}}, tables={"DB": f"sqlite:///{tmp_path / 'x.db'}"})

    def test_an_unreachable_server(self, postgres: str, tmp_path: Path) -> None:
        (tmp_path / "no.db").write_text("this is not a database, " * 99, encoding="utf-8")
        for where, words in {
            postgres.replace("127.0.0.1:", "127.0.0.1:1"): "",
            postgres.replace("/postgres", "/nothing"): 'database "nothing" does not exist',
            postgres.replace("%20", "-"): "password authentication failed",
            f"sqlite:///{tmp_path}/no/x.db": "unable to open database file",
            f"sqlite:///{tmp_path}/no.db": "file is not a database",
        }.items():
            with pytest.raises(BoxcarsError) as failed:
                bx.preview(insert(), {"i": {"k": [1], "at": [NOON]}}, tables={"DB": where})
            message = str(failed.value)
            assert message.startswith("table 'DB': ")
            assert words in message
            assert "sesame" not in message
            assert "\n" not in message

    def test_a_table_that_goes_away(self, postgres: str) -> None:
        net = bx.Network("n")
        net.table("gone", fields={"k": "int"})
        stream = net.input("i", ts="k", fields={"k": "int"})

        @bx.function(returns="int")
        def drop_it(k: int) -> int:
            with psycopg.connect(postgres) as other:
                other.execute("DROP TABLE IF EXISTS gone")
            return k

        net.output("o", stream.map(k="drop_it(k)").bsort().select("SELECT * FROM gone").named("b"))
        with pytest.raises(BoxcarsError) as failed:
            bx.preview(net, {"i": {"k": [1]}}, tables={"gone": postgres})
        assert str(failed.value).startswith("box 'b' failed: table 'gone' (postgresql://127.0.0.1:")
        assert 'relation "gone" does not exist' in str(failed.value)
        assert "sesame" not in str(failed.value)

    def test_a_lost_connection(self, postgres: str) -> None:
        net = insert()
        net.table("other", fields={"k": "int"})

        @bx.function(returns="int")
        def cut_off(k: int) -> int:
            with psycopg.connect(postgres) as other:
                other.execute(
                    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
                    "WHERE pid <> pg_backend_pid() AND backend_type = 'client backend'"
                )
            return k

        mapped = net.stream("i").map(k="cut_off(k)", at="at").bsort()
        net.output("p", mapped.insert("INSERT INTO other VALUES (k)").named("c"))
        with pytest.raises(BoxcarsError) as failed:
            bx.preview(net, {"i": {"k": [1], "at": [NOON]}}, tables={"other": postgres})
        assert str(failed.value).startswith(
            "box 'c' failed: table 'other' (postgresql://127.0.0.1:"
        )
        assert "\n" not in str(failed.value)
