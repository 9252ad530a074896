"""Boxes that share a table, compared with a model of it: the same for any split."""

from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import boxcars as bx
from tests.stores import Store, rows

OPS = {
    "insert": "INSERT INTO DB VALUES (input.k, input.v)",
    "update": "UPDATE DB SET v = DB.v + input.v WHERE k = input.k AND (v < 3 OR v IS NULL)",
    "delete": "DELETE FROM DB WHERE k = input.k AND v > input.v",
    "select": "SELECT k, v FROM DB WHERE k = input.k",
}
Record = tuple[str | None, int | None]


class Model:
    """The table as a plain list, and the expected output of the boxes."""

    def __init__(self, records: list[Record]) -> None:
        self.records = records
        self.out: dict[str, list[Any]] = {op: [] for op in OPS}

    def do(self, op: str, t: int, k: str | None, v: int | None) -> None:
        mine = [r for r in self.records if k is not None and r[0] == k]
        if op == "insert":
            self.records.append((k, v))
            self.out[op].append((t, k, v))
            return
        if op == "update":
            mine = [r for r in mine if r[1] is None or r[1] < 3]
        if op == "delete":
            mine = [r for r in mine if r[1] is not None and v is not None and r[1] > v]
        if op in ("update", "delete"):
            for record in mine:
                self.records.remove(record)
        if op == "update":
            mine = [(k, None if None in (r[1], v) else r[1] + v) for r in mine]  # type: ignore[operator]
            self.records += mine
        self.out[op] += [(t, *r) for r in sorted(mine, key=nulls_first)]


def nulls_first(record: Record) -> Any:
    return [(value is not None, value) for value in record]


values = st.none() | st.integers(-3, 5)
keys = st.none() | st.sampled_from("ab")
actions = st.tuples(st.integers(0, 6), st.sampled_from(list(OPS)), keys, values)


@given(
    st.lists(actions, max_size=12),
    st.lists(actions, max_size=8),
    st.lists(st.tuples(keys, values), max_size=4),
    st.permutations(list(OPS)),
    st.integers(2, 9),
)
@settings(
    deadline=None, max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
def test_boxes_that_share_a_table(
    store: Store,
    left: list[Any],
    right: list[Any],
    records: list[Record],
    order: list[str],
    trains: int,
) -> None:
    """Two inputs, four boxes, one table: equivalent to serial execution by order value."""
    fields = {"t": "int", "op": "str", "k": "str", "v": "int"}
    net = bx.Network("n")
    both = net.input("l", ts="t", fields=fields, slack=9) | net.input(
        "r", ts="t", fields=fields, slack=9
    )
    net.table("DB", fields={"k": "str", "v": "int"})
    for op in order:
        mine = both.filter(f"op = '{op}'").map(t="t", k="k", v="v").named(f"only-{op}")
        net.output(op, mine.draw(op, OPS[op]).named(op))
    sources = {
        name: [dict(zip(fields, row, strict=True)) for row in data]
        for name, data in {"l": left, "r": right}.items()
    }
    given_records = [dict(zip(("k", "v"), record, strict=True)) for record in records]
    model = Model(list(records))
    merged = sorted(
        [*sorted(left, key=lambda a: a[0]), *sorted(right, key=lambda a: a[0])], key=lambda a: a[0]
    )
    for moment in sorted({action[0] for action in merged}):
        for op in ("delete", "insert", "update", "select"):  # writers first, by name
            for t, what, k, v in merged:
                if t == moment and what == op:
                    model.do(op, t, k, v)
    expected = sorted(model.records, key=nulls_first)
    for cut in (1, trains):
        result, held = store.preview(net, sources, cut, DB=given_records)
        assert {op: rows(result, op) for op in OPS} == model.out
        assert [tuple(record.values()) for record in held["DB"]] == expected
