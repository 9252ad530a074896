"""Accessibility: the keyboard alone, screen readers, and the dark theme."""

import json
import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import WebSocketRoute, expect

from tests.studio.page.axe import bring_axe, violations
from tests.studio.page.browser import Person, chromium
from tests.studio.page.networks import NO_HISTORY, fake_injector, fake_run, fake_stats
from tests.studio.server import Served


def composing(person: Person) -> Iterator[str]:
    """The welcome, a drawing with a problem, all panels."""
    person.open()
    expect(person.see("template-linear-road")).to_be_visible()
    yield "welcome"
    person.open_template("blacklist")
    for dock in ("tables", "tests", "text"):
        person.click(f"dock-{dock}")
        yield dock
    person.click("brand", "template-high-mobility")
    expect(person.see("check-state")).to_have_text("no problems")
    person.see("arc-speed#0").locator("path").first.dispatch_event("click")
    yield "arrow"
    person.click("node-pairs")
    yield "window"
    person.click("node-speed")
    person.write_code("expr-fields-2", "sqrt(phone)")
    expect(person.see("alarm-speed")).to_be_visible()
    person.click("dock-problems")
    yield "problem"
    person.write_code("expr-fields-2", "3600 * distance(x1, y1, x2, y2) / seconds")
    expect(person.see("check-state")).to_have_text("no problems")
    person.click("node-calls")
    yield "input"


def dialogs(person: Person) -> Iterator[str]:
    for words in (
        "Open a file",
        "Save as",
        "Keyboard shortcuts",
        "Compare two versions",
        "Run on Spark",
    ):
        person.page.keyboard.press("Escape")
        person.search(words)
        expect(person.see("dialog-close")).to_be_visible()
        yield words
        person.click("dialog-close")
    person.page.keyboard.press("Control+k")
    yield "search"
    person.page.keyboard.press("Escape")


def previewing(person: Person) -> Iterator[str]:
    person.click("mode-preview", "make-up", "preview-step")
    expect(person.see("preview-position")).to_have_text("10 of 200 tuples")
    person.click("node-pairs")
    yield "preview"
    person.see("arc-speed#0").locator("path").first.dispatch_event("click")
    person.click("breakpoint")
    yield "breakpoint"
    person.click("mode-plan")
    expect(person.see("subquery-pairs")).to_be_visible()
    person.see("subquery-pairs").click(position={"x": 8, "y": 8})
    yield "plan"


def watching(person: Person) -> Iterator[str]:
    """A fake run: only its looks are tested."""

    def tell(socket: WebSocketRoute) -> None:
        socket.send(json.dumps({"type": "stats", "stats": fake_stats(1)}))

    page = person.page
    page.route("**/api/runs", lambda route: route.fulfill(json=[fake_run()]))
    page.route("**/api/runs/busy/history*", lambda route: route.fulfill(json=NO_HISTORY))
    page.route("**/api/runs/busy/injectors", lambda route: route.fulfill(json=[fake_injector()]))
    page.route_web_socket("**/api/runs/busy/watch*", tell)
    person.click("mode-watch")
    expect(person.see("chart-in")).to_have_attribute("data-last", "1")
    yield "watch"
    person.click("node-pairs", "watch-boxes", "add-injector")
    yield "box"


@pytest.mark.usefixtures("page")
@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_nothing_grave_that_axe_finds(served: Served, dark: bool) -> None:
    """In the dark theme only the colours differ."""
    rules = ["color-contrast"] if dark else []
    with chromium(served.url, dark=dark) as person:
        bring_axe(person.page)
        for views in (composing, dialogs, previewing, watching):
            for view in views(person):
                assert (view, violations(person.page, *rules)) == (view, [])
        assert person.complaints == []


def draw(person: Person) -> None:
    """An input, a filter with a mistake that is fixed, and two outputs."""
    see, keys = person.see, person.page.keyboard
    person.open()
    expect(see("run-example")).to_be_focused()
    person.tab_to("new-network")
    keys.press("Enter")
    expect(see("gallery")).to_have_count(0)
    person.search("input")
    expect(see("entity-name")).to_be_focused()
    keys.type("calls")
    person.tab_to("schema-as-text")
    keys.press("Enter")
    person.tab_to("schema-text")
    keys.press("Control+a")
    keys.type("time: int, who: str, price: float")
    person.tab_to("schema-done")
    keys.press("Enter")
    person.search("filter")
    expect(see("entity-name")).to_be_focused()
    keys.type("cheap")
    person.tab_to("expr-where-0")
    keys.type("prise < 1")
    expect(see("check-spoken")).to_have_text(re.compile("problems?: .*unknown field 'prise'"))
    keys.press("Control+a")
    keys.type("price < 1")
    person.search("output")
    expect(see("entity-name")).to_be_focused()
    keys.type("few")
    keys.press("Escape")
    expect(see("node--> few").locator("xpath=..")).to_be_focused()
    keys.press("Escape")
    person.search("output")
    expect(see("entity-name")).to_be_focused()
    keys.type("all")
    person.tab_to("read-0")
    keys.type("calls")
    expect(see("check-state")).to_have_text("no problems")
    expect(see("check-spoken")).to_have_text("no problems")


def test_the_keyboard_alone(person: Person, served: Served) -> None:
    """Draw, connect, configure, preview and start a network without a mouse."""
    see, keys = person.see, person.page.keyboard
    draw(person)
    person.search("Preview")
    person.tab_to("preview-end")
    keys.press("Enter")
    expect(see("preview-position")).to_have_text("200 of 200 tuples")
    person.search("Run on Spark")
    person.tab_to("feed")
    keys.press("Space")
    person.tab_to("start")
    keys.press("Enter")
    expect(see("run-state")).to_have_text("waiting", timeout=90_000)
    (run,) = served.get("/api/runs")
    assert run["network"]["outputs"] == {"few": {"from": "cheap"}, "all": {"from": "calls"}}
    person.tab_to("stop")
    keys.press("Enter")
    expect(see("run-state")).to_have_text("stopped", timeout=60_000)
