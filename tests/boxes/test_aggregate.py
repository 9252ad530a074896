"""The type rules of aggregate; its results are tested in test_aggregate_windows.py."""

import pytest

import boxcars as bx
from boxcars.model.stream import Stream
from tests.boxes.helper import network, problems, run, schema

CALLS = {"time": "int", "caller": "str", "price": "float", "seconds": "int", "ok": "bool"}
HOUR = bx.time(3600, advance=600)


class TestAggregate:
    @pytest.mark.parametrize(
        ("function", "type_"),
        [
            ("count()", "int"),
            ("count(*)", "int"),
            ("count(caller)", "int"),
            ("count_distinct(caller)", "int"),
            ("sum(seconds)", "int"),
            ("sum(price)", "float"),
            ("delta(seconds)", "int"),
            ("avg(seconds)", "float"),
            ("mean(price)", "float"),
            ("median(seconds)", "float"),
            ("stddev(price)", "float"),
            ("variance(price)", "float"),
            ("quantile(seconds, 0.9)", "float"),
            ("first(caller)", "str"),
            ("firstval(caller)", "str"),
            ("FirstVal(time)", "int"),
            ("last(ok)", "bool"),
            ("lastval(price)", "float"),
            ("min(caller)", "str"),
            ("max(price * 2 + seconds)", "float"),
        ],
    )
    def test_result(self, function: str, type_: str) -> None:
        net = network(lambda calls: calls.aggregate(HOUR, x=function), CALLS)
        assert schema(net) == f"time*: int, x: {type_}"

    def test_group_by_fields_come_first(self) -> None:
        net = network(
            lambda calls: calls.aggregate(HOUR, by=["caller", "ok"], n="count()", t="max(time)"),
            CALLS,
        )
        assert schema(net) == "caller: str, ok: bool, time*: int, n: int, t: int"

    def test_the_late_ones_have_the_schema_of_the_input(self) -> None:
        net = network(lambda calls: calls.aggregate(HOUR, n="count()").late, CALLS)
        checked = net.check().or_raise()
        (late,) = [schema for arc, schema in checked.schemas.items() if arc.port == "late"][1:]
        assert str(late) == "time?: int, caller: str, price: float, seconds: int, ok: bool"

    @pytest.mark.parametrize(
        ("function", "words"),
        [
            ("sum(caller)", "needs a number, got a str."),
            ("avg(ok)", "needs a number, got a bool."),
            ("quantile(price, 95)", "quantile needs a fraction between 0 and 1, got 95."),
            ("quantile(price, -0.5)", "quantile needs a fraction between 0 and 1, got -0.5."),
            ("quantile(price, price)", "quantile needs a constant, got 'price'."),
            ("top(price, seconds)", "top needs a constant, got 'seconds'."),
            ("top(price, 0)", "top needs a number of values of at least 1, got 0."),
            ("concat(caller, caller)", "concat needs a constant, got 'caller'."),
            ("quantile(price, 'x')", "got a str."),
            ("sum()", "takes 1 argument, got 0."),
            ("quantile(price)", "takes 2 arguments, got 1."),
            ("count(price, price)", "got 2."),
            ("summ(price)", "Did you mean 'sum'?"),
            ("price", "'price' is not an aggregate function. Write for example sum(price)."),
            ("sum(prise)", "unknown field 'prise'. Did you mean 'price'?"),
        ],
    )
    def test_mistakes(self, function: str, words: str) -> None:
        net = network(lambda calls: calls.aggregate(HOUR, x=function).named("a"), CALLS)
        (problem,) = problems(net)
        assert problem.startswith("box 'a', fields.x: ")
        assert problem.endswith(words)

    def test_mistakes_of_names(self) -> None:
        net = network(
            lambda calls: calls.aggregate(
                HOUR, by="coller", fields={"__n": "count()", "caller": "count()"}
            ).named("a"),
            CALLS,
        )
        assert problems(net) == [
            "box 'a', by[0]: unknown field 'coller'. Did you mean 'caller'?",
            "box 'a', fields.__n: names that start with __ belong to Boxcars.",
        ]
        net = network(lambda calls: calls.aggregate(HOUR, by="ok", ok="count()").named("a"), CALLS)
        assert problems(net) == ["box 'a', fields.ok: 'ok' is a group-by field already."]
        net = network(lambda calls: calls.aggregate(HOUR).named("a"), CALLS)
        assert problems(net) == ["box 'a', fields: an aggregate needs at least one function."]

    def test_the_input_must_be_in_order(self) -> None:
        net = network(
            lambda calls: calls.map(time="-time").aggregate(HOUR, n="count()").named("a"), CALLS
        )
        (problem,) = problems(net)
        assert problem.startswith("box 'a', in: the order attribute 'time' was recomputed")


@pytest.mark.parametrize(
    "window", [bx.time(10), bx.tuples(2), bx.landmark(emit="change"), bx.value("price", 5)]
)
def test_group_by_the_order_attribute_is_refused(window: bx.Window) -> None:
    """The result has one field of that name, its time, so the group's value would be lost."""
    net = network(lambda calls: calls.aggregate(window, by=["caller", "time"], n="count()"))
    (problem,) = problems(net)
    assert problem.endswith(
        "by[1]: 'time' is the order attribute; in the output it is the time of the result. To "
        "group by it, copy it first with a map (moment: time, keep: true) and group by 'moment'."
    )


def test_a_copy_of_the_order_attribute_can_be_grouped_by() -> None:
    def draw(calls: Stream) -> Stream:
        copied = calls.map(moment="time", keep=True)
        return copied.aggregate(bx.time(10, flush=True), by="moment", n="count()")

    data = {"time": [1, 1, 2], "caller": ["a"] * 3, "price": [0.5] * 3}
    assert run(network(draw), calls=data)[0] == [
        {"moment": 1, "time": 0, "n": 2},
        {"moment": 2, "time": 0, "n": 1},
    ]
