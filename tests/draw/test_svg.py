from itertools import combinations
from xml.etree import ElementTree

import pytest
from hypothesis import HealthCheck, given, settings

import boxcars as bx
from boxcars.draw import draw
from tests.draw.networks import NETWORKS, chain, deep, start
from tests.strategies import networks

SVG = "{http://www.w3.org/2000/svg}"
Rect = tuple[float, float, float, float]


def rects(root: ElementTree.Element) -> list[Rect]:
    """Left, top, right and bottom of every item."""
    found = []
    for group in root.findall(f"{SVG}g"):
        rect = group.find(f"{SVG}rect")
        if rect is not None:
            x, y, width, height = (float(rect.attrib[k]) for k in ("x", "y", "width", "height"))
            found.append((x, y, x + width, y + height))
    return found


def overlap(one: Rect, other: Rect) -> bool:
    return one[0] < other[2] and other[0] < one[2] and one[1] < other[3] and other[1] < one[3]


def check(net: bx.Network) -> ElementTree.Element:
    root = ElementTree.fromstring(draw(net, "svg"))
    items = rects(root)
    assert len(items) == len(net.inputs) + len(net.boxes) + len(net.outputs)
    assert not any(overlap(one, other) for one, other in combinations(items, 2))
    width, height = float(root.attrib["width"]), float(root.attrib["height"])
    assert all(x >= 0 and y >= 0 and r <= width and b <= height for x, y, r, b in items)
    return root


@given(networks())
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_it_is_xml_and_nothing_overlaps(net: bx.Network) -> None:
    root = check(net)
    arrows = [path for path in root.iter(f"{SVG}path") if path.get("class") == "arrow"]
    assert len(arrows) == sum(len(node.inputs) for node in net.boxes.values()) + len(net.outputs)


@pytest.mark.parametrize("name", NETWORKS)
def test_all_networks(name: str) -> None:
    check(NETWORKS[name]())


def test_a_long_chain_does_not_recurse() -> None:
    assert "b1499" in draw(deep(1500), "svg")


@pytest.mark.parametrize("text", ["<b>", "&amp;", '"', "'", "]]>", "\x01\x1b\x00", "\ufffe", "😀"])
def test_odd_texts(text: str) -> None:
    net, _ = start(f"n{text}")
    odd = net.input("odd", ts="t", fields={"t": "int", f"x{text}": "int"})
    quoted = text.replace("'", "''")
    net.output("out", odd.filter(f"'{quoted}' = 'a'", otherwise=True).named("f")["else"])
    root = check(net)
    title = root.find(f"{SVG}title")
    assert title is not None
    assert title.text is not None
    if all(c >= " " and c != "\ufffe" for c in text):
        assert title.text == f"n{text}"
        tooltips = [t.text or "" for t in root.iter(f"{SVG}title")]
        assert f"t*: int, x{text}: int" in tooltips
        assert any(f"'{quoted}' = 'a'" in tooltip for tooltip in tooltips)


def test_long_names_are_cut() -> None:
    net, calls = start()
    net.output("out", calls.filter("price < 1").named("a" * 100))
    assert "a" * 30 not in "".join(check(net).itertext()).replace("a" * 100, "")


def test_a_person_may_put_items_elsewhere() -> None:
    root = ElementTree.fromstring(draw(chain(), "svg", {"cheap": (500, 300)}))
    assert (500.0, 300.0) in [rect[:2] for rect in rects(root)]
    assert float(root.attrib["height"]) > 354
