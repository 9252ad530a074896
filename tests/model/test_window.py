"""Windows and quality of service: valid and invalid specifications."""

from typing import Any

import pytest

import boxcars as bx
from boxcars.model.problem import Wrong
from boxcars.model.schema import UNKNOWN_SCHEMA, Schema

CALLS = Schema.of({"time": "int", "who": "str", "at": "timestamp", "x": "float"}, ts="time")


@pytest.mark.parametrize(
    ("window", "plain"),
    [
        (bx.time(60), {"time": 60}),
        (bx.time(3600, advance=600), {"time": 3600, "advance": 600}),
        (bx.time(15, advance=0), {"time": 15, "advance": 0}),
        (bx.tuples(2, 1, timeout=5), {"tuples": 2, "advance": 1, "timeout": 5}),
        (bx.value("x", 10, 2.5), {"value": "x", "size": 10, "advance": 2.5}),
        (bx.landmark(emit="change"), {"landmark": True, "emit": "change"}),
        (bx.landmark(emit={"every": 5}), {"landmark": True, "emit": {"every": 5}}),
        (
            bx.time(5, slack=1, origin=-3, flush=True),
            {"time": 5, "slack": 1, "origin": -3, "flush": True},
        ),
    ],
    ids=str,
)
def test_there_and_back(window: bx.Window, plain: dict[str, Any]) -> None:
    assert window.plain() == plain
    assert bx.Window.from_plain(plain) == window
    assert list(window.problems(CALLS)) == []


def test_without_advance_windows_tumble() -> None:
    assert (bx.time(60).step, bx.time(60, 0).step, bx.time(60, 5).step) == (60, 0, 5)


@pytest.mark.parametrize(
    ("plain", "words"),
    [
        (5, "expected a window such as {time: 60, advance: 10}, got 5."),
        ({}, "a window has exactly one of time, tuples, value, landmark, runs; got nothing."),
        ({"size": 5}, "a window has exactly one of time, tuples, value, landmark, runs; got size."),
        ({"time": 5, "tuples": 2}, "got time and tuples."),
        ({"time": 5, "advnce": 2}, "a time window has no 'advnce'. Did you mean 'advance'?"),
        ({"time": 5, "size": 2}, "a time window has no 'size'."),
        ({"time": 5, "emit": "late"}, "emit is close, change or {every: n}; got 'late'."),
        ({"time": 5, "emit": {"each": 2}}, "emit is close, change or {every: n}"),
    ],
    ids=str,
)
def test_what_is_no_window(plain: object, words: str) -> None:
    with pytest.raises(Wrong) as error:
        bx.Window.from_plain(plain)
    assert words in str(error.value)


@pytest.mark.parametrize(
    ("window", "problem"),
    [
        (bx.time(0), ("size", "a window needs a size above 0, got 0.")),
        (bx.tuples(-1), ("size", "a window needs a size above 0, got -1.")),
        (bx.time(5, advance=-1), ("advance", "a window can't move backwards, got -1.")),
        (bx.time(5, slack=-1), ("slack", "expected 0 or more.")),
        (bx.tuples(5, timeout=-1), ("timeout", "expected 0 or more.")),
        (
            bx.time(2.5),
            ("size", "size and advance count the int 'time', so they must be whole numb"),
        ),
        (bx.tuples(2, 0.5), ("size", "size and advance count tuples, so they must be whole")),
        (bx.time("5"), ("size", "expected a number, got '5'.")),  # type: ignore[arg-type]
        (bx.time(5, slack=True), ("slack", "expected a number, got True.")),
        (bx.time(float("inf")), ("size", "expected a finite number, got inf.")),
        (bx.tuples(float("nan")), ("size", "expected a finite number, got nan.")),
        (bx.time(5, flush="no"), ("flush", "expected true or false, got 'no'.")),
        (
            bx.time(5, emit={"every": 0}),
            ("emit", "expected emit: {every: n} with n above 0, got 0."),
        ),
        (bx.landmark(), ("emit", "a landmark window never closes: set emit to change")),
        (bx.value("y", 5), ("value", "unknown field 'y'.")),
        (bx.value("who", 5), ("value", "a window needs a number or timestamp, 'who' is a str.")),
    ],
    ids=str,
)
def test_what_makes_no_sense(window: bx.Window, problem: tuple[str, str]) -> None:
    (found,) = window.problems(CALLS)
    assert found[0] == problem[0]
    assert found[1].startswith(problem[1])


def test_over_an_unknown_schema_there_is_nothing_to_say() -> None:
    for window in (bx.value("y", 5), bx.time(2.5)):
        assert list(window.problems(UNKNOWN_SCHEMA)) == []


def test_windows_over_other_order_attributes_may_be_broken_numbers() -> None:
    assert list(bx.time(2.5).problems(Schema.of({"at": "timestamp"}, ts="at"))) == []
    assert list(bx.value("at", 2.5).problems(CALLS)) == []


class TestQos:
    def test_there_and_back(self) -> None:
        plain = {"latency": [[0, 1], [2.5, 0]], "value": [[1, 0.5]], "value_field": "x"}
        qos = bx.Qos.from_plain(plain)
        assert bx.Qos.from_plain(qos.plain()) == qos
        assert qos.latency == ((0.0, 1.0), (2.5, 0.0))
        assert list(qos.problems({"x": 1})) == []

    @pytest.mark.parametrize(
        "plain",
        [
            5,
            {"latncy": []},
            {"latency": 5},
            {"loss": [1]},
            {"loss": [["x", 1]]},
            {"loss": "ab"},
            {"loss": None},
            {"loss": [[1, 2, 3]]},
            {"value": {"a": 1}},
        ],
        ids=str,
    )
    def test_what_is_none(self, plain: object) -> None:
        with pytest.raises(Wrong):
            bx.Qos.from_plain(plain)

    @pytest.mark.parametrize(
        ("plain", "problem"),
        [
            (
                {"latency": [[5, 1], [1, 0]]},
                ("latency", "the x values of the points must increase."),
            ),
            (
                {"latency": [[1, 1], [1, 0]]},
                ("latency", "the x values of the points must increase."),
            ),
            ({"loss": [[0, 1.5]]}, ("loss", "a utility is between 0 and 1.")),
            ({"value": [[0, 1]]}, ("value", "value and value_field must be given together.")),
            ({"value_field": "x"}, ("value", "value and value_field must be given together.")),
            (
                {"value": [[0, 1]], "value_field": "y"},
                ("value_field", "unknown field 'y'. There is: x."),
            ),
        ],
        ids=str,
    )
    def test_what_makes_no_sense(self, plain: object, problem: tuple[str, str]) -> None:
        assert list(bx.Qos.from_plain(plain).problems({"x": 1})) == [problem]
