import pytest

import boxcars as bx
from boxcars.boxes.drop import Drop
from boxcars.boxes.filter import Filter
from boxcars.model.arc import Arc
from boxcars.model.entities import ConnectionPoint, Entity, Input, Output, Table
from boxcars.model.ordered_map import Fields
from boxcars.model.problem import Wrong

CALLS = {"caller": "str", "time": "int", "price": "float"}


def cheap_calls(limit: str = "price < 1") -> bx.Network:
    net = bx.Network("calls")
    calls = net.input("calls", ts="time", fields=CALLS, slack=2)
    cheap, rest = calls.filter(limit, otherwise=True).named("cheap")
    net.output("cheap", cheap.map(time="time", who="upper(caller)").named("who"))
    net.output("rest", rest)
    return net


def test_equal_networks_compare_equal() -> None:
    assert cheap_calls() == cheap_calls()
    assert cheap_calls() != cheap_calls("price < 2")


def test_the_order_of_drawing_does_not_matter() -> None:
    one, other = bx.Network("n"), bx.Network("n")
    for net, names in ((one, "ab"), (other, "ba")):
        for name in names:
            net.input(name, ts="t", fields={"t": "int"})
    assert one == other


def test_the_order_of_fields_matters() -> None:
    one, other = bx.Network("n"), bx.Network("n")
    one.input("a", ts="t", fields={"t": "int", "x": "int"})
    other.input("a", ts="t", fields={"x": "int", "t": "int"})
    assert one != other


def test_entities_cannot_be_changed() -> None:
    net = cheap_calls()
    with pytest.raises(AttributeError):
        net.inputs["calls"].slack = 5  # type: ignore[misc]
    with pytest.raises(TypeError):
        net.boxes["x"] = net.boxes["cheap"]  # type: ignore[index]
    with pytest.raises(AttributeError):
        net.name = "other"  # type: ignore[misc]


def test_a_copy_does_not_grow_with_the_drawing() -> None:
    net = cheap_calls()
    before = net.copy()
    net.stream("who").filter("time > 1")
    assert len(net.boxes) == len(before.boxes) + 1


def test_arrival_is_added_unless_it_is_declared() -> None:
    net = bx.Network("n")
    net.output("stamped", net.input("stamped", ts="arrival", fields={"k": "str"}))
    own = {"k": "str", "arrival": "int"}
    net.output("own", net.input("own", ts="arrival", fields=own))
    checked = net.check().or_raise()
    assert str(checked.schemas[Arc("stamped")]) == "k: str, arrival*: timestamp"
    assert str(checked.schemas[Arc("own")]) == "k: str, arrival*: int"
    assert (net.inputs["stamped"].follows_wall, net.inputs["own"].follows_wall) == (True, False)
    empty = bx.Network("n")
    empty.output("out", empty.input("calls", ts="arrival", fields={}))
    assert [p.message for p in empty.check().problems] == ["expected at least one field."]


def test_list_entities() -> None:
    net = cheap_calls()
    assert net.list_entities() == (
        ("input", "calls"),
        ("box", "cheap"),
        ("box", "who"),
        ("output", "cheap"),
        ("output", "rest"),
    )
    assert net.list_entities("box") == (("box", "cheap"), ("box", "who"))


def test_describe() -> None:
    assert cheap_calls().describe("cheap") == "\n".join(
        [
            "box cheap",
            "  type: filter",
            "  in: calls",
            "  where: [price < 1]",
            "  else: true",
            "  gives cheap.0 (caller: str, time*: int, price: float) -> who",
            "  gives cheap.else (caller: str, time*: int, price: float) -> output rest",
            "output cheap",
            "  from: who",
        ]
    )
    with pytest.raises(Wrong, match="Did you mean 'cheap'"):
        cheap_calls().describe("cheep")


class TestNames:
    def test_a_box_without_a_name_gets_one_from_what_it_is(self) -> None:
        net = bx.Network("n")
        calls = net.input("calls", ts="time", fields=CALLS)
        name = calls.filter("price < 1").arc.source
        other = bx.Network("other")
        more = other.input("calls", ts="time", fields=CALLS)
        more.filter("price > 7")
        assert more.filter("price < 1").arc.source == name
        assert name.startswith("filter-")

    def test_two_that_would_clash_must_be_named(self) -> None:
        net = bx.Network("n")
        calls = net.input("calls", ts="time", fields=CALLS)
        calls.filter("price < 1")
        with pytest.raises(Wrong, match=r"there is already a box 'filter-\w+' .*named"):
            calls.filter("price < 1")
        net = bx.Network("n")
        calls = net.input("calls", ts="time", fields=CALLS)
        calls.filter("price < 1").named("one")
        calls.filter("price < 1").named("two")
        assert list(net.boxes) == ["one", "two"]

    def test_renaming_reaches_all_who_read_the_box(self) -> None:
        net = bx.Network("n")
        calls = net.input("calls", ts="time", fields=CALLS)
        cheap, rest = calls.filter("price < 1", otherwise=True)
        net.output("out", rest)
        who = cheap.map(time="time")
        rest.connection_point("recent", time=60)
        cheap.named("cheap")
        assert net.outputs["out"].source == Arc("cheap", "else")
        assert net.connection_points["recent"].arc == Arc("cheap", "else")
        assert net.boxes[who.arc.source].inputs == (Arc("cheap"),)
        assert str(rest) == "cheap.else"

    @pytest.mark.parametrize("name", ["", "1st", "a b", "a.b", "a/", "-a"])
    def test_what_is_no_name(self, name: str) -> None:
        with pytest.raises(Wrong, match="is not a name"):
            bx.Network("n").input(name, ts="t", fields={"t": "int"})

    def test_names_are_taken_once(self) -> None:
        net = cheap_calls()
        with pytest.raises(Wrong, match="already"):
            net.input("cheap", ts="t", fields={"t": "int"})
        with pytest.raises(Wrong, match="already"):
            net.stream("who").filter("time > 1").named("calls")
        with pytest.raises(Wrong, match="is an input"):
            net.stream("calls").named("other")


