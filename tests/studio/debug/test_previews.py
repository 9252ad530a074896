"""Previews step by step, samples, plans, compiled files and tests of networks."""

from __future__ import annotations

import copy
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

import boxcars as bx
from boxcars.cli import app as boxcars
from boxcars.model.serialize import network_to_plain
from boxcars.studio.edit.templates import templates
from tests.studio.server import Served
from tests.studio.test_networks import CHEAP, changed

ROWS = [
    {"time": 1, "who": "ann", "price": 0.5},
    {"time": 2, "who": "bob", "price": 9.0},
    {"time": 30, "who": "ann", "price": 0.7},
    {"time": 70, "who": "bob", "price": 0.1},
]


def start(served: Served, net: Any = CHEAP, rows: Any = ROWS, **more: Any) -> Any:
    data = {"calls": {"format": "rows", "rows": rows}}
    return served.post("/api/previews", {"network": net, "data": data, **more})


def test_step_by_step_and_back(served: Served) -> None:
    begun = start(served)
    path = f"/api/previews/{begun['id']}"
    assert (begun["position"], begun["total"], begun["finished"]) == (0, 4, False)
    first = served.post(f"{path}/step", {"tuples": 2})
    assert first["arcs"]["few"] == {"total": 1, "fresh": 1, "rows": ROWS[:1]}
    second = served.post(f"{path}/step", {"tuples": 1})
    assert second["arcs"]["few"] == {"total": 2, "fresh": 1, "rows": [ROWS[0], ROWS[2]]}
    (window,) = [t for t in second["boxes"]["hourly"]["state"] if t["name"] == "tuples"]
    assert {"who": "ann", "time": 1} in window["rows"]
    again = served.post(f"{path}/back")
    assert again["arcs"] == first["arcs"]
    assert (again["position"], again["outputs"]["cheap"]["total"]) == (2, 0)
    end = served.post(f"{path}/step", {"to": "end"})
    assert (end["finished"], end["outputs"]["cheap"]["rows"]) == (
        True,
        [{"who": "ann", "time": 0, "n": 2}],
    )
    assert served.get(path)["position"] == 4
    assert end["boxes"]["few"]["stats"]["tuples_in"] == 4
    assert served.call("DELETE", path) == (204, None)
    assert served.refused("GET", path)[0] == 404


def test_what_windows_of_a_key_hold(served: Served) -> None:
    def held(window: dict[str, int]) -> Any:
        net = copy.deepcopy(CHEAP)
        net["boxes"]["hourly"] |= {"window": window, "fields": {"n": "count()", "p": "avg(price)"}}
        stepped = served.post(f"/api/previews/{start(served, net)['id']}/step", {"tuples": 3})
        return stepped["boxes"]["hourly"]["state"]

    def row(time: int, n: int, p: float) -> dict[str, Any]:
        return {"who": "ann", "time": time, "n so far": n, "p so far": p}

    (window,) = held({"tuples": 3, "advance": 1})
    assert (window["name"], window["rows"]) == ("tuples", [row(1, 1, 0.5), row(30, 1, 0.7)])
    (window,) = held({"tuples": 3, "advance": 3})
    assert (window["name"], window["rows"]) == ("tuples", [row(30, 2, 0.6)])


def test_breakpoints(served: Served) -> None:
    path = f"/api/previews/{start(served)['id']}/step"
    expensive, hourly = {"arc": "calls", "where": "price > 5"}, {"arc": "hourly"}
    found = served.post(path, {"until": [hourly, expensive]})
    assert (found["position"], found["stopped_at"]) == (2, "calls")
    found = served.post(path, {"until": [hourly, expensive]})
    assert (found["stopped_at"], found["arcs"]["hourly"]["fresh"]) == ("hourly", 1)
    _, sentence = served.refused("POST", path, {"until": [{"arc": "hourly", "where": "nn > 1"}]})
    assert sentence == "unknown field 'nn'. Did you mean 'n'?"
    _, sentence = served.refused("POST", path, {"until": [{"arc": "horly"}]})
    assert sentence == "there is no arc 'horly'. Did you mean 'hourly'?"


