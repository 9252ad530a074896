"""Join: errors that the check reports."""

from dataclasses import replace
from typing import Any

import boxcars as bx


def problems(
    on: str = "left.k = right.k", window: Any = None, fields: Any = None, **more: Any
) -> list[str]:
    net = bx.Network("n")
    left = net.input("l", ts="t", fields={"t": "int", "k": "int", "s": "str"})
    right = net.input("r", ts="t", fields=fields or {"t": "int", "k": "int", "s": "str"})
    drawn = left.draw("join", right, on=on, window=window or bx.time(5), **more).named("j")
    net.output("out", drawn)
    return texts(net)


def texts(net: bx.Network) -> list[str]:
    return [str(replace(problem, location=None)) for problem in net.check().problems]


def test_the_type_rule() -> None:
    need = (
        "box 'j', on: a join needs an equality such as left.k = right.k; for other predicates use "
        "product."
    )
    assert problems() == []
    assert problems("left.k < right.k") == [need]
    assert problems("left.k = right.k or left.s = right.s") == [need]
    assert problems("left.k = left.t and right.k = 5") == [need]
    assert problems("left.k + right.k") == ["box 'j', on: expected a bool, got an int."]
    assert problems("left.q = right.k") == [
        "box 'j', on: unknown field 'left.q'. Did you mean 'left.t'?"
    ]
    assert problems("left.k = right.s") == [
        "box 'j', on: can't compare left.k (int) with right.s (str)."
    ]


def test_the_type_rule_of_windows() -> None:
    only = "the window of a join takes only a size."
    assert problems(window=bx.time(5, advance=2)) == [f"box 'j', window.advance: {only}"]
    assert problems(window=bx.tuples(5, slack=1), right=bx.time(5, flush=True)) == [
        f"box 'j', window.slack: {only}",
        f"box 'j', right.flush: {only}",
    ]
    assert problems(window=bx.time(5, emit="change")) == [f"box 'j', window.emit: {only}"]
    assert problems(window=bx.time(5, emit={"every": 2})) == [f"box 'j', window.emit: {only}"]
    assert problems(window=bx.value("k", 5)) == [
        "box 'j', window: a join needs a time or tuples window, got value."
    ]
    assert problems(right=bx.landmark()) == [
        "box 'j', right: a join needs a time or tuples window, got landmark."
    ]
    assert problems(right=bx.time(0)) == [
        "box 'j', right.size: a window needs a size above 0, got 0."
    ]
    assert problems(window=bx.tuples(1.5)) == [
        "box 'j', window.size: size and advance count tuples, so they must be whole numbers."
    ]


def test_the_type_rule_of_the_inputs() -> None:
    assert problems(fields={"t": "timestamp", "k": "int"}) == [
        "box 'j', in: the order attributes differ: 't' is an int, 't' is a timestamp."
    ]
    net = bx.Network("n")
    left = net.input("l", ts="left_k", fields={"left_k": "int", "k": "int"})
    net.output("out", left.join(left, on="left.k = right.k", window=bx.time(5)).named("j"))
    (text,) = texts(net)
    assert text == (
        "box 'j', in[0]: the output would have two fields 'left_k': rename the order attribute "
        "first."
    )
