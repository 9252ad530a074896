"""Insert in memory, in SQLite and in PostgreSQL."""

import pytest

import boxcars as bx
from tests.boxes.helper import problems
from tests.boxes.table_helper import TUPLES, network
from tests.stores import Store, rows


@pytest.mark.parametrize("trains", [1, 3])
@pytest.mark.parametrize(
    "sql", ["INSERT INTO DB VALUES (k, v)", "INSERT INTO DB (v, k) VALUES (input.v, input.k)"]
)
def test_insert(store: Store, trains: int, sql: str) -> None:
    net = network("insert", sql, k="str", v="int")
    result, held = store.preview(net, {"i": TUPLES}, trains, DB=[{"k": "q", "v": 0}])
    assert rows(result, "out0") == [tuple(row.values()) for row in TUPLES]
    assert [tuple(row.values()) for row in held["DB"]] == [
        *((None, 30), ("a", 10), ("a", 50), ("b", None), ("q", 0), ("z", 20))
    ]


@pytest.mark.parametrize("trains", [1, 3])
def test_insert_or_update(store: Store, trains: int) -> None:
    sql = (
        "INSERT INTO DB (k, n) VALUES (input.k, 1) "
        "ON CONFLICT (k) DO UPDATE SET n = DB.n + excluded.n"
    )
    net = network("insert", sql, key="k", k="str", n="int")
    tuples = [row for row in TUPLES if row["k"]]
    _, held = store.preview(net, {"i": tuples}, trains)
    assert held["DB"] == [{"k": "a", "n": 2}, {"k": "b", "n": 1}, {"k": "z", "n": 1}]
    net = network(
        "insert", "INSERT INTO DB VALUES (k, v) ON CONFLICT DO NOTHING", key="k", k="str", n="int"
    )
    _, held = store.preview(net, {"i": tuples}, trains)
    assert held["DB"] == [{"k": "a", "n": 10}, {"k": "b", "n": None}, {"k": "z", "n": 20}]


def test_input_must_be_in_order() -> None:
    net = bx.Network("n")
    net.table("DB", fields={"k": "int"})
    mixed = net.input("i", ts="t", fields={"t": "int"}).map(t="t % 3")
    net.output("o", mixed.insert("INSERT INTO DB VALUES (t)").named("b"))
    (problem,) = problems(net)
    assert problem.startswith("box 'b', in: the order attribute 't' was recomputed")


def test_a_network_may_end_in_a_table() -> None:
    net = bx.Network("n")
    net.table("DB", fields={"k": "int"})
    net.input("i", ts="t", fields={"t": "int"}).insert("INSERT INTO DB VALUES (t)")
    assert bx.preview(net, {"i": {"t": [1, 2]}}).stored["DB"].to_pylist() == [{"k": 1}, {"k": 2}]
