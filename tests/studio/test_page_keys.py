"""Keys and clicks that must not hit the wrong target."""

from __future__ import annotations

from typing import Any

import pytest
from playwright.sync_api import expect

from tests.studio.page.browser import Person
from tests.studio.page.fakes import FakeRun

PLACES = """() => [...document.querySelectorAll('.react-flow__node')]
  .map(node => [node.dataset.id, node.style.transform])"""


def places(person: Person) -> Any:
    """The positions of all boxes."""
    return person.page.evaluate(PLACES)


@pytest.mark.parametrize(
    ("node", "button", "field"),
    [
        ("speed", "add-fields", "name-fields-3"),
        ("calls", "schema-add", "schema-name-9"),
        ("too-fast", "add-where", "expr-where-1"),
    ],
)
def test_keys_after_a_new_field(person: Person, node: str, button: str, field: str) -> None:
    """They go to the new field, not to the drawing, where l is layout and 2 the preview."""
    see = person.see
    person.open_template("high-mobility")
    person.click(f"node-{node}")
    see(f"node-{node}").hover()
    person.page.mouse.down()
    person.page.mouse.move(400, 420, steps=4)
    person.page.mouse.up()
    person.click(button)
    before = places(person)
    person.page.keyboard.type("l2")
    person.page.wait_for_timeout(300)  # a layout that is wrong would be done by then
    assert places(person) == before
    expect(see("app")).to_have_attribute("data-mode", "compose")
    inner = see(field).locator(".cm-content")
    if inner.count():
        expect(inner).to_have_text("l2")
    else:
        expect(see(field)).to_have_value("l2")


def test_keys_after_a_click_in_a_panel(person: Person) -> None:
    """A button that disappears when clicked leaves no focus: keys then do nothing."""
    see, keys = person.see, person.page.keyboard
    person.open_template("high-mobility")
    person.click("node-pairs", "chip-x")
    expect(see("chip-x")).to_have_count(0)
    before = places(person)
    keys.press("l")
    keys.press("2")
    keys.press("Delete")
    person.page.wait_for_timeout(300)  # a layout that is wrong would be done by then
    assert places(person) == before
    expect(see("app")).to_have_attribute("data-mode", "compose")
    keys.press("Escape")
    expect(see("entity-name")).to_have_count(0)
    see("canvas").click(position={"x": 500, "y": 40})
    keys.press("2")
    expect(see("app")).to_have_attribute("data-mode", "preview")


def test_a_double_click_on_what_an_area_has_selected(person: Person) -> None:
    """Shift and drag selects; boxes below the area can still be clicked."""
    see, page = person.see, person.page
    person.open_template("high-mobility")
    person.click("node-callers")
    see("node-callees").click(modifiers=["Control"])
    person.click("group")
    expect(see("node-part")).to_be_visible()
    person.lay_out()
    page.keyboard.press("Escape")
    around = see("node-part").bounding_box()
    assert around is not None
    page.keyboard.down("Shift")
    page.mouse.move(around["x"] - 15, around["y"] - 30)
    page.mouse.down()
    page.mouse.move(around["x"] + 500, around["y"] + around["height"] + 30, steps=6)
    page.mouse.up()
    page.keyboard.up("Shift")
    expect(page.locator(".react-flow__node.selected")).not_to_have_count(0)
    see("node-part").dblclick()
    expect(see("node-callers")).to_be_visible()
    expect(see("crumb-1")).to_have_text("part")


def test_escape_closes_the_charts(person: Person) -> None:
    see, keys = person.see, person.page.keyboard
    FakeRun(person)
    person.open_template("high-mobility")
    person.click("mode-watch")
    expect(see("chart-in")).to_have_attribute("data-last", "1")
    person.click("node-pairs")
    expect(see("charts")).to_be_visible()
    keys.press("Escape")
    expect(see("charts")).to_have_count(0)
    person.click("node-pairs")
    see("charts").get_by_text("Thick lines").click()
    keys.press("Escape")
    expect(see("charts")).to_have_count(0)


def test_escape_closes_what_a_preview_looks_into(person: Person) -> None:
    person.open_template("high-mobility")
    person.click("mode-preview", "node-pairs")
    expect(person.see("looking")).to_be_visible()
    person.page.keyboard.press("Escape")
    expect(person.see("looking")).to_have_count(0)
