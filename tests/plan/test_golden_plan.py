"""The papers' examples: strategies, partitions, costs, routing (golden/*.json)."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import boxcars as bx
from boxcars.model.stream import Stream
from boxcars.plan import Grid, Plan, Registry, Strategy, make_plan
from boxcars.plan.cost import cost_of

FOLDER = Path(__file__).parent.parent / "golden"
VECTORS = {
    vector["id"]: vector
    for file in FOLDER.glob("*.json")
    for vector in json.loads(file.read_text(encoding="utf-8"))["vectors"]
}
SHORT: dict[str, Strategy] = {
    "QC": "query-cloud",
    "OC": "operator-cloud",
    "SC": "operator-set-cloud",
}
FIELDS = {"time": "int", "caller": "str", "callee": "str", "price": "float"}


def step(stream: Stream, name: str) -> Stream:
    """A box of the papers by its letter: M map, F filter, A aggregate."""
    if name[0] == "M":
        drawn = stream.map(time="time", caller="caller", price="price")
    elif name[0] == "F":
        drawn = stream.filter("time > 5")
    else:
        by = "caller" if name == "A1" else "n1"
        number = {f"n{name[1:]}": "count()"}
        drawn = stream.aggregate(bx.time(3600, advance=600), by=by, fields=number)
    return drawn.named(name)


def chain(names: list[str], groups: list[list[str]] | None = None) -> bx.Network:
    net = bx.Network("phones")
    stream = net.input("I", ts="time", fields=FIELDS)
    for name in names:
        stream = step(stream, name)
        for number, group in enumerate(groups or []):
            stream = stream.in_group(f"g{number}") if name in group else stream
    net.output("O", stream)
    return net


def partition(plan: Plan) -> list[list[str]]:
    return [list(subquery.boxes) for subquery in plan.subqueries if subquery.boxes]


def counted(boxes: int, s: int) -> bx.Network:
    """A chain of boxes of which s are stateful, after a stateless prefix."""
    net = bx.Network("chain")
    stream = net.input("I", ts="time", fields={"time": "int"}).filter("time > 0").named("F0")
    for number in range(1, boxes):
        if number <= s:
            stream = stream.aggregate(bx.time(60), fields={"n": "count()"})
        else:
            stream = stream.filter("time > 0")
        stream = stream.named(f"B{number}")
    net.output("O", stream)
    return net


@pytest.mark.parametrize("number", ["02", "03", "04", "05"])
def test_cost(number: str) -> None:
    """Exact forms; the printed approximations are never less; all pairs (contradiction C19)."""
    (vector,) = [v for name, v in VECTORS.items() if name.startswith(f"par-{number}-")]
    n, boxes, s, alpha, beta = (vector["parameters"][k] for k in ("N", "l", "s", "alpha", "beta"))
    printed = {
        "QC": alpha * n**2 + beta * s,
        "OC": alpha * n + beta * boxes,
        "SC": alpha * n + beta * s,
    }
    assert printed == vector["expected"]["approx"]
    checked = counted(boxes, s).check()
    for short, strategy in SHORT.items():
        cost = cost_of(make_plan(checked, strategy), n)
        assert cost.total(alpha, beta) == vector["expected"]["exact"][short]
        assert cost.channels == vector["expected"]["all_pairs_channel_count"][short]
        assert cost.total(alpha, beta) <= printed[short]


def test_the_cheapest_strategy_is_the_standard_one() -> None:
    assert set(VECTORS["par-01-cost-formulas"]["expected"]) == set(SHORT)
    for boxes, s in ((2, 1), (5, 2), (6, 3), (6, 5)):
        checked = counted(boxes, s).check()
        costs = {k: cost_of(make_plan(checked, v), 60).total() for k, v in SHORT.items()}
        assert costs["SC"] <= costs["OC"] < costs["QC"]


def test_instances_of_the_three_strategies() -> None:
    vector = VECTORS["par-06-strategies-fig3.3"]
    given, expected = vector["parameters"], vector["expected"]
    checked = chain(given["operators"]).check()
    for short, strategy in SHORT.items():
        plan = make_plan(checked, strategy)
        cost = cost_of(plan, given["N"])
        assert len(plan.subclusters) == cost.subclusters == expected[short]["subclusters"]
        assert cost.size == expected[short]["size"]
    assert partition(make_plan(checked)) == expected["SC"]["partition"]
    whole = make_plan(checked, "query-cloud", instances=90, buckets=90)
    shuffled = [s.entry for s in whole.subqueries if s.inputs]
    assert shuffled == expected["QC"]["redistribution_before"]
    assert {s.instances for s in whole.subqueries} == {expected["QC"]["size"]}


def test_partition_of_figure_3_4() -> None:
    vector = VECTORS["par-07-partition-fig3.4"]
    names = vector["input"]["chain"]
    sizes = dict(zip(["I", "A1", "A2"], vector["expected"]["sizes"], strict=True))
    plan = make_plan(chain(names).check(), instances=sizes)
    assert partition(plan) == vector["expected"]["partition"]
    assert [s.instances for s in plan.subqueries] == vector["expected"]["sizes"]
    assert plan.levels == (("I",), ("A1",), ("A2",))
    assert [edge.routing.fields for s in plan.subqueries for edge in s.inputs] == [
        ("caller",),
        ("n1",),
    ]


@pytest.mark.parametrize(
    ("name", "key"),
    [("par-08-partition-ch4", "partition"), ("par-09-partition-fig5.7", "partition_used")],
)
def test_partitions_that_vary_the_rule(name: str, key: str) -> None:
    """The standard one by default (C20), that of the thesis with groups; still split by key."""
    vector = VECTORS[name]
    names, wanted = vector["input"]["chain"], vector["expected"][key]
    checked = chain(names, wanted).check()
    standard = vector["expected"].get("partition_default_rule", [["M", "F1"], ["A1", "F2"], ["A2"]])
    assert partition(make_plan(checked)) == standard
    plan = make_plan(checked, grouped=True)
    assert partition(plan) == wanted
    fields = [edge.routing.fields for s in plan.subqueries for edge in s.inputs]
    assert fields == [("caller",), ("n1",)]


def mobility(groups: list[list[str]]) -> bx.Network:
    net = bx.Network("mobility")
    calls = net.input("I", ts="time", fields=FIELDS)
    one = calls.map(time="time", phone="caller").named("M1")
    two = calls.map(time="time", phone="callee").named("M2")
    both = (one | two).named("U")
    pairs = both.aggregate(bx.tuples(2, advance=1), by="phone", n="count()").named("A")
    renamed = pairs.map(time="time", n="n").named("M3")
    net.output("O", renamed.filter("n > 1").named("F"))
    for number, group in enumerate(groups):
        for name in group:
            net.stream(name).in_group(f"g{number}")
    return net


def test_partition_of_figure_6_2() -> None:
    """C21: the standard rule keeps both maps with the union; the thesis splits one off."""
    expected = VECTORS["par-10-partition-fig6.2"]["expected"]
    checked = mobility(expected["printed"]).check()
    assert partition(make_plan(checked)) == expected["default_rule"]
    plan = make_plan(checked, grouped=True)
    assert sorted(partition(plan)) == sorted(expected["printed"])
    standard, printed = (cost_of(p, 9) for p in (make_plan(checked), plan))
    assert standard.hops < printed.hops


def test_sizes_of_figure_6_4() -> None:
    sizes = VECTORS["par-11-deployment-fig6.4"]["expected"]["sizes"]
    names = ["I", "A1", "A2"]
    checked = chain(["M", "F1", "A1", "F2", "A2"]).check()
    plan = make_plan(checked, instances=dict(zip(names, sizes, strict=True)))
    assert [s.instances for s in plan.subqueries] == sizes


def test_the_destination_is_that_of_the_bucket_registry() -> None:
    vector = VECTORS["route-01-bucket-hash"]
    owners = [int(vector["parameters"]["BR"][str(b)][1:]) - 1 for b in range(4)]
    registry = Registry(np.array(owners), 3)
    buckets = np.array(vector["input"]["keys"]) % vector["parameters"]["B"]
    assert buckets.tolist() == vector["expected"]["bucket"]
    found = [f"I{instance + 1}" for instance in registry.destinations(buckets)]
    assert found == vector["expected"]["dest"]


def test_the_grid_of_pairs() -> None:
    vector = VECTORS["cp-02-fig3.5-parallel"]
    grid = Grid.of(4)
    registry = Registry.tiled(grid, 4)

    def owners(cells: Any) -> list[str]:
        return [f"CP{owner}" for owner in registry.destinations(cells)]

    given = vector["parameters"]
    assert {f"l{r}": owners(grid.row(r)) for r in range(2)} == given["BR_left"]
    assert {f"r{c}": owners(grid.column(c)) for c in range(2)} == given["BR_right"]
    side = {"l": grid.row, "r": grid.column}
    for route in vector["expected"]["routes"]:
        assert owners(side[route["side"]](int(route["bucket"][1]))) == route["dest"]


def test_pairs_scale_with_the_root() -> None:
    vector = VECTORS["cp-04-scaling-bound"]
    roots = [Grid.of(number).rows for number in vector["input"]["N"]]
    assert roots == vector["expected"]["ideal_speedup"]


def test_a_cartesian_product_is_split_as_pairs() -> None:
    net = bx.Network("cp")
    left, right = (net.input(name, ts="time", fields=FIELDS) for name in ("left", "right"))
    on = "left.caller = right.caller OR left.callee = right.callee"
    net.output("O", left.product(right, on=on, window=bx.time(3)).named("CP"))
    plan = make_plan(net.check(), buckets=4, instances=4)
    assert [str(edge.routing) for edge in plan["CP"].inputs] == [
        "to a row or column of a grid, by caller, callee"
    ] * 2
    assert (plan["CP"].buckets, plan["CP"].instances) == (4, 4)
