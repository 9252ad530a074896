"""The page for screen readers: Chromium's accessibility tree of the main views."""

from __future__ import annotations

from playwright.sync_api import FilePayload, expect

import boxcars as bx
from tests.studio.page.browser import Person
from tests.studio.page.fakes import FakeRun
from tests.studio.page.hearing import Heard, listen

WRONG = "sqrt() needs float as x, got phone (str)."


def of(heard: list[Heard], role: str, within: str = "") -> list[str]:
    """The names of all elements of a role in a part of the page."""
    return [h.name for h in heard if h.role == role and (not within or within in h.within)]


def spoken(heard: list[Heard], live: str) -> list[str]:
    """The texts of live regions."""
    return [h.words for h in heard if h.live == live and h.words]


def test_the_palette_and_the_canvas(person: Person) -> None:
    """Each box announces its type, its purpose and its connections."""
    person.open_template("high-mobility")
    heard = listen(person.page)
    palette = of(heard, "button", "Palette")
    helped = dict(name.split(" ", 1) for name in palette)
    assert set(helped) == {"input", "output", *bx.box_types()}
    assert all(words.endswith(".") for words in helped.values())
    groups = of(heard, "group", "The network")
    assert [name for name in groups if not name.startswith("arrow")] == [
        "input calls: 9 fields by time; leads to callers, callees",
        "map callers: time, phone, x, y; reads calls; leads to both",
        "map callees: time, phone, x, y; reads calls; leads to both",
        "union both; reads callers, callees; leads to pairs",
        "aggregate pairs: 2 tuples / 1, by phone; reads both; leads to speed",
        "map speed: time, phone, kmh; reads pairs; leads to too-fast",
        "filter too-fast: kmh > 1000; reads speed; leads to output clones",
        "output clones; reads too-fast",
    ]
    assert [name for name in groups if name.startswith("arrow")] == [
        "arrow from calls to callers",
        "arrow from calls to callees",
        "arrow from callers to both",
        "arrow from callees to both",
        "arrow from both to pairs",
        "arrow from pairs to speed",
        "arrow from speed to too-fast",
        "arrow from too-fast to output clones",
    ]
    person.see("arc--> clones#0").locator("path").first.dispatch_event("click")
    person.page.keyboard.press("Delete")
    expect(person.see("check-state")).to_have_text("1 problem")
    groups = of(listen(person.page), "group", "The network")
    assert "filter too-fast: kmh > 1000; reads speed; no consumer yet" in groups
    assert any(name.startswith("output clones; no input yet; 1 problem: ") for name in groups)


def test_errors_are_announced(person: Person) -> None:
    """At the field immediately, in the header after a pause, and in the label of the box."""
    see = person.see
    person.open_template("high-mobility")
    person.click("node-speed")
    before = listen(person.page)
    assert spoken(before, "assertive") == []
    assert "no problems" in spoken(before, "polite")
    person.write_code("expr-fields-2", "sqrt(phone)")
    expect(see("alarm-speed")).to_be_visible()
    said = person.page.get_by_text(f"1 problem: box speed: {WRONG}")
    expect(said.first).to_be_attached()  # not only what was wrong half-way
    heard = listen(person.page)
    assert [(h.role, h.words) for h in heard if h.live == "assertive"] == [("alert", WRONG)]
    assert WRONG in next(h for h in heard if h.role == "alert" and "Properties" in h.within).words
    assert f"1 problem: box speed: {WRONG}" in spoken(heard, "polite")
    assert [h.name for h in heard if h.invalid] == ["kmh"]
    (speed,) = (h.name for h in heard if h.role == "group" and h.name.startswith("map speed"))
    assert speed.endswith(f"leads to too-fast; 1 problem: {WRONG}")


def test_a_refusal_is_announced(person: Person) -> None:
    person.open()
    person.click("gallery-open")
    broken = FilePayload(name="x.yaml", mimeType="text/yaml", buffer=b"a: [")
    person.see("upload").set_input_files(broken)
    expect(person.see("notice-bad")).to_be_visible()
    (words,) = spoken(listen(person.page), "assertive")
    assert "x.yaml" in words


def test_a_run_is_heard(person: Person) -> None:
    """Its results in a table and announced at intervals; its failure immediately."""
    see, page = person.see, person.page
    run = FakeRun(person)
    person.open_template("high-mobility")
    person.click("mode-watch")
    expect(see("chart-in")).to_have_attribute("data-last", "1")
    run.find(41, 42)
    expect(see("results-spoken")).to_have_text(
        "2 tuples of frauds, the newest: phone 42, speed 900"
    )
    heard = listen(page)
    assert "running" in spoken(heard, "polite")
    assert "2 tuples of frauds, the newest: phone 42, speed 900" in spoken(heard, "polite")
    assert of(heard, "columnheader", "Results of frauds") == ["phone", "speed"]
    assert of(heard, "cell", "Results of frauds") == ["42", "900", "41", "900"]
    assert "filter fast: speed > 110; reads speed; leads to output frauds" in of(heard, "group")
    assert of(heard, "slider", "Injector for calls") == ["tuples per second"]
    assert not any("elete" in h.description for h in heard if "The network" in h.within)
    see("arc-fast#0").locator("xpath=..").focus()
    page.keyboard.press("Enter")
    expect(see("arc-table")).to_contain_text("7")
    tabs = ["Overview", "Boxes", "Arc", "Events", "Log"]
    assert of(listen(page), "tab", "Run panels") == tabs
    run.end("failed", "calls.csv: there is no such file.")
    expect(see("run-state")).to_have_text("failed")
    (words,) = spoken(listen(page), "assertive")
    assert words.startswith("calls.csv: there is no such file.")


def test_tabs_and_choices_with_the_arrows(person: Person) -> None:
    """One Tab stop per group; tabs name their panel, and a radio group is not a tab list."""
    see, keys = person.see, person.page.keyboard
    person.open_template("high-mobility")
    person.click("dock-text")
    see("dock-text").focus()
    keys.press("ArrowLeft")
    expect(see("dock-tests")).to_be_focused()
    expect(see("dock-tests")).to_have_attribute("aria-selected", "true")
    expect(person.page.get_by_role("tabpanel", name="tests")).to_be_visible()
    keys.press("ArrowRight")
    heard = listen(person.page)
    assert of(heard, "radio", "Format") == ["YAML", "XML", "JSON", "Python"]
    chosen = [h.name for h in heard if h.role in ("tab", "radio") and h.chosen]
    assert chosen == ["Compose", "Text", "YAML"]
    see("mode-compose").focus()
    keys.press("Tab")
    expect(see("mode-preview")).not_to_be_focused()
    see("mode-compose").focus()
    keys.press("ArrowRight")
    expect(see("mode-preview")).to_be_focused()
    expect(see("preview-step")).to_be_visible()
