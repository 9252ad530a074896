"""Valid statements, and the one-sentence errors of invalid ones."""

# ruff: noqa: E501 (one case on one line)

import pytest

from boxcars.model.entities import Table
from boxcars.model.ordered_map import Fields
from boxcars.model.problem import Wrong
from boxcars.model.schema import UNKNOWN_SCHEMA, Schema
from boxcars.model.types import Type
from boxcars.sql import Kind, Statement

TYPES = {"k": "str", "n": "int", "x": "float", "ok": "bool", "at": "timestamp", "raw": "bytes"}
SCHEMA = Schema.of({"t": "int", "Phone": "str", **TYPES}, ts="t")
TABLES = {
    "DB": Table(Fields({name: Type(type_) for name, type_ in TYPES.items()}), ("k",)),
    "other": Table(Fields({"k": Type.STR, "limit": Type.FLOAT})),
}


def columns(sql: str) -> str:
    statement = Statement.of(Kind(sql.split(maxsplit=1)[0].upper()), sql, TABLES, SCHEMA)
    return ", ".join(f"{column.name}: {column.type}" for column in statement.columns)


@pytest.mark.parametrize(
    ("sql", "expected"),
    [
        ("SELECT * FROM other", "k: str, limit: float"),
        ("select k from DB where DB.k = input.Phone", "k: str"),
        ("SELECT d.k, o.* FROM DB d, other o WHERE d.k = o.k", "k: str, k: str, limit: float"),
        ("SELECT count(*) AS c, max(at) AS last, sum(n) AS s, avg(n) AS m FROM DB",
         "c: int, last: timestamp, s: int, m: float"),
        ("SELECT n + 1 AS a, n * x AS b, k || '!' AS c, n > 1 AS d, upper(k) AS e FROM DB",
         "a: int, b: float, c: str, d: bool, e: str"),
        ("SELECT coalesce(x, 0) AS a, CASE WHEN ok THEN n ELSE 0 END AS b FROM DB",
         "a: float, b: int"),
        ("SELECT input.t - n AS age, input.Phone FROM DB WHERE raw = input.raw", "age: int, Phone: str"),
        ("SELECT k FROM DB WHERE at >= TIMESTAMP '2026-01-01' AND n BETWEEN 1 AND input.x", "k: str"),
        ("SELECT k FROM DB WHERE k IN ('a', input.k) AND NOT ok AND x IS NULL", "k: str"),
        ("SELECT CAST(n AS text) AS a, CAST(NULL AS timestamp) AS b FROM DB", "a: str, b: timestamp"),
    ],
)  # fmt: skip
def test_columns(sql: str, expected: str) -> None:
    assert columns(sql) == expected


