"""The papers' examples: formats, API and stateless operators (golden/*.json)."""

import json
from pathlib import Path

import polars as pl
import pytest

import boxcars as bx
from boxcars.lang.deploy import Deployment
from boxcars.lang.streamcloud import Machine, Project, Resources
from boxcars.lang.xmltree import parse as parse_xml
from boxcars.model.check import Checked

FOLDER = Path(__file__).parent / "golden"
VECTORS = {
    vector["id"]: vector
    for file in FOLDER.glob("*.json")
    for vector in json.loads(file.read_text(encoding="utf-8"))["vectors"]
}


def numbered(column: str, values: list[float]) -> dict[str, list[float]]:
    return {"n": list(range(len(values))), column: values}


@pytest.mark.parametrize("otherwise", [True, False])
def test_filter_routes_to_the_first_predicate(otherwise: bool) -> None:
    vector = VECTORS["op-01-filter-multi"]
    net = bx.Network("prices")
    prices = net.input("prices", ts="n", fields={"n": "int", "Price": "float"})
    outputs = prices.filter(*vector["parameters"]["predicates"], otherwise=otherwise)
    for number, stream in enumerate(outputs, start=1):
        net.output(f"O{number}", stream)
    result = bx.preview(net, {"prices": numbered("Price", vector["input"]["prices"])})
    routes = dict.fromkeys(range(len(vector["input"]["prices"])), "discarded")
    for name, table in result.items():
        routes |= dict.fromkeys(table["n"].to_pylist(), name)
    assert list(routes.values()) == vector["expected"]["routes" if otherwise else "without_O3"]


def test_map_converts_euro_to_dollars() -> None:
    vector = VECTORS["op-02-map-euro-dollar"]
    net = bx.Network("dollars")
    calls = net.input("calls", ts="n", fields={"n": "int", "Price": "float"})
    net.output("out", calls.map(n="n", Dollars=vector["parameters"]["Dollars"]))
    out = bx.preview(net, {"calls": numbered("Price", vector["input"]["prices"])})["out"]
    assert out["Dollars"].to_pylist() == pytest.approx(
        vector["expected"]["dollars"], abs=vector["expected"]["tolerance"]
    )


def test_filter_with_and_without_its_second_output() -> None:
    vector = VECTORS["op-03-filter-optional-second-output"]
    net = bx.Network("aurora")
    tuples = net.input("tuples", ts="n", fields={"n": "int", "A": "int", "B": "int"})
    true, false = tuples.filter(vector["parameters"]["p"], otherwise=True).named("two")
    net.output("true", true)
    net.output("false", false)
    net.output("only", tuples.filter(vector["parameters"]["p"]).named("one"))
    result = bx.preview(net, {"tuples": vector["input"]["tuples"]})
    assert result["true"]["n"].to_pylist() == vector["expected"]["true"]
    assert result["false"]["n"].to_pylist() == vector["expected"]["false"]
    assert result["only"]["n"].to_pylist() == vector["expected"]["true"]


class TestDuplicate:
    """The user-defined operator of the thesis' appendix, as a box of one class."""

    vector = VECTORS["op-06-duplicate-udf"]

    @pytest.fixture(autouse=True)
    def _registered(self) -> None:
        from tests.duplicate import Duplicate

        assert bx.box_types()["duplicate"] is Duplicate

    def net(self, block: str) -> Checked:
        content = f"""<borealis><schema name="s"><field name="time" type="int"/>
          <field name="x" type="string"/></schema><input stream="in" schema="s"/>
          <box name="d" type="duplicate">{block}</box><output stream="out"/></borealis>"""
        return bx.check_text(content, "xml")

    def test_copies_each_tuple(self) -> None:
        good = '<in stream="in"/><out stream="out"/><parameter name="duplicate-number" value="3"/>'
        net = self.net(good).or_raise().network
        xs = self.vector["input"]["tuples"]
        result = bx.preview(net, {"in": {"time": list(range(len(xs))), "x": xs}})
        assert result["out"]["x"].to_pylist() == self.vector["expected"]["out"]

    def test_setup_errors(self) -> None:
        number = '<parameter name="duplicate-number" value="3"/>'
        one_in, one_out = '<in stream="in"/>', '<out stream="out"/>'
        wrong = {
            "inputs != 1": (one_in * 2 + one_out + number, "exactly 1 input, got 2"),
            "outputs != 1": (
                f'{one_in}{one_out}<out stream="more"/>{number}',
                "exactly 1 output, got 2",
            ),
            "missing duplicate-number": (one_in + one_out, "needs 'number'"),
        }
        assert list(wrong) == self.vector["expected"]["setup_errors"]
        for block, message in wrong.values():
            assert message in "\n".join(map(str, self.net(block).problems))