def test_data_as_text_and_what_does_not_fit(served: Served) -> None:
    text = "time,who,price\n1,ann,0.5\nx,bob,1\n"
    data = {"calls": {"format": "csv", "text": text}}
    begun = served.post("/api/previews", {"network": CHEAP, "data": data})
    assert begun["total"] == 1
    assert begun["dead"] == [
        {"source": "calls", "record": "x,bob,1", "reason": "time: 'x' is not an int"}
    ]
    code, sentence = served.refused(
        "POST", "/api/previews", {"network": CHEAP, "data": {"cals": {}}}
    )
    assert (code, sentence) == (400, "there is no input 'cals'. Did you mean 'calls'?")
    broken = changed(few={"type": "filter", "in": "calls", "where": ["prise < 1"]})
    code, sentence = served.refused("POST", "/api/previews", {"network": broken, "data": {}})
    assert (code, "unknown field 'prise'" in sentence) == (400, True)


@pytest.mark.parametrize("name", templates())
def test_a_preview_in_steps_gives_what_a_run_gives(served: Served, name: str) -> None:
    net = templates()[name].build()
    plain = network_to_plain(net)
    data: dict[str, Any] = {}
    tables: dict[str, Any] = {}
    for entity in net.inputs:
        asked = {"network": plain, "input": entity, "rows": 100}
        found = served.post("/api/sample", asked)
        assert found["template"] == name
        data[entity] = {"rows": found["rows"]}
        tables |= {table: {"rows": rows} for table, rows in found["tables"].items()}
    body = {"network": plain, "data": data, "tables": tables, "train": 37}
    id_ = served.post("/api/previews", body)["id"]
    while not (found := served.post(f"/api/previews/{id_}/step"))["finished"]:
        continue
    whole = bx.preview(
        net,
        {entity: given["rows"] for entity, given in data.items()},
        tables={table: given["rows"] for table, given in tables.items()},
    )
    for output in net.outputs:
        assert found["outputs"][output]["total"] == whole[output].num_rows
        assert found["outputs"][output]["rows"] == whole[output].to_pylist()[-100:]


def test_samples_fit_any_schema(served: Served) -> None:
    fields = {"t": "timestamp", "s": "str", "i": "int", "f": "float", "b": "bool", "y": "bytes"}
    net = {"name": "any", "inputs": {"a": {"ts": "t", "fields": fields}}}
    found = served.post("/api/sample", {"network": net, "input": "a", "rows": 12})
    assert (len(found["rows"]), found["template"]) == (12, None)
    assert found["text"].splitlines()[0] == "t,s,i,f,b,y"
    full = {**net, "outputs": {"o": {"from": "a"}}}
    for data in ({"rows": found["rows"]}, {"format": "csv", "text": found["text"]}):
        begun = served.post("/api/previews", {"network": full, "data": {"a": data}})
        assert (begun["total"], begun["dead"]) == (12, [])
    other = served.post("/api/sample", {"network": net, "input": "a", "rows": 12, "seed": 2})
    assert other["rows"] != found["rows"]


def test_arrival_times_in_a_preview(served: Served) -> None:
    """The run will stamp the tuples; here they are a second apart."""
    entity = {"ts": "arrival", "fields": {"who": "str"}}
    net = {"name": "n", "inputs": {"calls": entity}, "outputs": {"o": {"from": "calls"}}}
    sample = served.post("/api/sample", {"network": net, "input": "calls", "rows": 2})
    assert sample["text"].splitlines()[0] == "who"
    begun = start(served, net, sample["rows"])
    end = served.post(f"/api/previews/{begun['id']}/step", {"to": "end"})
    assert [row["arrival"] for row in end["outputs"]["o"]["rows"]] == [
        "1970-01-01T00:00:00Z",
        "1970-01-01T00:00:01Z",
    ]


