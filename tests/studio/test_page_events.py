"""Events of a run on the page: the tab with its filter, and the markers on the charts."""

from __future__ import annotations

import re

from playwright.sync_api import expect

from tests.studio.page.browser import Person
from tests.studio.page.fakes import FakeRun
from tests.studio.page.networks import fake_event
from tests.studio.test_page_runs import watch

FIRST = re.compile(r"\d\d:\d\d:01 started: the run started\.")
EVENTS = (
    fake_event(1, "started", "the run started."),
    fake_event(3, "late", "2 tuples arrived too late and were dropped.", "calls"),
    fake_event(5, "balanced", "a kind of a later version.", "pairs"),
    fake_event(7, "late", "<b>1</b> tuple arrived too late and was dropped.", "calls"),
)


def busy(person: Person) -> FakeRun:
    """A run with some measurements and events."""
    run = FakeRun(person)
    watch(person)
    for number in range(2, 10):
        run.measure(number)
        expect(person.see("chart-in")).to_have_attribute("data-last", str(number))
    run.happen(*EVENTS)
    return run


def test_the_tab_and_its_filter(person: Person) -> None:
    run = busy(person)
    person.click("watch-events")
    rows = person.see("events-table").locator("tbody tr")
    expect(rows).to_have_count(4)
    expect(rows.first).to_contain_text("<b>1</b> tuple arrived too late")
    expect(rows.first).to_contain_text("tuples 7")
    expect(rows.last).to_contain_text("the run started.")
    person.click("events-late")
    expect(rows).to_have_count(2)
    expect(person.see("events-late")).to_have_attribute("aria-pressed", "true")
    expect(person.see("events-total")).to_have_text("2 events, newest first")
    run.happen(fake_event(8, "late"), fake_event(9, "slow_epoch"))
    expect(rows).to_have_count(3)
    person.click("events-all")
    expect(rows).to_have_count(6)
    expect(rows.first).to_contain_text("slow epoch")
    run.happen(fake_event(1, "started", "the run started over."))
    expect(rows).to_have_count(1)


def test_the_markers_on_the_charts(person: Person) -> None:
    run = busy(person)
    for chart in ("chart-in", "chart-out", "chart-latency"):
        marks = person.see(chart).locator(".marker")
        expect(marks).to_have_count(4)
        expect(marks.first).to_have_attribute("title", FIRST)
    expect(person.see("chart-memory").locator(".marker")).to_have_count(0)
    marks = person.see("chart-in").locator(".marker")
    lefts = [mark.bounding_box() for mark in marks.all()]
    assert all(box is not None for box in lefts)
    places = [box["x"] for box in lefts if box is not None]
    assert places == sorted(set(places))
    person.page.get_by_test_id("node-callers").click()
    expect(person.see("charts").get_by_test_id("chart-in_rate").locator(".marker")).to_have_count(1)
    run.end("stopped", "stopped.")
    expect(marks).to_have_count(4)


def test_a_run_without_events(person: Person) -> None:
    FakeRun(person)
    watch(person)
    person.click("watch-events")
    expect(person.see("watch")).to_contain_text("No events yet.")
