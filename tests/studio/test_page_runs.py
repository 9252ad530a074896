"""Runs on the page: confirmation before data is discarded, and runs that have ended."""

from __future__ import annotations

import re
from typing import Any

from playwright.sync_api import expect

from tests.studio.page.browser import Person
from tests.studio.page.fakes import FakeRun

OWN: dict[str, Any] = {"name": "high-mobility", "document": "template high-mobility"}
STOPPED: dict[str, Any] = {"state": "stopped", "sentence": "stopped.", "epoch": 7}


def watch(person: Person) -> None:
    person.open_template("high-mobility")
    person.click("mode-watch")
    expect(person.see("chart-in")).to_have_attribute("data-last", "1")


def test_a_run_is_deleted_only_after_confirmation(person: Person) -> None:
    run = FakeRun(person, **STOPPED)
    watch(person)
    person.click("delete-busy")
    expect(person.see("ask")).to_contain_text("its state as of epoch 7")
    person.page.keyboard.press("Enter")  # the focus is on what changes nothing
    expect(person.see("ask")).to_have_count(0)
    assert run.asked == []
    person.click("delete-busy", "ask-yes")
    expect(person.see("ask")).to_have_count(0)
    assert [(method, what) for method, what, _ in run.asked] == [("DELETE", "busy")]


def test_start_over_asks_first(person: Person) -> None:
    """A change is refused: discarding the state of the run takes a confirmation."""
    run = FakeRun(person, epoch=7, **OWN)
    run.refusal = "box 'pairs' has another window. The run continues unchanged."
    watch(person)
    person.click("modify")
    expect(person.see("notice-bad")).to_contain_text("another window")
    person.page.get_by_role("button", name="Start over").click()
    expect(person.see("ask")).to_contain_text("All its state is discarded")
    expect(person.see("ask")).to_contain_text("as of epoch 7")
    person.click("ask-stay")
    assert [body["fresh"] for _, _, body in run.asked] == [False]
    person.page.get_by_role("button", name="Start over").click()
    run.refusal = None
    person.click("ask-yes")
    expect(person.see("notice-good")).to_contain_text("continues")
    assert [body["fresh"] for _, _, body in run.asked] == [False, True]


def test_apply_is_for_runs_of_the_drawing(person: Person) -> None:
    """Not for a run that only has the same name, such as untitled."""
    FakeRun(person, name="untitled", document="drawing of another tab")
    person.start_empty()
    person.click("add-input", "mode-watch")
    expect(person.see("run-state")).to_have_text("running")
    expect(person.see("stop")).to_be_visible()
    expect(person.see("modify")).to_have_count(0)


def test_a_run_that_has_ended_is_at_rest(person: Person) -> None:
    """No rates, and no arrow is green; the counts are still shown."""
    see = person.see
    run = FakeRun(person)
    watch(person)
    run.measure(500)
    expect(see("in-rate")).to_have_text("500/s")
    expect(see("arc-pairs#0")).to_have_class(re.compile(r"\bgood\b"))
    run.end("stopped", "stopped; epoch 1: 500 tuples in, 3 out.")
    expect(see("run-state")).to_have_text("stopped")
    expect(see("in-rate")).to_have_text("–")
    expect(see("out-rate")).to_have_text("–")
    expect(see("node-pairs")).to_contain_text("500 in, 500 out")
    for part in (see("canvas"), person.page.locator(".run-bar"), see("chart-in")):
        expect(part).not_to_contain_text("/s")
    person.click("watch-boxes")
    row = see("boxes-table").locator("tbody tr", has_text="pairs").first
    expect(row).to_contain_text("∅")
    expect(see("arc-pairs#0")).not_to_have_class(re.compile(r"\b(good|warn|bad)\b"))
    assert person.page.locator(".box .load, .arc.good, .arc-text").count() == 0
