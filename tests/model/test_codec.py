"""Conversion between parameters and plain values, including parameters of superboxes."""

from typing import Any, Literal

import pytest

import boxcars as bx
from boxcars.expr import Expr
from boxcars.model import codec
from boxcars.model.ordered_map import Fields
from boxcars.model.problem import Problem
from boxcars.model.types import Type


def read(annotation: Any, plain: Any) -> tuple[Any, list[str]]:
    problems: list[Problem] = []
    value = codec.from_plain(annotation, plain, ("p",), problems)
    return value, list(map(str, problems))


@pytest.mark.parametrize(
    ("annotation", "plain", "value"),
    [
        (str, "a", "a"),
        (str, 5, "5"),
        (str, True, "True"),
        (int, 5, 5),
        (int, "$n", "$n"),
        (float, 5, 5.0),
        (float, 0.5, 0.5),
        (bool, True, True),
        (int | float, 0.5, 0.5),
        (int | None, None, None),
        (int | None, 5, 5),
        (int | float | None, "$n", "$n"),
        (tuple[str, ...], "one", ("one",)),
        (tuple[int, ...], [1, 2], (1, 2)),
        (tuple[Expr, ...], ["a > 1"], (Expr("a > 1"),)),
        (Fields[Type], {"a": "int", "b": Type.STR}, Fields({"a": Type.INT, "b": Type.STR})),
        (Fields[Any], {"a": [1, {}]}, Fields({"a": [1, {}]})),
        (Literal["x", "y"], "x", "x"),
        (Literal["x", "y"], "$x", "$x"),
        (bx.Window, {"time": 5}, bx.time(5)),
        (bx.Window, bx.time(5), bx.time(5)),
        (Any, {"a": 1}, {"a": 1}),
    ],
    ids=str,
)
def test_read(annotation: Any, plain: Any, value: Any) -> None:
    assert read(annotation, plain) == (value, [])


@pytest.mark.parametrize(
    ("annotation", "plain", "words"),
    [
        (str, [], "p: expected text, got []."),
        (str, None, "p: expected text, got None."),
        (int, True, "p: expected a whole number, got True."),
        (int, 0.5, "p: expected a whole number, got 0.5."),
        (int, "5", "p: expected a whole number, got '5'."),
        (float, "$", "p: expected a number, got '$'."),
        (int | None, "x", "p: expected a whole number, got 'x'."),
        (bool, "yes", "p: expected true or false, got 'yes'."),
        (bool, 1, "p: expected true or false, got 1."),
        (tuple[int, ...], {"a": 1}, "p: expected a list, got {'a': 1}."),
        (tuple[int, ...], [1, "x"], "p[1]: expected a whole number, got 'x'."),
        (Fields[Type], ["a"], "p: expected a mapping such as {name: ...}, got ['a']."),
        (Fields[Type], {"a": "itn"}, "p.a: unknown type 'itn'. Did you mean 'int'?"),
        (Fields[Type], {"a": "unknown"}, "p.a: unknown type 'unknown'."),
        (Literal["x", "y"], "z", "p: expected one of x, y; got 'z'."),
        (Literal["x", "y"], [], "p: expected one of x, y; got []."),
        (bx.Window, 5, "p: expected a window such as"),
    ],
    ids=str,
)
def test_what_does_not_fit(annotation: Any, plain: Any, words: str) -> None:
    _, (problem,) = read(annotation, plain)
    assert problem.startswith(words)


def test_write() -> None:
    value = {
        "e": Expr("a"),
        "t": Type.INT,
        "l": (1, Expr("b")),
        "w": bx.time(5),
        "f": Fields({"a": 1}),
    }
    assert codec.to_plain(value) == {
        "e": "a",
        "t": "int",
        "l": [1, "b"],
        "w": {"time": 5},
        "f": {"a": 1},
    }


def test_substitute() -> None:
    plain = {"whole": "$n", "text": "x > $n and $m", "list": ["$n", "$other"], "$n": 5, "k": True}
    assert codec.substitute(plain, {"n": 1.5, "m": "y"}) == {
        "whole": 1.5,
        "text": "x > 1.5 and y",
        "list": [1.5, "$other"],
        "$n": 5,
        "k": True,
    }
    assert codec.substitute("$name", {"nam": 1}) == "$name"
    assert codec.substitute("$n", {"n": [1, 2]}) == [1, 2]


class TestUnboundParameters:
    """A ``$name`` that is not a parameter of an enclosing superbox is a problem, not a crash."""

    def test_of_a_box(self) -> None:
        net = bx.Network("n")
        calls = net.input("calls", ts="t", fields={"t": "int"})
        net.output("out", calls.drop(rate="$rate").filter("t > 1").named("f"))  # type: ignore[arg-type]
        (problem,) = net.check().problems
        assert problem.message == "no enclosing superbox has that parameter."
        assert problem.path[-1] == "rate"

    def test_of_a_box_in_a_superbox(self) -> None:
        body = bx.Network("s")
        feed = body.input("feed", ts="t", fields={"t": "int"})
        body.output("out", feed.drop(rate="$rtae").named("d"))  # type: ignore[arg-type]
        net = bx.Network("n")
        net.superbox(body, rate=None)
        calls = net.input("calls", ts="t", fields={"t": "int"})
        net.output("out", calls.use("s", rate=0.5).named("u"))
        (problem,) = net.check().problems
        assert "superbox 's', box 'd', rate: no enclosing superbox has" in str(problem)

    def test_of_other_things(self) -> None:
        net = bx.Network("n")
        odd: dict[str, Any] = {"slack": "$a", "idle": "$b", "clock": "wal"}
        calls = net.input("calls", ts="t", fields={"t": "int"}, **odd)
        calls.connection_point("recent", tuples="$c")  # type: ignore[arg-type]
        net.output("out", calls.aggregate(bx.time("$d"), n="count()").named("a"))  # type: ignore[arg-type]
        messages = [problem.message for problem in net.check().problems]
        assert messages == [
            "expected a finite number, got $a.",
            "idle must be above 0 seconds, got $b.",
            "expected the clock event or wall, got 'wal'. Did you mean 'wall'?",
            "expected a number above 0, got $c.",
            "expected a number, got '$d'.",
        ]

    @pytest.mark.parametrize("slack", [float("inf"), float("nan"), -1])
    def test_slack_is_a_number(self, slack: float) -> None:
        net = bx.Network("n")
        net.output("out", net.input("calls", ts="t", fields={"t": "int"}, slack=slack))
        (problem,) = net.check().problems
        assert problem.path == ("inputs", "calls", "slack")