class TestEditing:
    def test_add_and_remove(self) -> None:
        net = cheap_calls()
        more = net.add("late", Filter.build("time > 5"), ["cheap.else"])
        assert "late" not in net.boxes
        assert more.boxes["late"].inputs == (Arc("cheap", "else"),)
        assert more.remove("late") == net

    def test_every_kind_can_be_added(self) -> None:
        fields = Fields({"t": bx.Type.INT})
        entities: dict[str, Entity] = {
            "in": Input(fields, "t"),
            "out": Output(Arc("calls")),
            "table": Table(fields),
            "point": ConnectionPoint(Arc("calls"), time=5),
        }
        net = cheap_calls()
        for name, entity in entities.items():
            net = net.add(name, entity)
        for name in entities:
            net = net.remove(name)
        assert net == cheap_calls()

    def test_replace_keeps_the_wires(self) -> None:
        box = Filter.build("price < 9", otherwise=True)
        net = cheap_calls().replace("cheap", box)
        assert net == cheap_calls("price < 9")
        with pytest.raises(Wrong, match="is not a box"):
            net.replace("calls", box)

    def test_rewire(self) -> None:
        net = cheap_calls().rewire("who", "calls").rewire("rest", "cheap.0")
        assert net.boxes["who"].inputs == (Arc("calls"),)
        assert net.outputs["rest"].source == Arc("cheap")
        with pytest.raises(Wrong, match="Did you mean 'who'"):
            net.rewire("whoo", "calls")

    def test_remove_of_what_is_not_there(self) -> None:
        with pytest.raises(Wrong, match="there is no 'chep' in 'calls'. Did you mean 'cheap'?"):
            cheap_calls().remove("chep")


def test_diff_reads_like_the_change() -> None:
    old = cheap_calls()
    new = old.replace("cheap", Filter.build("price < 2", otherwise=True))
    new = new.remove("who").rewire("cheap", "calls.late")
    new = new.add("rare", Drop.build(rate=0.5), ["cheap.else"])
    assert [str(change) for change in bx.diff(old, new)] == [
        "~ box cheap, in: calls -> calls.late",
        "~ box cheap, where: [price < 1] -> [price < 2]",
        "- box who: type: map, in: cheap.0, fields: {time: time, who: upper(caller)}",
        "+ box rare: type: drop, in: cheap.else, rate: 0.5",
    ]
    assert bx.diff(old, cheap_calls()) == ()


def test_errors_point_at_the_line_that_drew_the_box() -> None:
    net = bx.Network("n")
    calls = net.input("calls", ts="time", fields=CALLS)
    net.output("out", calls.filter("prise < 1").named("cheap"))
    (problem,) = net.check().problems
    assert problem.location is not None
    assert problem.location.file.endswith("test_network.py")
    assert str(problem).endswith(
        "box 'cheap', where[0]: unknown field 'prise'. Did you mean 'price'?"
    )


def test_streams_of_two_networks_do_not_mix() -> None:
    one, other = bx.Network("one"), bx.Network("other")
    a = one.input("a", ts="t", fields={"t": "int"})
    b = other.input("b", ts="t", fields={"t": "int"})
    with pytest.raises(Wrong, match="'b' belongs to the network 'other', not to 'one'"):
        a.union(b)
    with pytest.raises(Wrong, match="'b' belongs to the network 'other'"):
        one.output("out", b)


def test_a_wrong_method_proposes_the_right_one() -> None:
    calls = bx.Network("n").input("calls", ts="time", fields=CALLS)
    with pytest.raises(AttributeError, match="no box or method 'filtre'. Did you mean 'filter'"):
        calls.filtre("price < 1")  # type: ignore[attr-defined]
    assert "filter" in dir(calls)


def test_a_wrong_parameter_proposes_the_right_one() -> None:
    calls = bx.Network("n").input("calls", ts="time", fields=CALLS)
    with pytest.raises(bx.NetworkError, match="a drop has no 'sede'. Did you mean 'seed'"):
        calls.drop(rate=0.5, sede=1)  # type: ignore[call-arg]
