"""Update in memory, in SQLite and in PostgreSQL."""

import pytest

from tests.boxes.table_helper import RECORDS, TUPLES, network
from tests.stores import Store, rows


@pytest.mark.parametrize("trains", [1, 3])
def test_update(store: Store, trains: int) -> None:
    net = network("update", "UPDATE DB SET DB.v = DB.v + input.v WHERE DB.k = input.k")
    result, held = store.preview(net, {"i": TUPLES}, trains, DB=RECORDS)
    assert rows(result, "out0") == [
        *((1, "a", 10, "zero"), (1, "a", 11, "one"), (3, "b", None, None)),
        *((4, "a", 60, "zero"), (4, "a", 61, "one")),
    ]
    assert rows(result, "out1") == [tuple(row.values()) for row in TUPLES]
    assert [row["v"] for row in held["DB"]] == [60, 61, None]
