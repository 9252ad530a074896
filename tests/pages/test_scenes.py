"""The drawings show what the boxes do, because they run them."""

from pathlib import Path
from typing import Any

import pytest

from boxcars.draw.windows import Bar, Chart, Heading
from boxcars.model.problem import BoxcarsError
from boxcars.pages.page import Page
from boxcars.pages.scene import load_scene
from boxcars.pages.scenes import draw_scene
from boxcars.pages.streams import buffer_chart, curve_chart, match_chart, merge_chart, wait_chart
from boxcars.pages.windows import window_chart

FOLDER = Path(__file__).parent.parent.parent / "docs/boxes"


def chart_of(page: str, drawing: str, chart: Any) -> Chart:
    found = Page((FOLDER / f"{page}.md").read_text(encoding="utf-8"))
    with found.written() as folder:
        made: Chart = chart(load_scene(found.drawings[drawing], folder))
    return made


def rows(windows: dict[str, Any], tuples: dict[str, Any]) -> list[tuple[str, float, float, str]]:
    described = {"title": "t", "tuples": tuples, "windows": windows, "axis": [0, 30, 5]}
    bars = [row for row in window_chart(described).rows if isinstance(row, Bar)]
    return [(bar.name, bar.start, bar.end, " | ".join(bar.says)) for bar in bars]


SIX = {"a": 1, "b": 4, "c": 7, "d": 12, "e": 18, "f": 26}


@pytest.mark.parametrize(
    ("window", "expected"),
    [
        ({"time": 10}, [("[0, 10)", 0, 10, "a b c | 0"), ("[10, 20)", 10, 20, "d e | 10")]),
        ({"tuples": 4}, [("window 1", 1, 12, "a b c d | 12")]),
        ({"time": 5, "advance": 0}, [("(−4, 1]", -4, 1, "a | 1"), ("(−1, 4]", -1, 4, "a b | 4")]),
        ({"tuples": 3, "timeout": 4}, [("window 1", 1, 7, "a b c | 7")]),
        ({"landmark": True, "emit": {"every": 3}}, [("report 1", 1, 7, "a b c | 7")]),
        (
            {"time": 10, "emit": "change"},
            [("[0, 10)", 0, 1, "a | 1"), ("[0, 10)", 0, 4, "a b | 4")],
        ),
    ],
)
def test_windows(window: dict[str, Any], expected: list[Any]) -> None:
    assert rows({"w": window}, SIX)[: len(expected)] == expected


def test_a_timeout_is_marked() -> None:
    assert rows({"w": {"tuples": 3, "timeout": 4}}, {"a": 1, "b": 2, "c": 9})[0] == (
        "window 1",
        1,
        6,
        "a b | 6, timed out",
    )


def test_several_windows_have_headings() -> None:
    windows = {"one": {"time": 10}, "two": {"tuples": 2}}
    described = {"title": "t", "tuples": SIX, "windows": windows, "axis": [0, 30, 5]}
    heads = [row.text for row in window_chart(described).rows if isinstance(row, Heading)]
    assert heads == ["one", "two"]


def test_pairs_of_a_join() -> None:
    chart = chart_of("join", "join.svg", match_chart)
    assert [(link.start, link.end) for link in chart.links] == [
        ((0, 1), (1, 4)),
        ((0, 6), (1, 8)),
        ((0, 6), (1, 9)),
        ((0, 14), (1, 17)),
    ]
    assert [dot.text for dot in chart.lanes[2].dots] == ["a1", "b2", "b3", "c5"]
    assert chart.band == (1, 11)


def test_a_union_and_a_drop() -> None:
    union = chart_of("union", "union.svg", merge_chart)
    assert [dot.text for dot in union.lanes[-1].dots] == ["a", "p", "b", "q", "r", "c", "s"]
    assert not any(dot.hollow for lane in union.lanes for dot in lane.dots)
    drop = chart_of("drop", "drop.svg", merge_chart)
    assert [dot.text for dot in drop.lanes[0].dots if dot.hollow] == ["1", "4", "7", "8"]


def test_waits() -> None:
    bars = chart_of("waitfor", "waitfor.svg", wait_chart).rows
    assert [(bar.name, bar.start, bar.end, bar.says) for bar in bars if isinstance(bar, Bar)] == [
        ("car a", 1, 5, ("0", "5")),
        ("car b", 3, 9, ("timeout", "9")),
        ("car c", 4, 10, ("timeout", "10")),
        ("car d", 14, 14, ("0", "14")),
    ]
    assert chart_of("wsort", "wsort.svg", wait_chart).moments == (5, 10, 15)


def test_a_buffer_holds_as_many_as_it_says() -> None:
    chart = chart_of("bsort", "bsort-tuples.svg", buffer_chart)
    bars = [row for row in chart.rows if isinstance(row, Bar) and row.says != ("late",)]
    for moment in range(1, 8):
        held = [bar for bar in bars if bar.start <= moment < bar.end]
        assert len(held) <= 2
    assert [dot.text for dot in chart.lanes[1].dots] == ["1", "3", "5", "6", "7", "12"]


def test_a_curve() -> None:
    chart = chart_of("resample", "resample.svg", curve_chart)
    assert [(dot.at, dot.text) for dot in chart.lanes[1].dots] == [
        (0, "?"),
        (5, "17"),
        (10, "22"),
        (15, "25"),
        (25, "?"),
    ]


def test_an_unknown_kind(tmp_path: Path) -> None:
    with pytest.raises(BoxcarsError, match="no kind of drawing 'pie'"):
        draw_scene({"kind": "pie"}, tmp_path)
