"""Select in memory, in SQLite and in PostgreSQL."""

import pytest

import boxcars as bx
from tests.boxes.helper import problems, schema
from tests.boxes.table_helper import RECORDS, TUPLES, network
from tests.stores import Store, rows


@pytest.mark.parametrize("trains", [1, 2, 5])
class TestSelect:
    def test_its_three_outputs(self, store: Store, trains: int) -> None:
        net = network("select", "SELECT * FROM DB WHERE DB.k = input.k")
        result, held = store.preview(net, {"i": TUPLES}, trains, DB=RECORDS)
        assert rows(result, "out0") == [
            (1, "a", 0, "zero"),
            (1, "a", 1, "one"),
            (3, "b", 2, None),
            (4, "a", 0, "zero"),
            (4, "a", 1, "one"),
        ]
        assert rows(result, "out1") == [(2, "z", 20), (2, None, 30)]
        assert rows(result, "out2") == [
            *((1, "a", 2), (2, "z", 0), (2, None, 0), (3, "b", 1), (4, "a", 2))
        ]
        assert schema(net) == "t*: int, k: str, v: int, note: str"
        assert schema(net, "out1") == "t*: int, k: str, v: int"
        assert schema(net, "out2") == "t*: int, k: str, Count: int"
        assert len(held["DB"]) == len(RECORDS)
        assert result.stats["b"].tuples_in == 5
        assert result.stats["b"].tuples_out == {"0": 5, "missing": 2, "count": 5}

    def test_order_by_and_limit(self, store: Store, trains: int) -> None:
        sql = "SELECT v FROM DB WHERE k = input.k ORDER BY note DESC LIMIT 1"
        result, _ = store.preview(network("select", sql), {"i": TUPLES}, trains, DB=RECORDS)
        assert rows(result, "out0") == [(1, 0), (3, 2), (4, 0)]

    @pytest.mark.parametrize("order", ["v", "w", "2", "DB.v", "0 + v"])
    def test_order_by_for_many_at_once(self, store: Store, trains: int, order: str) -> None:
        sql = f"SELECT note, DB.v AS w FROM DB WHERE k = input.k ORDER BY {order} DESC"
        result, _ = store.preview(network("select", sql), {"i": TUPLES}, trains, DB=RECORDS)
        assert rows(result, "out0") == [
            *((1, "one", 1), (1, "zero", 0), (3, None, 2), (4, "one", 1), (4, "zero", 0))
        ]

    def test_aggregates_always_return_a_record(self, store: Store, trains: int) -> None:
        sql = "SELECT count(*) AS n, sum(v) AS total, avg(v) AS mean FROM DB WHERE k = input.k"
        result, _ = store.preview(network("select", sql), {"i": TUPLES}, trains, DB=RECORDS)
        assert rows(result, "out0") == [
            *((1, 2, 1, 0.5), (2, 0, None, None), (2, 0, None, None), (3, 1, 2, 2.0)),
            (4, 2, 1, 0.5),
        ]
        assert rows(result, "out1") == []

    def test_order_by_an_aggregate(self, store: Store, trains: int) -> None:
        sql = "SELECT k, count(*) AS n FROM DB WHERE v < input.v GROUP BY k ORDER BY n DESC, k"
        result, _ = store.preview(network("select", sql), {"i": TUPLES}, trains, DB=RECORDS)
        every = [row["t"] for row in TUPLES if row["v"] is not None]
        assert rows(result, "out0") == [(t, k, n) for t in every for k, n in (("a", 2), ("b", 1))]

    def test_any_predicate(self, store: Store, trains: int) -> None:
        sql = "SELECT k FROM DB WHERE v + 9 < input.v AND (note LIKE 'z%' OR note IS NULL)"
        net = network("select", sql)
        result, _ = store.preview(net, {"i": TUPLES}, trains, DB=RECORDS)
        assert rows(result, "out0") == [
            *((1, "a"), (2, "a"), (2, "b"), (2, "a"), (2, "b"), (4, "a"), (4, "b"))
        ]
        assert schema(net, "out2") == "t*: int, v: int, Count: int"

    def test_without_a_value_of_the_tuple(self, store: Store, trains: int) -> None:
        result, _ = store.preview(
            network("select", "SELECT k FROM DB WHERE v = 2"), {"i": TUPLES}, trains, DB=RECORDS
        )
        assert rows(result, "out0") == [(row["t"], "b") for row in TUPLES]
        assert rows(result, "out2") == [(row["t"], 1) for row in TUPLES]


class TestNames:
    def test_a_column_named_like_the_order_attribute_is_prefixed(self) -> None:
        net = network("select", "SELECT * FROM DB WHERE k = input.k", t="int", k="str")
        assert schema(net) == "t*: int, DB_t: int, k: str"
        net = network("delete", "DELETE FROM DB WHERE k = input.k", t="int", k="str")
        assert schema(net) == "t*: int, DB_t: int, k: str"

    def test_an_alias_is_not_prefixed(self) -> None:
        net = network("select", "SELECT k, v AS t FROM DB")
        (problem,) = problems(net)
        assert problem == (
            "box 'b', sql: the output would have two fields 't': give one of them another name in "
            "the SQL, with AS."
        )

    def test_what_where_compares(self) -> None:
        for where, expected in {
            "v = input.v AND k > input.k": "v: int, k: str, ",
            "input.k = note AND input.v < v": "note: str, v: int, ",
            "v < input.t": "",
            "t = input.v": "v: int, ",
            "k = input.k OR v = input.v": "k: str, v: int, ",
            "note = input.k AND v = input.v AND k = input.k": "k: str, v: int, ",
        }.items():
            net = network(
                "select", f"SELECT k FROM DB WHERE {where}", k="str", v="int", note="str", t="int"
            )
            assert schema(net, "out2") == f"t*: int, {expected}Count: int", where


def test_hidden_columns_travel_along(store: Store) -> None:
    net = bx.Network("n")
    tuples = net.input("i", ts="t", fields={"t": "int"})
    net.table("DB", fields={"k": "int"})
    found, missing, number = tuples.select("SELECT k FROM DB WHERE k / 2 = input.t")
    for name, stream in {"found": found, "missing": missing, "number": number}.items():
        net.output(name, stream.drop(rate=0.5, seed=7).named(name))
    whole = None
    for trains in (1, 4):
        result, _ = store.preview(
            net, {"i": {"t": list(range(50))}}, trains, DB=[{"k": k} for k in range(60)]
        )
        assert 10 < result["found"].num_rows < 50
        times = result["found"]["t"].to_pylist()
        assert {times.count(t) for t in times} == {1, 2}, "each of two records has its own chance"
        whole = whole or result
        assert all(result[name] == whole[name] for name in result)
