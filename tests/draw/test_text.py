"""Drawings for terminals, compared line by line.

After a change: ``UPDATE=1 pytest tests/draw/test_text.py``, then look at the diff.
"""

import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings

import boxcars as bx
from boxcars.draw import draw
from boxcars.draw.picture import picture_of
from tests.draw.networks import NETWORKS, deep, start
from tests.strategies import networks

FOLDER = Path(__file__).parent / "text"


@pytest.mark.parametrize("name", NETWORKS)
def test_pictures(name: str) -> None:
    picture = draw(NETWORKS[name]())
    path = FOLDER / f"{name}.txt"
    if os.environ.get("UPDATE"):
        path.write_text(picture, encoding="utf-8")
    assert picture == path.read_text(encoding="utf-8")


def test_nothing() -> None:
    assert draw(bx.Network("empty")).strip() == ""


def test_a_summary_is_one_line() -> None:
    net, calls = start()
    net.output("out", calls.filter("price < 1\n  or price > 5\t").named("f"))
    lines = draw(net).splitlines()
    assert "│ price < 1 or price > 5 │" in lines[2]
    assert len({len(line) for line in lines}) <= 2


def test_a_narrow_terminal_gets_shorter_summaries() -> None:
    net, calls = start()
    for number in range(3):
        calls = calls.filter(f"price < {number} or price > 1000 + {number}").named(f"f{number}")
    net.output("out", calls)
    widest = [max(map(len, draw(net, width=width).splitlines())) for width in (1000, 80)]
    assert widest[1] < widest[0]


def test_a_long_chain_does_not_recurse() -> None:
    assert "b1999" in draw(deep(2000))


@given(networks())
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_items_do_not_touch(net: bx.Network) -> None:
    """Every item is complete: no other line crosses its name."""
    text = draw(net)
    for item in picture_of(net).items.values():
        assert f" {item.icon} {item.name} " in text
    assert text.count("┌─") + text.count("╔═") + text.count("╭─") >= len(net.boxes)
    assert not {"╴", "╶", "╵", "╷"} & set(text)


def test_a_narrow_terminal_gets_a_list() -> None:
    net = bx.Network("n")
    calls = net.input("calls", ts="t", fields={"t": "int"})
    yes, no = calls.filter("t > 1", otherwise=True).named("cut")
    net.output("yes", yes)
    net.output("no", no)
    assert draw(net, "text", width=40).splitlines() == [
        "▶ calls  1 field by t  -> cut",
        "▽ cut    t > 1 | else  -> yes (0), no (else)",
        "◀ yes    output",
        "◀ no     output",
    ]
    assert "┌" in draw(net, "text", width=100)
