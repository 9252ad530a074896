"""Delete in memory, in SQLite and in PostgreSQL."""

import pytest

from tests.boxes.table_helper import RECORDS, TUPLES, network
from tests.stores import Store, rows


@pytest.mark.parametrize("trains", [1, 3])
def test_delete(store: Store, trains: int) -> None:
    net = network("delete", "DELETE FROM DB WHERE k = input.k")
    result, held = store.preview(net, {"i": TUPLES}, trains, DB=RECORDS)
    assert rows(result, "out0") == [(1, "a", 0, "zero"), (1, "a", 1, "one"), (3, "b", 2, None)]
    assert rows(result, "out1") == [tuple(row.values()) for row in TUPLES]
    assert held["DB"] == []