def test_selectivity_chain() -> None:
    vector = VECTORS["op-09-selectivity-chain"]
    net = bx.Network("chain")
    batch = net.input("batch", ts="n", fields={"n": "int"})
    one = batch.filter("n >= 0").named("one")
    half = one.filter("n % 2 = 0").named("half")
    tenth = half.filter("n % 20 = 0").named("tenth")
    net.output("out", tenth)
    size = vector["input"]["batch"]
    stats = bx.preview(net, {"batch": {"n": list(range(size))}}, trains=7).stats
    after = [stats[name].total_out for name in ("one", "half", "tenth")]
    assert after == vector["expected"]["after_each"]
    assert [stats[name].selectivity for name in ("one", "half", "tenth")] == pytest.approx(
        vector["parameters"]["selectivities"]
    )
    assert [n / size for n in after] == vector["expected"]["relative_size"]


def test_the_part_of_the_aurora_api_that_needs_no_running_network() -> None:
    """tests/service/test_service.py has start, shutdown, enqueue, dequeue and getPerfStats."""
    methods = set(VECTORS["fmt-01-aurora-api"]["expected"]["methods"])
    running = {"start", "shutdown", "enqueue", "dequeue", "getPerfStats"}
    assert methods - running == {"modifyNetwork", "typecheck", "listEntities", "describe"}
    net = bx.Network("n")
    calls = net.input("calls", ts="t", fields={"t": "int"})
    net.output("out", calls.filter("t > 1").named("f"))
    assert net.list_entities() == (("input", "calls"), ("box", "f"), ("output", "out"))
    assert "where: [t > 1]" in net.describe("f")
    assert str(net.check().schemas[net.outputs["out"].source]) == "t*: int"
    changed = net.replace("f", bx.box_types()["filter"].build("x > 1"))
    assert net.check().ok
    assert "unknown field 'x'" in str(changed.check().problems[0])


def test_query_file_vocabulary() -> None:
    """Every parameter name that the listings use is the XML name of a parameter of ours."""
    from boxcars.lang.xmlparams import xml_names

    expected = VECTORS["fmt-02-query-xml"]["expected"]
    for kind in ("map", "filter", "aggregate"):
        ours = {name.replace(".#", ".N") for name in xml_names(bx.box_types()[kind])}
        assert set(expected["parameters"][kind]) <= ours


def test_query_file_sample() -> None:
    vector = VECTORS["fmt-03-query-xml-sample"]
    checked = bx.check_text(vector["input"]["xml"], "xml").or_raise()
    net, expected = checked.network, vector["expected"]
    assert len(net.boxes) == expected["boxes"]
    assert list(net.inputs) == expected["inputs"]
    assert list(net.outputs) == expected["outputs"]
    assert list(checked.order) == expected["topological_order_example"]
    groups: dict[str, list[str]] = {}
    for name, node in net.boxes.items():
        groups.setdefault(node.group, []).append(name)
    assert groups == expected["groups"]


def test_deploy_file() -> None:
    vector = VECTORS["fmt-04-deploy-xml"]
    example, expected = vector["input"]["example"], vector["expected"]
    lines = [
        f'<{part} endpoint="{endpoint}" {expected[part][1]}="{what}"/>'
        for part in ("publish", "node", "subscribe")
        for endpoint, what in example[part]
    ]
    deployment = Deployment.parse(f"<deploy>{''.join(lines)}</deploy>")
    for part in ("publish", "node", "subscribe"):
        found = [[place.endpoint, place.what] for place in getattr(deployment, part)]
        assert found == example[part]
    assert Deployment.parse(deployment.write()) == deployment
    sample = bx.check_text(VECTORS["fmt-03-query-xml-sample"]["input"]["xml"], "xml").network
    assert list(deployment.problems(sample)) == []


