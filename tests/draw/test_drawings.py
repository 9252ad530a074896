"""The drawings of the docs are readable: nothing overlaps, is cut off, tiny or pale."""

import re
from itertools import combinations
from pathlib import Path
from xml.etree import ElementTree

import pytest

import boxcars as bx
from boxcars.draw import canvas
from boxcars.draw.canvas import text_width
from boxcars.draw.flow import Flow, Sheet, draw_flow

SVG = "{http://www.w3.org/2000/svg}"
FILES = sorted((Path(bx.__file__).parent.parent / "docs/img/boxes").glob("*.svg"))
Area = tuple[float, float, float, float]


def areas(root: ElementTree.Element) -> dict[str, Area]:
    """The approximate area of each text."""
    found = {}
    for number, text in enumerate(root.iter(f"{SVG}text")):
        style = text.attrib["class"].split()[0]
        x, y = float(text.attrib["x"]), float(text.attrib["y"])
        width = text_width(text.text or "", style) * 0.92
        x -= width * {"start": 0, "middle": 0.5, "end": 1}[text.get("text-anchor", "start")]
        found[f"{number}: {text.text}"] = (x, y - 8, x + width, y + 2)
    return found


def overlap(one: Area, other: Area) -> bool:
    return one[0] < other[2] and other[0] < one[2] and one[1] < other[3] and other[1] < one[3]


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_texts_have_room(path: Path) -> None:
    root = ElementTree.fromstring(path.read_text(encoding="utf-8"))
    width, height = float(root.attrib["width"]), float(root.attrib["height"])
    texts = areas(root)
    assert len(texts) > 5
    for name, (left, top, right, bottom) in texts.items():
        assert left >= 8, name
        assert top >= 8, name
        assert right <= width - 8, name
        assert bottom <= height - 8, name
    for (name, one), (other_name, other) in combinations(texts.items(), 2):
        assert not overlap(one, other), f"{name} and {other_name}"


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_tuples_do_not_hide_each_other(path: Path) -> None:
    root = ElementTree.fromstring(path.read_text(encoding="utf-8"))
    dots = [
        (float(c.attrib["cx"]), float(c.attrib["cy"]), float(c.attrib["r"]))
        for c in root.iter(f"{SVG}circle")
    ]
    for (x1, y1, r1), (x2, y2, r2) in combinations(dots, 2):
        assert (x1 - x2) ** 2 + (y1 - y2) ** 2 >= (0.8 * (r1 + r2)) ** 2


def test_nothing_is_tiny() -> None:
    assert min(canvas._SIZES.values()) >= 11


def luminance(colour: str) -> float:
    parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    lin = [p / 12.92 if p <= 0.03928 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
    return 0.2126 * lin[0] + 0.7152 * lin[1] + 0.0722 * lin[2]


def contrast(one: str, other: str) -> float:
    light, dark = sorted((luminance(one), luminance(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


@pytest.mark.parametrize("dark", [0, 1], ids=["light", "dark"])
def test_nothing_is_pale(dark: int) -> None:
    """The contrast that WCAG requires for text, light and dark."""
    inks = (canvas._LIGHT, canvas._DARK)[dark]
    for name in ("ink", "soft"):
        assert contrast(inks[name], inks["paper"]) >= 4.5
    for tone, pair in canvas._TONES.items():
        strong, weak = pair[dark]
        assert contrast(inks["ink"], weak) >= 7, tone
        assert contrast(inks["soft"], weak) >= 4.5, tone
        assert contrast(strong, inks["paper"]) >= 4.5, tone
        assert contrast(inks["on"], strong) >= 4.5, tone


def test_a_sheet_without_rows_says_so() -> None:
    sheet = Sheet("out", "result", ("time",), ())
    drawn = draw_flow(Flow("t", "▽", "filter", ("no",), False, (sheet,), (sheet,)))
    assert drawn.count("nothing") == 2
    ElementTree.fromstring(drawn)


def test_texts_are_escaped() -> None:
    sheet = Sheet("<a&b>", "left", ("x",), (("<1>",),))
    drawn = draw_flow(Flow("a < b", "▽", "filter", ("x < 1",), False, (sheet,), (sheet,)))
    assert "x &lt; 1" in drawn
    assert not re.search(r"<a&|<1>", drawn)