@pytest.mark.parametrize(
    ("sql", "message"),
    [
        ("SELECT k k k FROM DB", "the SQL can't be read: line 1, near 'k'."),
        ("SELECT k FROM DB WHERE", "the SQL can't be read: line 1, near 'WHERE'."),
        ("SELECT 'a FROM DB", "the SQL can't be read: is a quote or a comment left open?"),
        ("SELECT k FROM DB; DROP TABLE DB", "expected one statement, got 2."),
        ("SELECT k FROM DB UNION SELECT k FROM other", "expected SELECT ..., got 'SELECT ...'."),
        ("SELECT 1 AS one", "expected SELECT ... FROM a table of the network."),
        ("SELECT k FROM D", "there is no table 'D'. Did you mean 'DB'?"),
        ("SELECT k FROM public.DB", "expected a table of the network, got 'public.DB'."),
        ("SELECT k FROM DB, DB", "two tables are named 'DB': give one an alias."),
        ("SELECT k FROM DB AS input", "'input' can't be the name of a table: it is a reserved name."),
        ("SELECT kk FROM DB", "no table has a column 'kk'. Did you mean 'k'?"),
        ("SELECT DB.Phone FROM DB", "table 'DB' has no column 'Phone'. There is: at, k, n, ok, raw, x."),
        ("SELECT Phone FROM DB", "no table has a column 'Phone': for the field of the tuple write input.Phone."),
        ("SELECT k FROM DB, other", "'k' is ambiguous: write DB.k or other.k."),
        ("SELECT k FROM DB WHERE D.k = 'a'", "the statement does not name a table 'D'. Did you mean 'DB'?"),
        ("SELECT D.* FROM DB", "the statement does not name a table 'D'. Did you mean 'DB'?"),
        ("SELECT k FROM DB WHERE k = input.phone", "the input has no field 'phone'. Did you mean 'Phone'?"),
        ("SELECT k FROM DB WHERE n = input.Phone", "can't compare DB.n, an int, with input.Phone, a str."),
        ("SELECT k FROM DB WHERE at > '2026-01-01'", "can't compare DB.at, a timestamp, with '2026-01-01', a str."),
        ("SELECT k FROM DB WHERE n", "WHERE: expected a bool, got DB.n, which is an int."),
        ("SELECT k FROM DB WHERE ok AND n", "expected a bool, got DB.n, which is an int."),
        ("SELECT k + 1 AS a FROM DB", "expected a number, got DB.k, which is a str."),
        ("SELECT k FROM DB WHERE n LIKE 'a'", "expected a str, got DB.n, which is an int."),
        ("SELECT max(n) FROM DB", "give MAX(DB.n) a name: MAX(DB.n) AS ..."),
        ("SELECT NULL AS a FROM DB", "the type of NULL is unknown: write CAST(NULL AS ...)."),
        ("SELECT n AS __n FROM DB", "names that start with __ belong to Boxcars."),
        ("SELECT frobnicate(n) AS a FROM DB", "unknown function 'frobnicate'."),
        ("SELECT now() AS a FROM DB", "there is no 'current_timestamp': the output is a function of the input alone. Use a field of the stream."),
        ("SELECT random() AS a FROM DB", "there is no 'rand': the output is a function of the input alone. Use a field of the stream."),
        ("SELECT k FROM DB LIMIT 1", "LIMIT needs ORDER BY: otherwise the records returned are arbitrary."),
        ("SELECT k FROM DB WHERE k = $1", "write input.<field> for a value of the tuple, not '$1'."),
        ("SELECT k FROM DB WHERE k IN (SELECT k FROM other)", "subqueries are not supported in a box: use two boxes."),
        ("SELECT a.k FROM (SELECT k FROM DB) a", "subqueries are not supported in a box: use two boxes."),
        ("SELECT k FROM DB FOR UPDATE", "LOCKS is not supported in the SELECT of a box."),
        ("SELECT DB.k FROM DB JOIN other USING (k)", "write JOIN ... ON, with the columns to compare."),
        ("SELECT CAST(k AS json) AS a FROM DB", "'JSON' in CAST(DB.k AS JSON) is not a field type."),
        ("SELECT CAST(k AS timestamp) AS a FROM DB", "only a literal can be cast to a timestamp in SQL, not DB.k."),
        ("SELECT k FROM DB WHERE at > TIMESTAMP 'noon'", "'noon' is not a timestamp such as '2026-01-31 12:00'."),
        ("INSERT INTO other VALUES (k)", "expected 2 values, for k, limit; got 1."),
        ("INSERT INTO other (kk) VALUES (k)", "table 'other' has no column 'kk'. Did you mean 'k'?"),
        ("INSERT INTO other VALUES (k, phone)", "the input has no field 'phone'. Did you mean 'Phone'?"),
        ("INSERT INTO other VALUES (other.k, 1)", "VALUES takes values of the tuple, not other.k."),
        ("SELECT k FROM DB ORDER BY 2", "ORDER BY 2: there is no such column."),
        ("INSERT INTO other VALUES (n, 1)", "column 'k' is a str, input.n is an int."),
        ("INSERT INTO other SELECT k, x FROM DB", "subqueries are not supported in a box: use two boxes."),
        ("INSERT INTO DB (k) VALUES (k) ON CONFLICT (q) DO NOTHING", "table 'DB' has no column 'q'. There is: at, k, n, ok, raw, x."),
        ("INSERT INTO DB (k) VALUES (k) ON CONFLICT (k) DO UPDATE SET n = excluded.k", "column 'n' is an int, excluded.k is a str."),
        ("INSERT INTO DB (k) VALUES (k) RETURNING k", "RETURNING is not supported in the INSERT of a box."),
        ("UPDATE DB SET n = input.x", "column 'n' is an int, input.x is a float."),
        ("UPDATE DB SET input.n = 1", "only columns of 'DB' can be set, not input.n."),
        ("UPDATE DB SET q = 1", "no table has a column 'q'. There is: at, k, n, ok, raw, x."),
        ("UPDATE DB SET n = 1 FROM other", "FROM is not supported in the UPDATE of a box."),
        ("DELETE FROM DB WHERE k = n", "can't compare DB.k, a str, with DB.n, an int."),
        ("DELETE FROM DB USING other", "USING is not supported in the DELETE of a box."),
    ],
)  # fmt: skip
def test_mistakes(sql: str, message: str) -> None:
    with pytest.raises(Wrong) as wrong:
        columns(sql)
    assert str(wrong.value) == message


