import re

import pytest
from hypothesis import HealthCheck, given, settings

import boxcars as bx
from boxcars.draw import draw
from tests.draw.networks import NETWORKS, start, superbox
from tests.strategies import networks

ITEM = re.compile(r'    (n\d+)[\[(/]+"(\S+) (.*?)<br/><small>(.*)</small>"[\])/]+')
ARROW = re.compile(r'    (n\d+) -->(?:\|"([^"]*)"\|)? (n\d+)')


def parse(text: str) -> tuple[dict[str, str], list[tuple[str, str, str]]]:
    """The names by their ids, and the arrows as (source, label, target)."""
    head, *lines = text.splitlines()
    assert head == "flowchart LR"
    items = {m[1]: m[3] for m in map(ITEM.fullmatch, lines) if m}
    arrows = [(items[m[1]], m[2] or "", items[m[3]]) for m in map(ARROW.fullmatch, lines) if m]
    assert len(items) + len(arrows) == len(lines), "every line is an item or an arrow"
    return items, arrows


@given(networks())
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_every_arrow_is_there(net: bx.Network) -> None:
    items, arrows = parse(draw(net, "mermaid"))
    expected = [(arc.source, name) for name, node in net.boxes.items() for arc in node.inputs]
    expected += [(output.source.source, name) for name, output in net.outputs.items()]
    assert sorted((source, target) for source, _, target in arrows) == sorted(expected)
    assert len(items) == len(net.inputs) + len(net.boxes) + len(net.outputs)


@pytest.mark.parametrize("name", NETWORKS)
def test_all_networks(name: str) -> None:
    parse(draw(NETWORKS[name](), "mermaid"))


def test_labels_and_connection_points() -> None:
    _, arrows = parse(draw(superbox(), "mermaid"))
    assert arrows == [
        ("calls", "", "nyse"),
        ("nyse", "", "high"),
        ("nyse", "low ◆ recent", "low"),
    ]


def test_texts_are_escaped() -> None:
    net, calls = start()
    net.output("out", calls.filter("""price < 1 and '"|&' <> '>'""", "price\n> 1").named("f"))
    text = draw(net, "mermaid")
    assert "price &lt; 1 and '&quot;&#124;&amp;' &lt;&gt; '&gt;' &#124; price &gt; 1" in text
    parse(text)
