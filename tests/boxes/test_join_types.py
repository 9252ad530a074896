"""The type rules of join; what it computes is in test_join.py."""

import pytest

import boxcars as bx
from tests.boxes.helper import problems, schema

SAME = "left.caller = right.payer"
RIGHT = {"at": "int", "payer": "str"}


class TestJoin:
    def net(self, on: str, right: dict[str, str], ts: str = "at", **window: float) -> bx.Network:
        net = bx.Network("n")
        calls = net.input("calls", ts="time", fields={"time": "int", "caller": "str"})
        other = net.input("other", ts=ts, fields=right)
        joined = calls.join(other, on=on, window=bx.time(window.get("size", 60)))
        net.output("out0", joined.named("j"))
        return net

    def test_the_fields_of_both_sides(self) -> None:
        net = self.net(SAME, RIGHT)
        assert schema(net) == (
            "time*: int, left_time: int, left_caller: str, right_at: int, right_payer: str"
        )

    @pytest.mark.parametrize(
        ("on", "right", "words"),
        [
            ("left.caller", RIGHT, "on: expected a bool, got a str."),
            ("left.coller = right.payer", RIGHT, "on: unknown field 'left.coller'. Did you mean"),
            (
                "caller = right.payer",
                RIGHT,
                "on: unknown field 'caller'. Did you mean 'left.caller",
            ),
            (SAME, {"at": "timestamp", "payer": "str"}, "in: the order attributes differ: 'time'"),
        ],
    )
    def test_mistakes(self, on: str, right: dict[str, str], words: str) -> None:
        assert problems(self.net(on, right))[0].startswith(f"box 'j', {words}")

    def test_mistakes_of_the_window(self) -> None:
        assert problems(self.net(SAME, RIGHT, size=0)) == [
            "box 'j', window.size: a window needs a size above 0, got 0."
        ]

    def test_there_are_two_sides(self) -> None:
        net = bx.Network("n")
        calls = net.input("calls", ts="time", fields={"time": "int"})
        net.output("out", calls.draw("join", on="true", window=bx.time(5)).named("j"))
        assert "box 'j', in: a join has exactly 2 inputs, got 1." in problems(net)