@pytest.mark.parametrize(
    ("kind", "sql"),
    [
        (Kind.SELECT, "DROP TABLE DB"),
        (Kind.SELECT, "DELETE FROM DB"),
        (Kind.UPDATE, "SELECT * FROM DB"),
        (Kind.DELETE, "TRUNCATE DB"),
        (Kind.INSERT, "COPY DB FROM 'x'"),
    ],
)
def test_the_kind_of_statement(kind: Kind, sql: str) -> None:
    with pytest.raises(
        Wrong, match=f"expected {kind.value} ..., got '{sql.split(maxsplit=1)[0]} ...'."
    ):
        Statement.of(kind, sql, TABLES, SCHEMA)


@pytest.mark.parametrize("sql", ["", " ", ";", "-- nothing"])
def test_no_statement(sql: str) -> None:
    with pytest.raises(Wrong, match="expected one statement, got none."):
        Statement.of(Kind.SELECT, sql, TABLES, SCHEMA)


def test_no_query_before_the_query() -> None:
    with pytest.raises(Wrong, match="WITH is not supported in the SELECT of a box."):
        Statement.of(Kind.SELECT, "WITH a AS (SELECT 1) SELECT k FROM DB", TABLES, SCHEMA)


def test_after_a_broken_box_the_input_is_unknown() -> None:
    sql = "SELECT k, input.a AS a FROM DB WHERE n = input.b"
    found = Statement.of(Kind.SELECT, sql, TABLES, UNKNOWN_SCHEMA)
    assert [column.type for column in found.columns] == [Type.STR, Type.UNKNOWN]


def test_which_statements_can_be_batched() -> None:
    for sql, alone in {
        "SELECT * FROM DB WHERE k = input.k": False,
        "SELECT * FROM DB WHERE k = input.k ORDER BY n": False,
        "SELECT DB.* FROM DB LEFT JOIN other ON other.k = input.k": False,
        "SELECT DB.* FROM DB RIGHT JOIN other ON other.k = input.k": True,
        "SELECT DISTINCT k FROM DB WHERE n > input.n": True,
        "SELECT k FROM DB WHERE n > input.n ORDER BY n LIMIT 1": True,
        "SELECT max(n) AS n FROM DB WHERE k = input.k": True,
        "SELECT k FROM DB WHERE n > input.n GROUP BY k": True,
    }.items():
        assert Statement.of(Kind.SELECT, sql, TABLES, SCHEMA).one_by_one is alone, sql
