"""The API for networks: files, texts, templates, checks, completion, diffs and superboxes."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

import pytest

import boxcars as bx
from boxcars.model.serialize import network_to_plain
from boxcars.studio.edit.templates import templates
from tests.studio.server import Served

CHEAP: dict[str, Any] = {
    "name": "cheap",
    "inputs": {"calls": {"ts": "time", "fields": {"time": "int", "who": "str", "price": "float"}}},
    "boxes": {
        "few": {"type": "filter", "in": "calls", "where": ["price < 1"]},
        "hourly": {
            "type": "aggregate",
            "in": "few",
            "window": {"time": 60},
            "fields": {"n": "count()"},
            "by": ["who"],
        },
    },
    "outputs": {"cheap": {"from": "hourly"}},
}


def changed(**boxes: Any) -> dict[str, Any]:
    net = copy.deepcopy(CHEAP)
    net["boxes"] |= boxes
    return net


def problems(served: Served, net: dict[str, Any]) -> list[str]:
    return [problem["text"] for problem in served.post("/api/check", {"network": net})["problems"]]


def test_the_palette_has_every_box_and_function(served: Served) -> None:
    palette = served.get("/api/palette")
    boxes = {box["type"]: box for box in palette["boxes"]}
    assert set(boxes) == set(bx.box_types())
    assert all(box["icon"] and box["summary"] and box["group"] for box in boxes.values())
    kinds = {p["key"]: p["kind"] for p in boxes["aggregate"]["params"]}
    assert kinds == {"window": "window", "fields": "named_exprs", "by": "fields"}
    assert (boxes["join"]["min_inputs"], boxes["union"]["max_inputs"]) == (2, None)
    assert boxes["select"]["ports"] == ["0", "missing", "count"]
    assert {f["kind"] for f in palette["functions"]} == {"scalar", "aggregate"}
    assert {c["scheme"] for c in palette["connectors"]} >= {"inject", "live", "kafka", "file"}


@pytest.mark.parametrize("name", templates())
def test_templates_are_right(served: Served, name: str) -> None:
    document = served.get(f"/api/templates/{name}")
    assert document["problems"] == []
    assert document["network"] == network_to_plain(templates()[name].build())
    assert served.post("/api/check", {"network": document["network"]})["ok"]


def test_a_network_that_is_right(served: Served) -> None:
    found = served.post("/api/check", {"network": CHEAP})
    assert (found["ok"], found["problems"]) == (True, [])
    assert found["schemas"]["hourly"] == {
        "fields": [
            {"name": "who", "type": "str"},
            {"name": "time", "type": "int"},
            {"name": "n", "type": "int"},
        ],
        "ts": "time",
        "ordered": True,
    }
    assert found["ports"]["hourly"] == {"inputs": 1, "outputs": ["0"], "side": ["late"]}


def test_problems_have_the_message_of_the_check_and_a_location(served: Served) -> None:
    net = changed(few={"type": "filter", "in": "calls", "where": ["prise < 1"]})
    (problem,) = served.post("/api/check", {"network": net})["problems"]
    assert problem["path"] == ["boxes", "few", "where", "0"]
    assert (problem["entity"], problem["box"]) == ("box", "few")
    assert problem["text"] == "box 'few', where[0]: unknown field 'prise'. Did you mean 'price'?"


def test_incomplete_networks_are_checked_as_far_as_possible(served: Served) -> None:
    net = changed(
        new={"type": "filter"},
        both={"type": "join", "in": [None, "calls"]},
        odd={"type": "nothing", "in": "few"},
        after={"type": "map", "in": "both", "fields": {"time": "time"}},
    )
    net["outputs"]["open"] = {"from": None}
    found = served.post("/api/check", {"network": net})
    said = [problem["text"] for problem in found["problems"]]
    assert "box 'both', in[0]: its left input is not connected: draw an arrow to it." in said
    assert "output 'open', from: it is not connected: draw an arrow to it." in said
    assert any(text.startswith("box 'new': a filter needs 'where'") for text in said)
    assert {"few", "hourly"} <= found["schemas"].keys()
    assert found["ports"]["both"]["inputs"] == 2
    assert not any(text.startswith("box 'after'") for text in said)


def test_one_mistake_does_not_hide_the_fields(served: Served) -> None:
    net = changed(lost={"type": "map", "in": "calls", "fields": {"who": "who"}})
    net["boxes"]["after"] = {"type": "aggregate", "in": "lost", "window": {"time": None}}
    net["inputs"]["calls"]["ts"] = "tiem"
    wrong = "input 'calls', ts: the order attribute 'tiem' is not a field. Did you mean 'time'?"
    assert wrong in problems(served, net)
    assert complete(served, "few", ["where", "0"], "pr", net)[0] == "price"


@pytest.mark.parametrize(
    "net",
    [
        {},
        {"boxes": []},
        {"boxes": {"a": 7}, "inputs": 3, "outputs": "x"},
        {"boxes": {"a": {"type": ["x"], "in": {"b": 1}}}},
        {"boxes": {"a": {"type": "filter", "in": ["a"], "where": {"x": [1]}}}},
        {"inputs": {"a": {"ts": 5, "fields": {"t": "nope"}}}, "superboxes": {"s": {"boxes": 5}}},
        {"superboxes": {"s": {"boxes": {"x": {"type": "s"}}}}, "boxes": {"x": {"type": "s"}}},
        {"name": None, "tables": {"t": None}, "what": 1},
        {"boxes": {"x": {"type": "select", "sql": "SELECT (("}}},
        {"boxes": {"x": {"type": "aggregate", "window": {"time": "x"}, "fields": {"": ""}}}},
    ],
)
def test_a_check_never_fails(served: Served, net: dict[str, Any]) -> None:
    assert served.post("/api/check", {"network": net})["problems"]


def test_superboxes_are_looked_into(served: Served) -> None:
    grouped = served.post("/api/group", {"network": CHEAP, "boxes": ["few"], "name": "small"})
    net = grouped["network"]
    assert net["boxes"]["small"] == {"type": "small", "in": "calls"}
    found = served.post("/api/check", {"network": net})
    assert found["ok"]
    assert found["schemas"]["small"] == found["schemas"]["small/few"]
    assert found["superboxes"]["small"]["few"]["fields"][0]["name"] == "time"
    back = served.post("/api/ungroup", {"network": net, "box": "small"})
    assert back["network"] == CHEAP


def test_grouping_is_refused_in_words(served: Served) -> None:
    net = changed(last={"type": "filter", "in": "hourly", "where": ["n > 1"]})
    asked = {"network": net, "boxes": ["few", "last"], "name": "g"}
    code, sentence = served.refused("POST", "/api/group", asked)
    assert code == 400
    assert sentence == "box 'hourly' is between the chosen boxes: add it to the superbox."
    _, sentence = served.refused("POST", "/api/group", {**asked, "name": "filter"})
    assert sentence == "'filter' already exists: give the superbox another name."
    _, sentence = served.refused("POST", "/api/ungroup", {"network": net, "box": "few"})
    assert sentence == "box 'few' is not a superbox."


def test_grouping_several_ports_keeps_the_meaning(served: Served) -> None:
    net = network_to_plain(templates()["ddos"].build())
    boxes = [name for name, block in net["boxes"].items() if block["type"] == "aggregate"]
    grouped = served.post("/api/group", {"network": net, "boxes": boxes, "name": "windows"})
    assert served.post("/api/check", {"network": grouped["network"]})["ok"]
    back = served.post("/api/ungroup", {"network": grouped["network"], "box": "windows"})
    assert served.post("/api/diff", {"old": net, "new": back["network"]})["text"] == ""


def complete(served: Served, box: str, path: list[str], text: str, net: Any = CHEAP) -> list[str]:
    asked = {"network": net, "box": box, "path": path, "text": text, "cursor": len(text)}
    found = served.post("/api/complete", asked)
    assert text[found["from"] :] == "" or found["from"] < len(text)
    return [option["label"] for option in found["options"]]


def test_completion(served: Served) -> None:
    assert complete(served, "few", ["where", "0"], "pr")[0] == "price"
    assert "round" in complete(served, "few", ["where", "0"], "price < ro")
    assert complete(served, "hourly", ["fields", "n"], "cou")[0] == "count"
    assert complete(served, "hourly", ["by", "0"], "") == ["time", "who", "price"]
    joined = changed(pair={"type": "join", "in": ["calls", "few"]})
    assert complete(served, "pair", ["on"], "left.w", joined) == ["who"]
    assert complete(served, "pair", ["on"], "", joined)[:2] == ["left.", "right."]
    assert "year" in complete(served, "nobody", ["where"], "x ye")


def test_a_diff_of_two_versions(served: Served) -> None:
    new = changed(few={"type": "filter", "in": "calls", "where": ["price < 2"]})
    new["boxes"]["more"] = {"type": "union"}
    found = served.post("/api/diff", {"old": CHEAP, "new": new})
    assert [(c["kind"], c["entity"], c["name"]) for c in found["changes"]] == [
        ("changed", "box", "few"),
        ("added", "box", "more"),
    ]
    assert found["changes"][0]["lines"] == ["where: [price < 1] -> [price < 2]"]


@pytest.mark.parametrize("suffix", ["yaml", "json", "xml"])
def test_files_say_what_was_drawn(served: Served, suffix: str) -> None:
    file = f"drawn.{suffix}"
    positions = {"few": [10.0, 20.0], "-> cheap": [5.5, 0.0], "small/few": [1.0, 2.0]}
    code, _ = served.call(
        "PUT", f"/api/networks/{file}", {"network": CHEAP, "positions": positions}
    )
    assert code == 200
    found = served.get(f"/api/networks/{file}")
    assert (found["network"], found["positions"], found["format"]) == (CHEAP, positions, suffix)
    assert bx.load(served.folder / file).check().ok
    assert file in [network["file"] for network in served.get("/api/networks")]
    assert served.call("DELETE", f"/api/networks/{file}") == (204, None)
    assert served.refused("GET", f"/api/networks/{file}")[0] == 404
    assert not list(served.folder.glob("drawn*"))


def test_half_done_work_can_be_saved(served: Served) -> None:
    net = changed(both={"type": "join", "in": [None, "calls"]})
    assert served.call("PUT", "/api/networks/half.yaml", {"network": net})[0] == 200
    found = served.get("/api/networks/half.yaml")
    assert found["network"] == net
    assert {problem["box"] for problem in found["problems"]} == {"both"}
    assert found["problems"][0]["line"] is not None
    code, sentence = served.refused("PUT", "/api/networks/half.xml", {"network": net})
    assert (code, "is not connected" in sentence) == (400, True)


def test_broken_files_give_a_sentence(served: Served) -> None:
    (served.folder / "broken.yaml").write_text("boxes:\n  a: [1\n")
    code, sentence = served.refused("GET", "/api/networks/broken.yaml")
    assert (code, sentence.startswith("broken.yaml:")) == (400, True)
    assert "broken.yaml" in [network["file"] for network in served.get("/api/networks")]
    (served.folder / "broken.layout.json").write_text("{")
    (served.folder / "broken.yaml").write_text("outputs: {}\n")
    _, sentence = served.refused("GET", "/api/networks/broken.yaml")
    assert "fix or remove the file" in sentence
    (served.folder / "package.json").write_text('{"name": "other"}')
    assert "package.json" not in [network["file"] for network in served.get("/api/networks")]


@pytest.mark.parametrize(
    "file", ["..%2Fsecret.yaml", "%2Fetc%2Fpasswd", ".hidden.yaml", "a%00.yaml", "x.sh", "x.py"]
)
def test_nothing_outside_of_the_folder(served: Served, file: str) -> None:
    (served.folder.parent / "secret.yaml").write_text("name: secret\nboxes: {}\n")
    for method, body in (("GET", None), ("PUT", {"network": CHEAP}), ("DELETE", None)):
        code, _ = served.call(method, f"/api/networks/{file}", body)
        assert 400 <= code < 500
    (served.folder / "link.yaml").symlink_to(served.folder.parent / "secret.yaml")
    assert served.refused("GET", "/api/networks/link.yaml")[0] == 400
    (served.folder / "link.yaml").unlink()


def test_texts_are_read_and_written(served: Served) -> None:
    for format_ in ("yaml", "json", "xml"):
        text = served.post("/api/write", {"network": CHEAP, "format": format_})["text"]
        assert served.post("/api/read", {"text": text, "format": format_})["network"] == CHEAP
    for format_, begins in {"svg": "<svg", "mermaid": "flowchart", "py": "import boxcars"}.items():
        text = served.post("/api/write", {"network": CHEAP, "format": format_})["text"]
        assert text.lstrip().startswith(begins)
    _, sentence = served.refused("POST", "/api/read", {"text": "import os", "format": "py"})
    assert "--allow-code" in sentence
    code, _ = served.refused("POST", "/api/read", {"text": "<x", "format": "xml"})
    assert code == 400


def test_code_is_refused_unless_it_is_allowed(served: Served, tmp_path: Path) -> None:
    marker = tmp_path / "imported"
    (tmp_path / "evil.py").write_text(f"open({str(marker)!r}, 'w')\ndef f(train): return train\n")
    net = changed(mine={"type": "apply", "in": "calls", "function": "evil:f"})
    (problem,) = served.post("/api/check", {"network": net})["problems"]
    assert problem["path"] == ["boxes", "mine", "function"]
    assert "--allow-code" in problem["message"]
    asks: list[tuple[str, dict[str, Any]]] = [
        ("/api/plan", {"network": net}),
        ("/api/runs", {"network": net}),
        ("/api/previews", {"network": net, "data": {}}),
        ("/api/tests/run", {"network": net, "tests": []}),
        ("/api/compile", {"network": net}),
    ]
    for path, body in asks:
        code, sentence = served.refused("POST", path, body)
        assert (code, "--allow-code" in sentence) == (400, True), path
    inside = {"superboxes": {"s": {**net, "name": None}}, "boxes": {"s": {"type": "s"}}}
    served.post("/api/check", {"network": inside})
    assert not marker.exists()
    assert served.call("PUT", "/api/networks/mine.yaml", {"network": net})[0] == 200
    assert served.refused("GET", "/api/networks/mine.yaml/entities")[0] == 400


def test_entities(served: Served) -> None:
    served.call("PUT", "/api/networks/e.yaml", {"network": CHEAP})
    listed = served.get("/api/networks/e.yaml/entities")
    assert [(entity["kind"], entity["name"]) for entity in listed] == [
        ("input", "calls"),
        ("box", "few"),
        ("box", "hourly"),
        ("output", "cheap"),
    ]
    found = served.get("/api/networks/e.yaml/entities/few")
    assert "where: [price < 1]" in found["text"]
    assert served.refused("GET", "/api/networks/e.yaml/entities/fex")[0] == 404


def test_the_document_of_the_api_is_complete(served: Served) -> None:
    document = json.loads(json.dumps(served.get("/openapi.json")))
    assert document["info"]["title"] == "Boxcars studio"
    assert "/api/runs" in document["paths"]
    names = [op["operationId"] for path in document["paths"].values() for op in path.values()]
    assert len(names) == len(set(names))
    for path in document["paths"].values():
        for operation in path.values():
            assert operation["summary"]
            assert operation["description"].endswith(".")