def test_streamcloud_parameters() -> None:
    vector = VECTORS["fmt-05-sc-xml"]["expected"]
    example = vector["example"]
    project = Project(
        "query.xml",
        "deploy.xml",
        "ResourceManager.xml",
        example["RecoveryType"],
        example["HeartBeatPeriod"],
        tuple(example["LB"]),
    )
    root = parse_xml(project.write(), "SC.xml")
    assert root.tag == vector["root"]
    assert [child.tag for child in root.children] == vector["children"]
    fault = next(root.all("FaultTolerance"))
    assert [child.tag for child in fault.children] == vector["FaultTolerance"]
    assert Project.parse(project.write()) == project


def test_resource_manager_parameters() -> None:
    vector = VECTORS["fmt-06-resource-manager-xml"]["expected"]
    example = vector["example"]
    machines = {
        kind: tuple(
            Machine(name, name, spec["port"], tuple(spec["instances"]))
            for name, spec in example[kind].items()
        )
        for kind in ("assigned", "available")
    }
    resources = Resources(**machines, pool=example["pool"])
    root = parse_xml(resources.write(), "ResourceManager.xml")
    assert root.tag == vector["root"]
    assert [child.tag for child in root.children] == vector["children"]
    starter = root.children[0].children[0]
    assert list(starter.attributes) == vector["SCStarter"]
    assert list(starter.children[0].attributes) == vector["SCInstance"]
    assert Resources.parse(resources.write()) == resources


def test_the_mistakes_of_the_visual_composer_are_rejected() -> None:
    mistakes = VECTORS["fmt-10-vqc-checks"]["input"]["mistakes"]
    texts = (FOLDER.parent / "mistakes/composer.xml.txt").read_text(encoding="utf-8")
    loop = (FOLDER.parent / "mistakes/loop.yaml.txt").read_text(encoding="utf-8")
    words = {
        "unknown or empty attribute (XSD)": "is empty",
        "missing mandatory parameter": "needs 'window'",
        "wrong number of in/out streams (Union needs one out)": "a union like this has exactly 1",
        "field not defined upstream": "unknown field 'durration'",
        "output schema differs from producing box": "expected 'time' to be a str",
        "stream name mismatch between two boxes": "there is no stream 'uo'",
        "cycle": "form a loop",
    }
    assert list(words) == mistakes
    for word in words.values():
        assert word in texts + loop
    offered = VECTORS["fmt-10-vqc-checks"]["expected"]["operators_offered"]
    boxes = {name.lower() for name in offered} - {"input", "output"}
    assert boxes <= set(bx.box_types())


def test_user_operators_have_the_two_entry_points() -> None:
    """Borealis' setup_impl is our type rule, its run_impl our kernel."""
    from boxcars.kernels.contract import Eager, Lazy

    assert len(VECTORS["fmt-12-borealis-udf"]["expected"]["functions"]) == 2
    assert Eager.__abstractmethods__ == {"outputs", "run"}
    assert Lazy.__abstractmethods__ == {"outputs", "pipeline"}


@pytest.mark.parametrize("name", ["CDR", "LinearRoad", "CreditCard"])
def test_input_schemas(name: str) -> None:
    fields = dict(VECTORS["fmt-13-schemas"]["expected"][name])
    types = {"text": "string", "integer": "int", "double": "double"}
    lines = "".join(f'<field name="{f}" type="{types[t]}"/>' for f, t in fields.items())
    checked = bx.check_text(
        f'<borealis><schema name="s">{lines}</schema><input stream="i" schema="s"/>'
        '<box name="f" type="filter"><in stream="i"/><out stream="o"/>'
        '<parameter name="expression.0" value="Time > 0"/></box><output stream="o"/></borealis>',
        "xml",
    ).or_raise()
    schema = checked.network.inputs["i"].schema
    assert list(schema.fields) == list(fields)
    assert schema.ts == "Time"
    empty = pl.DataFrame(schema=schema.dtypes)
    assert bx.preview(checked.network, {"i": empty})["o"].num_rows == 0
