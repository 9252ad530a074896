"""The papers' examples of table operators (golden/operators.json and golden/queries.json)."""

from typing import Any

import pytest

import boxcars as bx
from tests.stores import Store, rows
from tests.test_golden import VECTORS

TOP = {"Phone": "str", "Time": "int", "Price": "float"}


def top_expensive() -> tuple[bx.Network, bx.Stream]:
    """The table of the thesis, and a stream of calls that is ordered by ``n``."""
    net = bx.Network("top")
    net.table("Top_Expensive", fields=TOP)
    fields = {"n": "int", "op": "str", "Caller": "str", "Time": "int", "Price": "float"}
    return net, net.input("calls", ts="n", fields=fields)


def without_order(result: bx.Preview, output: str) -> list[dict[str, Any]]:
    return [{k: v for k, v in row.items() if k != "n"} for row in result[output].to_pylist()]


def test_select_has_three_outputs(store: Store) -> None:
    vector = VECTORS["op-04-table-select"]
    net = bx.Network("top")
    net.table(vector["parameters"]["table"], fields=TOP)
    calls = net.input("calls", ts="n", fields={"n": "int", "Caller": "str"})
    sql = f"SELECT * FROM Top_Expensive WHERE {vector['parameters']['where']}"
    for number, stream in enumerate(calls.select(sql, table="Top_Expensive"), start=1):
        net.output(f"O{number}", stream)
    tuples = [{"n": n, **row} for n, row in enumerate(vector["input"]["tuples"])]
    result, _ = store.preview(net, {"calls": tuples}, Top_Expensive=vector["input"]["table"])
    assert {name: without_order(result, name) for name in result} == vector["expected"]


def test_insert_update_and_delete(store: Store) -> None:
    vector = VECTORS["op-05-table-insert-delete-update"]
    expected = vector["expected"]
    where = "WHERE Top_Expensive.Phone = input.Caller"
    sql = {
        "insert": "INSERT INTO Top_Expensive VALUES (Caller,Time,Price)",
        "update": f"UPDATE Top_Expensive SET Top_Expensive.Price = input.Price {where}",
        "delete": f"DELETE FROM Top_Expensive {where}",
    }
    net, calls = top_expensive()
    for op, text in sql.items():
        only = calls.filter(f"op = '{op}'").map(drop=["op"]).named(f"only-{op}")
        for number, stream in enumerate(only.draw(op, text).named(op), start=1):
            net.output(f"{op}_O{number}", stream)
    ops = [
        {"n": n, "op": op["op"], "Caller": None, "Time": None, "Price": None, **op["tuple"]}
        for n, op in enumerate(vector["input"]["ops"])
    ]
    for last in range(len(ops)):
        result, held = store.preview(
            net, {"calls": ops[: last + 1]}, 1 + last % 2, Top_Expensive=vector["input"]["table"]
        )
        after = [list(record.values()) for record in held["Top_Expensive"]]
        assert after == expected["table_after_each"][last]
    assert rows(result, "delete_O1") == [(2, *expected["delete_B"]["O1"][0])]
    assert expected["delete_Q"]["O1"] == []
    deleted_by = [expected[f"delete_{who}"]["O2"][0] for who in "BQ"]
    assert [row["Caller"] for row in without_order(result, "delete_O2")] == [
        given["Caller"] for given in deleted_by
    ]
    example = expected["update_A_example_reading"]
    assert rows(result, "update_O1") == [(1, *example["O1"][0])]
    (forwarded,) = without_order(result, "update_O2")
    assert example["O2"] == [{"Caller": forwarded["Caller"], "Price": forwarded["Price"]}]


