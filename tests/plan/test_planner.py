"""Subqueries, levels and edges; properties over random networks."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import boxcars as bx
from boxcars.model.check import Checked
from boxcars.model.problem import BoxcarsError
from boxcars.plan import STRATEGIES, Plan, Strategy, make_plan
from tests.strategies import networks

FIELDS = {"t": "int", "k": "int", "x": "float"}
KINDS = (
    *("filter", "map", "union", "drop", "convert", "use", "store"),
    *("aggregate", "join", "product", "bsort", "wsort", "waitfor", "resample"),
)


def drawing(*inputs: str) -> tuple[bx.Network, list[bx.Stream]]:
    net = bx.Network("n")
    return net, [net.input(name, ts="t", fields=FIELDS) for name in inputs]


def shape(plan: Plan) -> list[tuple[str, ...]]:
    return [(s.name, *s.boxes) for s in plan.subqueries]


def routes(plan: Plan, name: str) -> list[str]:
    return [
        f"{edge.arc} -> {edge.consumer}.{edge.port} {edge.routing}" for edge in plan[name].inputs
    ]


def check_plan(checked: Checked, plan: Plan) -> None:
    net = checked.network
    placed = [box for s in plan.subqueries for box in s.boxes]
    assert sorted(placed) == sorted(net.boxes), "every box is in exactly one subquery"
    assert [s.source for s in plan.subqueries if s.level == 0] == sorted(net.inputs)
    assert len({s.name for s in plan.subqueries}) == len(plan.subqueries)
    for subquery in plan.subqueries:
        crossing = []
        for box in subquery.boxes:
            for port, arc in enumerate(net.boxes[box].inputs):
                before = plan[plan.home[arc.source]]
                if before is subquery:
                    if arc.source in net.boxes:
                        order = subquery.boxes.index
                        assert order(arc.source) < order(box), "boxes are in order"
                    continue
                crossing.append((arc, box, port))
                assert before.level < subquery.level, "levels respect arrows"
                assert arc in before.outputs
        edges = [(edge.arc, edge.consumer, edge.port) for edge in subquery.inputs]
        assert edges == crossing, "every arc that enters has a routing"
        for edge in subquery.inputs:
            assert set(edge.routing.fields) <= set(checked.schemas[edge.arc].fields)
        kinds = {edge.routing.kind for edge in subquery.inputs}
        assert ("single" in kinds) == (subquery.buckets == 1 < plan.buckets)
        assert subquery.instances <= max(subquery.buckets, 4 * (subquery.level == 0))
    leaving = {output.source for output in net.outputs.values()}
    assert leaving <= {arc for s in plan.subqueries for arc in s.outputs}


@settings(max_examples=80, deadline=None)
@given(net=networks(boxes=9, only=KINDS, runnable=True), grouped=st.booleans())
def test_plans_of_random_networks(net: bx.Network, grouped: bool) -> None:
    checked = net.check()
    for strategy in STRATEGIES:
        plan = make_plan(checked, strategy, grouped=grouped)
        check_plan(checked, plan)
        for box, node in checked.network.boxes.items():
            alone = plan[plan.home[box]].boxes == (box,)
            for port in range(len(node.inputs)):
                wanted = node.box.routing(port, checked.inputs_of(box))
                found = [
                    f
                    for s in plan.subqueries
                    for f in s.inputs
                    if (f.consumer, f.port) == (box, port)
                ]
                if alone and wanted.kind != "any" and not node.box.tables:
                    assert [edge.routing for edge in found] == [wanted]


@settings(max_examples=50, deadline=None)
@given(net=networks(boxes=8, only=KINDS, runnable=True), data=st.data())
def test_equal_networks_have_equal_plans(net: bx.Network, data: st.DataObject) -> None:
    """In any order of definition."""
    other = bx.Network(net.name)
    for kind in ("inputs", "tables", "superboxes", "outputs", "connection_points", "boxes"):
        shuffled = data.draw(st.permutations(list(getattr(net, kind).items())))
        other = other._with(kind, dict(shuffled))
    assert other == net
    assert make_plan(other.check()) == make_plan(net.check())


def test_a_prefix_for_each_input_and_a_subquery_for_each_stateful_box() -> None:
    net, (a, b) = drawing("a", "b")
    left = a.filter("x > 1").named("f").map(t="t", k="k").named("m")
    joined = left.join(b, on="left.k = right.x", window=bx.time(9)).named("j")
    net.output("o", joined.filter("t > 1").named("g"))
    plan = make_plan(net.check())
    assert shape(plan) == [("a", "f", "m"), ("b",), ("j", "j", "g")]
    assert routes(plan, "j") == ["m -> j.0 by k", "b -> j.1 by x"]
    assert [str(t) for edge in plan["j"].inputs for t in edge.routing.types] == ["float", "float"]
    assert [str(arc) for s in plan.subqueries for arc in s.outputs] == ["m", "b", "g"]


def test_a_union_of_inputs_moves_in_front_of_its_reader() -> None:
    """One hop less; the key is traced through the boxes in between."""
    net, (a, b, c) = drawing("a", "b", "c")
    both = ((a | b).named("u1") | c).named("u2")
    renamed = both.map(rename={"k": "key"}).named("m").filter("x > 1").named("f")
    net.output("o", renamed.aggregate(bx.time(9), by="key", n="count()").named("s"))
    plan = make_plan(net.check())
    assert shape(plan) == [("a",), ("b",), ("c",), ("s", "u1", "u2", "m", "f", "s")]
    assert routes(plan, "s") == ["a -> u1.0 by k", "b -> u1.1 by k", "c -> u2.1 by k"]
    assert plan["s"].entry == "s"


@pytest.mark.parametrize("why", ["computed", "read by others"])
def test_a_union_that_stays(why: str) -> None:
    """It can't move if its consumer's key is computed after it, or if it has other consumers."""
    net, (a, b) = drawing("a", "b")
    both = (a | b).named("u")
    if why == "computed":
        behind = both.map(t="t", k="k % 3").named("m")
    else:
        net.output("all", both)
        behind = both.filter("x > 1").named("m")
    net.output("o", behind.aggregate(bx.time(9), by="k", n="count()").named("s"))
    plan = make_plan(net.check())
    assert shape(plan) == [("a",), ("b",), ("u", "u", "m"), ("s", "s")]
    assert routes(plan, "u") == ["a -> u.0 anywhere", "b -> u.1 anywhere"]
    assert plan["u"].entry == "u"


def test_boxes_that_share_a_table_are_one_subquery_with_all_boxes_between() -> None:
    net, (a, b) = drawing("a", "b")
    net.table("seen", fields={"k": "int"})
    net.table("fixed", fields={"k": "int"})
    stored = a.insert("INSERT INTO seen VALUES (input.k)").named("i")
    counted = stored.aggregate(bx.time(9), by="k", n="count()").named("s")
    found = counted.select("SELECT * FROM seen WHERE k = input.k").named("q")
    net.output("o", found)
    net.output("p", b.select("SELECT * FROM fixed WHERE k = input.k").named("r"))
    net.output("q", b.insert("INSERT INTO fixed2 VALUES (input.k)").named("w"))
    net.table("fixed2", fields={"k": "int"})
    plan = make_plan(net.check())
    assert shape(plan) == [("a",), ("b", "r"), ("i", "i", "s", "q"), ("w", "w")]
    assert routes(plan, "i") == ["a -> i.0 to one bucket: its boxes share the table seen"]
    assert routes(plan, "w") == ["b -> w.0 to one bucket: it changes a stored table"]
    assert (plan["i"].buckets, plan["i"].instances) == (1, 1)


def test_tables_that_wait_for_each_other_are_one_subquery() -> None:
    net, (a, b) = drawing("a", "b")
    for table in ("one", "two"):
        net.table(table, fields={"k": "int"})
    w1 = a.insert("INSERT INTO one VALUES (input.k)").named("w1")
    w2 = b.insert("INSERT INTO two VALUES (input.k)").named("w2")
    net.output("o", w1.select("SELECT * FROM two WHERE k = input.k").named("r2"))
    net.output("p", w2.select("SELECT * FROM one WHERE k = input.k").named("r1"))
    plan = make_plan(net.check())
    assert [len(s.boxes) for s in plan.subqueries] == [0, 0, 4]
    assert {edge.routing.kind for edge in plan.subqueries[-1].inputs} == {"single"}


def test_aggregates_that_combine_are_marked() -> None:
    net, (a,) = drawing("a")
    time, tuples = bx.time(9), bx.tuples(9)
    drawn = {
        "yes": a.aggregate(time, by="k", n="count()", m="max(t)"),
        "floats": a.aggregate(time, by="k", n="sum(x)"),
        "median": a.aggregate(time, by="k", n="median(x)"),
        "tuples": a.aggregate(tuples, by="k", n="count()"),
        "all": a.aggregate(time, n="count()"),
    }
    for name, stream in drawn.items():
        net.output(name, stream.named(name))
    plan = make_plan(net.check())
    assert [s.name for s in plan.subqueries if s.splittable] == ["all", "yes"]


def test_groups_that_can_not_be_split_are_one_piece() -> None:
    """Two stateful boxes together, or a key that is computed in the group."""
    net, (a,) = drawing("a")
    first = a.aggregate(bx.time(9), by="k", n="count()").named("s1").in_group("g")
    net.output("o", first.aggregate(bx.time(9), by="n", m="count()").named("s2").in_group("g"))
    third = a.map(t="t", k="k % 3").named("m").in_group("h")
    net.output("p", third.aggregate(bx.time(9), by="k", n="count()").named("s3").in_group("h"))
    plan = make_plan(net.check(), grouped=True)
    assert shape(plan) == [("a",), ("s3", "m", "s3"), ("s1", "s1", "s2")]
    assert routes(plan, "s1") == ["a -> s1.0 to one bucket: s1 and s2 are kept together"]
    assert routes(plan, "s3") == ["a -> m.0 to one bucket: m computes k"]


def test_a_product_does_not_copy_what_others_read() -> None:
    net, (a, b) = drawing("a", "b")
    expensive = a.filter("x > 1").named("f").in_group("g")
    net.output("expensive", expensive)
    close = expensive.product(b, on="left.x < right.x", window=bx.time(9)).named("p").in_group("g")
    net.output("o", close)
    plan = make_plan(net.check(), grouped=True)
    assert {edge.routing.kind for edge in plan["p"].inputs} == {"single"}
    assert {edge.routing.kind for edge in make_plan(net.check())["p"].inputs} == {"pairs"}


def test_mistakes() -> None:
    net, (a,) = drawing("a")
    net.output("o", a.wsort(by=["k"], timeout=3).named("w"))
    checked = net.check()
    strategy: Strategy = "operator-clout"  # type: ignore[assignment]
    with pytest.raises(
        BoxcarsError, match=r"no strategy 'operator-clout'. Did you mean 'operator-cloud'"
    ):
        make_plan(checked, strategy)
    with pytest.raises(BoxcarsError, match="at least 1 bucket, got 0"):
        make_plan(checked, buckets=0)
    with pytest.raises(BoxcarsError, match="no subquery 'v'"):
        make_plan(checked, instances={"v": 2})
    with pytest.raises(BoxcarsError, match="'w' needs at least 1 instance, got 0"):
        make_plan(checked, instances={"w": 0})
    with pytest.raises(BoxcarsError, match="no subquery 'v'"):
        make_plan(checked)["v"]
    with pytest.raises(BoxcarsError, match="at least one output"):
        make_plan(bx.Network("n").check())
