"""Table boxes in files: the thesis' parameters, omitted outputs, superboxes."""

import pytest

import boxcars as bx

HEAD = """<borealis>
  <schema name="calls"><field name="Caller" type="string"/><field name="Time" type="int"/>
    <field name="Price" type="double"/></schema>
  <schema name="top"><field name="Phone" type="string"/><field name="Time" type="int"/>
    <field name="Price" type="double"/></schema>
  <input stream="calls" schema="calls"/><table name="Top_Expensive" schema="top"/>"""
WHERE = "WHERE Top_Expensive.Phone = input.Caller"
STATEMENTS = {
    "select": f"SELECT * FROM Top_Expensive {WHERE}",
    "insert": "INSERT INTO Top_Expensive VALUES (Caller,Time,Price)",
    "delete": f"DELETE FROM Top_Expensive {WHERE}",
    "update": f"UPDATE Top_Expensive SET Top_Expensive.Price = input.Price {WHERE}",
}
OUTPUTS = {"select": 3, "insert": 1, "delete": 2, "update": 2}


def xml(kind: str, outs: int) -> str:
    """The thesis' example of a table operator, with some of its outputs."""
    streams = "".join(f'<out stream="O{n}"/>' for n in range(outs))
    outputs = "".join(f'<output stream="O{n}"/>' for n in range(outs))
    return f"""{HEAD}<box name="b" type="{kind}"><in stream="calls"/>{streams}
      <parameter name="table" value="Top_Expensive"/>
      <parameter name="sql" value="{STATEMENTS[kind]}"/></box>{outputs}</borealis>"""


@pytest.mark.parametrize(
    ("kind", "outs"), [(kind, n) for kind, most in OUTPUTS.items() for n in range(most + 1)]
)
def test_the_examples_of_the_thesis(kind: str, outs: int) -> None:
    checked = bx.check_text(xml(kind, outs), "xml")
    if kind == "select" and outs == 0:
        assert "a network needs at least one output." in str(checked.problems[0])
        return
    net = checked.or_raise().network
    calls = {"Caller": ["a"], "Time": [1], "Price": [2.0]}
    top = {"Phone": ["a"], "Time": [0], "Price": [1.0]}
    result = bx.preview(net, {"calls": calls}, tables={"Top_Expensive": top})
    records = {"select": [1.0], "insert": [1.0, 2.0], "delete": [], "update": [2.0]}[kind]
    assert result.stored["Top_Expensive"]["Price"].to_pylist() == records
    for language in ("xml", "yaml", "json"):
        assert bx.loads(bx.dumps(net, language), language) == net


@pytest.mark.parametrize("kind", OUTPUTS)
def test_too_many_outputs(kind: str) -> None:
    (problem,) = bx.check_text(xml(kind, OUTPUTS[kind] + 1), "xml").problems
    assert "like this has exactly" in problem.message


def test_the_order_attribute_stays_beside_a_column_of_its_name() -> None:
    net = bx.check_text(xml("select", 1), "xml").or_raise()
    (schema,) = (net.schemas[output.source] for output in net.network.outputs.values())
    assert str(schema) == "Time*: int, Phone: str, Top_Expensive_Time: int, Price: float"


def test_a_superbox_uses_the_tables_of_its_network() -> None:
    checked = bx.check_text(
        """
name: n
inputs: {calls: {ts: time, fields: {time: int, who: str}}}
tables: {seen: {fields: {who: str}, key: [who]}}
superboxes:
  first:
    params: {least: null}
    inputs: {feed: {ts: time, fields: {time: int, who: str}}}
    boxes:
      look: {type: select, in: feed, sql: "SELECT * FROM seen WHERE who = input.who"}
      keep:
        type: insert
        in: look.missing
        sql: "INSERT INTO seen VALUES (input.who || '$least')"
    outputs: {new: {from: keep}}
boxes:
  one: {type: first, in: calls, least: 5}
outputs: {new: {from: one.new}}
"""
    ).or_raise()
    calls = {"time": [1, 2, 3], "who": ["a", "a5", "b"]}
    result = bx.preview(checked.network, {"calls": calls}, trains=2)
    assert result["new"]["who"].to_pylist() == ["a", "b"]
    assert result.stored["seen"]["who"].to_pylist() == ["a5", "b5"]
