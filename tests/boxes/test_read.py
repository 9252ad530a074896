"""Read in memory, in SQLite and in PostgreSQL."""

import pytest

from tests.boxes.helper import schema
from tests.boxes.table_helper import RECORDS, TUPLES, network
from tests.stores import Store, rows


@pytest.mark.parametrize("trains", [1, 3])
def test_read_joins_records_with_tuples(store: Store, trains: int) -> None:
    net = network("read", "SELECT * FROM DB WHERE k = input.k AND v > 0")
    result, _ = store.preview(net, {"i": TUPLES}, trains, DB=RECORDS)
    assert schema(net) == "t*: int, k: str, v: int, DB_k: str, DB_v: int, note: str"
    assert rows(result, "out0") == [
        *((1, "a", 10, "a", 1, "one"), (3, "b", None, "b", 2, None), (4, "a", 50, "a", 1, "one"))
    ]


@pytest.mark.parametrize("trains", [1, 2, 5])
def test_two_tables(store: Store, trains: int) -> None:
    net = network(
        "read",
        "SELECT w, other.k FROM DB d JOIN other ON d.k = other.k "
        "WHERE d.k = input.k AND d.v < other.w",
    )
    net.table("other", fields={"k": "str", "w": "int"})
    result, _ = store.preview(
        net, {"i": TUPLES}, trains, DB=RECORDS, other=[{"k": "a", "w": 1}, {"k": "c", "w": 9}]
    )
    assert rows(result, "out0") == [(1, "a", 10, 1, "a"), (4, "a", 50, 1, "a")]
    assert schema(net) == "t*: int, k: str, v: int, w: int, other_k: str"
