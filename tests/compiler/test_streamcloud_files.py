"""The files of StreamCloud's compiler, and the parallel query in them."""

import json
import subprocess
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import boxcars as bx
from boxcars.compiler.streamcloud_files import parallel_query, project_files, skeleton
from boxcars.lang.deploy import Deployment
from boxcars.lang.streamcloud import load_project
from boxcars.model.problem import BoxcarsError
from boxcars.plan import STRATEGIES, Strategy, make_plan

VECTORS = json.loads(
    (Path(__file__).parent.parent / "golden/formats_api.json").read_text(encoding="utf-8")
)["vectors"]
FIELDS = {"t": "int", "k": "int", "s": "str", "x": "float"}


def tolls() -> bx.Network:
    """Keys, pairs, one bucket, a union of inputs, two outputs of a filter, a key of two types."""
    net = bx.Network("tolls")
    north, south = (net.input(name, ts="t", fields=FIELDS) for name in ("north", "south"))
    bills = net.input("bills", ts="t", fields={"t": "int", "payer": "float"})
    both = (north.filter("x > 0").named("moving") | south).named("both")
    mean = both.aggregate(bx.time(4, advance=2), by=["k", "s"], v="count()").named("mean")
    slow, fast = mean.filter("v < 2", otherwise=True).named("jam")
    net.output("fast", fast)
    paid = slow.join(bills, on="left.k = right.payer", window=bx.time(5)).named("paid")
    net.output("paid", paid.map(t="t", k="left_k").named("slim").wsort(by=["k"], timeout=3))
    near = slow.product(bills, on="left.k < right.payer", window=bx.time(3)).named("near")
    net.output("near", near)
    return net


def rows(table: Any) -> Counter[Any]:
    return Counter(tuple(row.items()) for row in table.to_pylist())


@st.composite
def data(draw: Any) -> dict[str, dict[str, list[Any]]]:
    def stream(keys: str, **more: Any) -> dict[str, list[Any]]:
        times = sorted(draw(st.lists(st.integers(0, 12), min_size=1, max_size=25)))
        column = {keys: [draw(st.integers(0, 3)) for _ in times]}
        return {"t": times, **column, **{n: [draw(v) for _ in times] for n, v in more.items()}}

    text, number = st.sampled_from(["a", "b", None]), st.floats(-1, 5, width=16)
    given = {name: stream("k", s=text, x=number) for name in ("north", "south")}
    bills = stream("payer")
    return {**given, "bills": {**bills, "payer": [float(p) for p in bills["payer"]]}}


@settings(max_examples=25, deadline=None)
@given(sources=data(), strategy=st.sampled_from(STRATEGIES), instances=st.sampled_from([2, 3, 4]))
def test_the_parallel_query_has_the_same_results(
    sources: dict[str, Any], strategy: Strategy, instances: int
) -> None:
    """StreamCloud's semantic transparency: the parallel query has the results of the network."""
    net = tolls()
    checked = net.check().or_raise()
    plan = make_plan(checked, strategy, buckets=12, instances=instances)
    query = parallel_query(plan, checked)
    whole, split = bx.preview(net, sources), bx.preview(query, sources)
    for name in net.outputs:
        assert rows(split[name]) == rows(whole[name]), name


def test_files_and_names() -> None:
    (vector,) = [v for v in VECTORS if v["id"] == "fmt-07-compiler-output"]
    expected = vector["expected"]
    name, instances = vector["input"]["operator"], vector["input"]["instances"]
    net = bx.Network("n")
    calls = net.input("calls", ts="t", fields=FIELDS)
    net.output("out", calls.aggregate(bx.time(3), by="k", n="count()").named(name))
    checked = net.check()
    files = project_files(make_plan(checked, instances=instances), checked)
    patterns = [f.replace("<i>", "1") for f in expected["files"]]
    assert sorted(files) == sorted(patterns)
    query = bx.loads(files["query.xml"], "xml")
    assert [box for box in query.boxes if box.startswith(f"{name}_")] == expected["names"]
    for place in (line for line in files["deploy.xml"].splitlines() if "endpoint" in line):
        host, port = place.split('endpoint="')[1].split('"')[0].split(":")
        assert (host, port.isdigit()) == ("127.0.0.1", True), expected["node_address"]


def test_a_project_that_is_checked_and_launched(tmp_path: Path) -> None:
    checked = tolls().check()
    for name, text in project_files(make_plan(checked), checked).items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    fake = tmp_path / "boxcars"
    fake.write_text('#!/bin/sh\necho "$@"\n', encoding="utf-8")
    fake.chmod(0o755)
    done = subprocess.run(
        ["sh", str(tmp_path / "launch.sh"), "--source", "a=b"],
        env={"PATH": f"{tmp_path}:/usr/bin:/bin"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.splitlines() == [
        f"check {tmp_path}/SC.xml",
        f"run {tmp_path}/query.xml --source a=b",
    ]
    project, query, deploy, resources = load_project(tmp_path / "SC.xml")
    assert bx.check_file(query).ok
    deployment = Deployment.load(deploy)
    assert list(deployment.problems(bx.load(query))) == []
    assert list(resources.problems(deployment, "deploy.xml")) == []
    assert len(project.balancers) == 3, "one for each input"


@pytest.mark.parametrize("number", range(4))
def test_skeletons_are_networks(number: int) -> None:
    checked = tolls().check()
    working = [s for s in make_plan(checked).subqueries if s.boxes]
    template = skeleton(working[number], checked)
    assert tuple(template.boxes) == working[number].boxes
    assert template.check().ok


def test_a_stream_that_can_not_be_merged() -> None:
    net = bx.Network("n")
    calls = net.input("calls", ts="t", fields=FIELDS)
    mixed = calls.map(t="t % 5", keep=True).named("m")
    net.output("out", mixed.bsort(slack=9).named("b"))
    checked = net.check()
    with pytest.raises(BoxcarsError, match="'m' is unordered"):
        parallel_query(make_plan(checked), checked)
    parallel_query(make_plan(checked, instances=1), checked)


def test_an_output_without_order_stays_in_pieces() -> None:
    checked = bx.check_file(Path(__file__).parents[2] / "examples/high-mobility.yaml")
    query = parallel_query(make_plan(checked, instances=2), checked)
    assert query.check().ok
    assert list(query.outputs) == ["frauds_1", "frauds_2"]