def test_a_plan(served: Served) -> None:
    found = served.post("/api/plan", {"network": CHEAP, "instances": 2})
    assert found["levels"] == [["calls"], ["hourly"]]
    hourly = found["subqueries"][1]
    assert (hourly["instances"], hourly["buckets"], hourly["inputs"][0]["routing"]) == (
        2,
        64,
        "by who",
    )
    assert found["subqueries"][0]["instances"] == 1
    body = {"network": CHEAP, "instances": {"calls": 2}}
    _, sentence = served.refused("POST", "/api/plan", body)
    assert sentence == "subquery 'calls' can't have 2 instances: an input is read by one task."
    assert {cost["strategy"] for cost in found["costs"]} == {
        "operator-set-cloud",
        "operator-cloud",
        "query-cloud",
    }
    assert found["svg"].startswith("<svg")
    assert found["text"].startswith("cheap by operator-set-cloud")
    grouped = served.post("/api/plan", {"network": CHEAP, "groups": {"all": ["few", "hourly"]}})
    assert grouped["subqueries"][-1]["boxes"] == ["few", "hourly"]
    _, sentence = served.refused("POST", "/api/plan", {"network": CHEAP, "groups": {"g": ["fex"]}})
    assert sentence == "there is no box 'fex'. Did you mean 'few'?"


def test_compiled_files_are_what_the_command_line_takes(served: Served) -> None:
    body = {"network": CHEAP, "instances": 2, "pool": ["one", "two:9000"], "save": "project"}
    found = served.post("/api/compile", body)
    folder = served.folder / "project"
    assert {path.name for path in folder.iterdir()} == set(found["files"])
    assert CliRunner().invoke(boxcars, ["check", str(folder / "SC.xml")]).exit_code == 0
    assert 'IP="two"' in found["files"]["ResourceManager.xml"]
    assert "boxcars run project/network.yaml" in found["commands"][-1]
    code, _ = served.refused("POST", "/api/compile", {**body, "save": "../out"})
    assert code == 400
    _, sentence = served.refused("POST", "/api/compile", {**body, "pool": ["one:x"]})
    assert "host or host:port" in sentence


CASES = {
    "tests": [
        {
            "name": "cheap calls are counted",
            "given": {"calls": ROWS},
            "expect": {"cheap": [{"who": "ann", "n": 2}]},
        },
        {"name": "nothing", "given": {}, "expect": {"cheap": []}},
        {
            "name": "wrong",
            "given": {"calls": "time,who,price\n1,ann,0.5\n70,ann,0.5\n"},
            "expect": {"cheap": [{"n": 2}, {"n": 1}]},
        },
    ]
}


def test_tests_of_a_network(served: Served) -> None:
    served.call("PUT", "/api/networks/tested.yaml", {"network": CHEAP})
    assert served.get("/api/networks/tested.yaml/tests") == {"tests": [], "version": ""}
    assert served.call("PUT", "/api/networks/tested.yaml/tests", CASES)[0] == 200
    kept = served.get("/api/networks/tested.yaml/tests")
    assert [case["name"] for case in kept["tests"]] == [c["name"] for c in CASES["tests"]]
    found = served.post("/api/tests/run", {"network": CHEAP, "tests": kept["tests"]})
    assert [result["passed"] for result in found] == [True, True, False]
    assert found[2]["difference"] == (
        "cheap: row 1: expected n=2, got n=1\ncheap: row 2 is missing: n=1"
    )
    (network,) = [n for n in served.get("/api/networks") if n["file"] == "tested.yaml"]
    assert network["tests"]
    wrong = {"tests": [{"name": "x", "expect": {"chaep": []}}]}
    (result,) = served.post("/api/tests/run", {"network": CHEAP, **wrong})
    assert "Did you mean 'cheap'?" in result["difference"]


def test_the_command_runs_them_too(served: Served, tmp_path: Path) -> None:
    bx.save(bx.load(served.folder / "tested.yaml"), tmp_path / "n.yaml")
    tests = (served.folder / "tested.tests.yaml").read_text()
    (tmp_path / "n.tests.yaml").write_text(tests)
    done = CliRunner().invoke(boxcars, ["test", str(tmp_path / "n.yaml")])
    assert done.exit_code == 1
    assert "ok     cheap calls are counted" in done.output
    assert "wrong  wrong\n         cheap: row 1: expected n=2, got n=1" in done.output
    (tmp_path / "n.tests.yaml").write_text("tests:\n  - nam: x\n")
    done = CliRunner().invoke(boxcars, ["test", str(tmp_path / "n.yaml")])
    assert "'tests.0.name': field required" in str(done.exception)
