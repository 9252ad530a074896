"""The plan of a run: the plan that is shown is the one that the engine runs."""

from pathlib import Path
from typing import Any, ClassVar

import polars as pl
import pytest
from typer.testing import CliRunner

import boxcars as bx
from boxcars.cli import app
from boxcars.draw.plan import plan_text
from boxcars.engine.layout.pieces import Shape, lay_out
from boxcars.model.problem import Wrong
from boxcars.plan import plan_run

FIELDS = {"t": "int", "k": "str"}


class Kept(bx.PerKey):
    keeps: ClassVar[dict[str, str]] = {"n": "int"}

    def on_tuple(self, state: Any, row: Any) -> Any:
        state["n"] = 1
        return [row]


class Trains(bx.Operator):
    def on_train(self, state: Any, train: pl.DataFrame) -> Any:
        return train, state


def everything() -> bx.Network:
    net = bx.Network("n")
    calls = net.input("calls", ts="t", fields=FIELDS)
    net.output("kept", calls.custom(Kept, by="k").named("kept"))
    net.output("trains", calls.custom(Trains, by="k").named("trains"))
    net.output("sorted", calls.bsort(slack=1).named("sorted"))
    pairs = calls.map(keep=True, u="t").product(calls, on="left.t < right.t", window=bx.time(3))
    net.output("pairs", pairs.named("pairs"))
    return net


def test_the_shown_plan_is_the_one_that_runs() -> None:
    checked = everything().check().or_raise()
    plan = plan_run(checked, "operator-set-cloud", 64, 30)
    assert plan == lay_out(checked, Shape(30, 64)).plan
    found = {s.name: (s.instances, s.buckets) for s in plan.subqueries}
    assert found["calls"] == (1, 0)
    assert found["kept"] == (30, 64)
    assert found["trains"] == found["sorted"] == (1, 1)
    text = plan_text(plan, checked)
    assert "64 buckets on 30 instances" in text
    why = "to one bucket: its class processes whole trains; only a bx.PerKey is split by key"
    assert f"calls → trains  {why}" in text


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("calls", "an input is read by one task."),
        ("trains", "its class processes whole trains; only a bx.PerKey is split by key."),
        ("sorted", "it sorts all tuples together."),
        ("kept", "it has 16 buckets."),
    ],
)
def test_instances_that_cannot_be_are_refused(name: str, sentence: str) -> None:
    checked = everything().check().or_raise()
    with pytest.raises(Wrong) as error:
        plan_run(checked, "operator-set-cloud", 16, 4, {name: 20})
    assert str(error.value) == f"subquery '{name}' can't have 20 instances: {sentence}"
    fewer = plan_run(checked, "operator-set-cloud", 16, 4, {"kept": 3, "sorted": 1})
    assert fewer["kept"].instances == 3


def test_network_that_writes_a_table_is_one_piece() -> None:
    net = bx.Network("n")
    calls = net.input("calls", ts="t", fields=FIELDS)
    net.table("seen", fields={"k": "str"}, key=["k"])
    counts = calls.aggregate(bx.tuples(2), by="k", n="count()").named("counts")
    net.output("out", counts.insert("INSERT INTO seen VALUES (k)").named("put"))
    checked = net.check().or_raise()
    plan = plan_run(checked, "operator-set-cloud", 64, 4)
    assert {subquery.instances for subquery in plan.subqueries} == {1}
    assert "one piece: the network writes a stored table" in plan_text(plan, checked)


def test_network_without_state_is_one_piece() -> None:
    net = bx.Network("n")
    calls = net.input("calls", ts="t", fields=FIELDS)
    net.output("out", calls.filter("t > 1").named("few"))
    plan = plan_run(net.check().or_raise(), "operator-cloud", 64, 4)
    assert {subquery.instances for subquery in plan.subqueries} == {1}


def test_command_shows_one_task_for_an_input(tmp_path: Path) -> None:
    net = bx.Network("n")
    calls = net.input("calls", ts="t", fields=FIELDS)
    net.output("out", calls.aggregate(bx.tuples(2), by="k", n="count()").named("counts"))
    bx.save(net, tmp_path / "n.yaml")
    shown = CliRunner().invoke(app, ["plan", str(tmp_path / "n.yaml"), "--instances", "30"])
    assert "reads the input calls\n          1 instance\n" in shown.output
    assert "64 buckets on 30 instances" in shown.output
