"""Looks of the page: hovered buttons, boxes with errors, and a large plan."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Locator, expect

from tests.studio.page.browser import Person
from tests.studio.page.networks import chain
from tests.studio.server import Served

LEGIBLE = 4.5
"""The contrast that WCAG wants of text, level AA."""
STYLE = "(element, name) => getComputedStyle(element)[name]"
SETTLED = "() => Promise.allSettled(document.getAnimations().map(a => a.finished))"


def style(place: Locator, name: str) -> str:
    """A computed style of an element, after all transitions."""
    place.page.evaluate(SETTLED)
    found = place.evaluate(STYLE, name)
    assert isinstance(found, str)
    return found


def luminance(colour: str) -> float:
    """The luminance of ``rgb(1, 2, 3)``, as WCAG defines it."""
    parts = [int(number) / 255 for number in re.findall(r"\d+", colour)[:3]]
    red, green, blue = (
        p / 12.92 if p <= 0.04045 else float(((p + 0.055) / 1.055) ** 2.4) for p in parts
    )
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: str, other: str) -> float:
    """The contrast of two colours: 1 if they are equal, 21 for black on white."""
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_buttons_under_the_pointer(person: Person, theme: str) -> None:
    person.page.emulate_media(color_scheme="dark" if theme == "dark" else "light")
    person.open_template("high-mobility")
    run = person.see("run")
    before = style(run, "backgroundColor")
    run.hover()
    assert contrast(style(run, "color"), style(run, "backgroundColor")) >= LEGIBLE
    assert style(run, "backgroundColor") != before, "nothing shows that the pointer is there"


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_boxes_with_errors_stand_out(person: Person, theme: str) -> None:
    """A box with an error has a stronger border than a valid one."""
    see = person.see
    person.page.emulate_media(color_scheme="dark" if theme == "dark" else "light")
    person.open_template("high-mobility")
    person.click("node-speed")
    person.write_code("expr-fields-2", "sqrt(phone)")
    expect(see("alarm-speed")).to_be_visible()
    person.page.keyboard.press("Escape")
    wrong, right = see("node-speed"), see("node-callers")
    assert style(wrong, "borderStyle") == style(right, "borderStyle") == "solid"
    width, usual = (float(style(box, "borderTopWidth")[:-2]) for box in (wrong, right))
    assert width > usual
    ground = style(person.page.locator(".react-flow"), "backgroundColor")
    line = contrast(style(wrong, "borderTopColor"), ground)
    assert line >= LEGIBLE
    assert style(wrong, "opacity") == "1"
    fill = style(wrong, "backgroundColor")
    assert fill != style(right, "backgroundColor")
    name = wrong.locator(".name")
    assert contrast(style(name, "color"), fill) >= LEGIBLE


def test_the_files_of_a_large_plan(person: Person, served: Served) -> None:
    """The file actions stay visible, however many files there are."""
    see = person.see
    network = chain(60) | {"name": "a-network-with-quite-a-long-name-of-its-own"}
    code, _ = served.call("PUT", "/api/networks/wide.yaml", {"network": network, "positions": {}})
    assert code == 200
    person.page.set_viewport_size({"width": 1024, "height": 700})
    person.open()
    person.click("gallery-open", "file-wide.yaml", "mode-plan")
    see("pool").fill(" ".join(f"machine{n}.example:7077" for n in range(20)))
    expect(see("plan-file-commands")).to_be_attached()
    expect(see("write-files")).to_be_in_viewport(ratio=1)
    see("plan-file-commands").click()
    expect(see("plan-text")).to_contain_text("boxcars")
    expect(see("write-files")).to_be_in_viewport(ratio=1)