BLACKLIST = """
<borealis>
  <schema name="cdr"><field name="Caller" type="string"/><field name="Callee" type="string"/>
    <field name="Time" type="int"/></schema>
  <schema name="phones"><field name="Phone" type="string"/></schema>
  <input stream="I" schema="cdr"/>
  <table name="DB" schema="phones"/>
  <box name="M1" type="map"><in stream="I"/><out stream="I1"/>
    <parameter name="expression.0" value="Caller"/>
    <parameter name="output-field-name.0" value="Phone"/>
    <parameter name="expression.1" value="Time"/>
    <parameter name="output-field-name.1" value="Time"/></box>
  <box name="M2" type="map"><in stream="I"/><out stream="I2"/>
    <parameter name="expression.0" value="Callee"/>
    <parameter name="output-field-name.0" value="Phone"/>
    <parameter name="expression.1" value="Time"/>
    <parameter name="output-field-name.1" value="Time"/></box>
  <box name="U" type="union"><in stream="I1"/><in stream="I2"/><out stream="O_U"/></box>
  <box name="S" type="select"><in stream="O_U"/>
    <out stream="O_S1"/><out stream="O_S2"/><out stream="O_S3"/>
    <parameter name="table" value="DB"/>
    <parameter name="sql" value="SELECT * FROM DB WHERE DB.Phone = input.Phone"/></box>
  <box name="F" type="filter"><in stream="O_S3"/><out stream="O_F"/>
    <parameter name="expression.0" value="Count = 1"/></box>
  <output stream="O_F"/><output stream="O_S1"/><output stream="O_S2"/><output stream="O_S3"/>
</borealis>
"""


@pytest.mark.parametrize("trains", [1, 3])
def test_blacklist(store: Store, trains: int) -> None:
    vector = VECTORS["q-04-blacklist"]
    net = bx.check_text(BLACKLIST, "xml").or_raise().network
    assert net.boxes["S"].box.plain() == vector["parameters"]["network"]["boxes"][3]["params"]
    calls = [
        {"Time": time, "Caller": caller, "Callee": callee}
        for time, (caller, callee) in enumerate(vector["input"]["tuples"])
    ]
    phones = {"Phone": vector["parameters"]["tables"]["DB"]}
    result, _ = store.preview(net, {"I": calls}, trains, DB=phones)
    found = {name: result[name]["Phone"].to_pylist() for name in result}
    assert found["O_F"] == vector["expected"]["O_F"]
    assert found["O_S1"] == vector["expected"]["O_S1"]
    assert found["O_S2"] == vector["expected"]["O_S2"]
    counted = zip(found["O_S3"], result["O_S3"]["Count"].to_pylist(), strict=True)
    assert [list(pair) for pair in counted] == vector["expected"]["O_S3"]


@pytest.mark.parametrize("trains", [1, 4])
@pytest.mark.parametrize("comparison", [">", "<"])
def test_restrict_usage(store: Store, comparison: str, trains: int) -> None:
    """The order attribute comes through the select, so the join behind it has its time."""
    vector = VECTORS["q-06-restrict-usage"]
    boxes = {box["name"]: box["params"] for box in vector["parameters"]["network"]["boxes"]}
    net = bx.Network("limits")
    net.table("DB", fields={"Card": "str", "Limit": "float"}, key="Card")
    fields = {"Card": "str", "Time": "int", "Price": "float", "Seller_ID": "str"}
    paid = net.input("I", ts="Time", fields=fields).map(boxes["M"]).named("M")
    window = bx.time(boxes["A"]["size"], boxes["A"]["advance"])
    spent = paid.aggregate(window, by=["Card"], fields=boxes["A"]["functions"]).named("A")
    limits = spent.select(boxes["S"]["sql"], table=boxes["S"]["table"]).named("S")
    near = bx.time(boxes["J"]["size"])
    both = spent.join(limits, on=boxes["J"]["predicate"], window=near).named("J")
    net.output("O_A", spent)
    net.output("O_S", limits)
    net.output("O_F", both.filter(f"left_Expenses {comparison} right_Limit").named("F"))
    tuples = [
        {"Card": card, "Time": time, "Price": float(price), "Seller_ID": "s"}
        for card, time, price in vector["input"]["tuples"]
    ]
    stored = [
        {"Card": card, "Limit": float(limit)}
        for card, limit in vector["parameters"]["tables"]["DB"].items()
    ]
    result, _ = store.preview(net, {"I": tuples}, trains, DB=stored)
    first = {row["Card"]: row["Expenses"] for row in result["O_A"].to_pylist() if row["Time"] == 0}
    assert first == {card: sum_ for card, _, sum_ in vector["expected"]["O_A"]}
    limit = {row["Card"]: row["Limit"] for row in result["O_S"].to_pylist() if row["Time"] == 0}
    assert limit == dict(vector["expected"]["O_S"])
    over = [row["left_Card"] for row in result["O_F"].to_pylist() if row["Time"] == 0]
    meant = "O_F_intended" if comparison == ">" else "O_F_as_printed"
    assert over == vector["expected"][meant]
