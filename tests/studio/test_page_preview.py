"""The preview with invalid data, and with data that changes."""

from __future__ import annotations

from playwright.sync_api import expect

from tests.studio.page.browser import Person

HEAD = "caller,callee,time,duration,price,caller_x,caller_y,callee_x,callee_y\n"


def calls(*times: object) -> str:
    """A call at each of the given times."""
    return HEAD + "".join(f"ann,bob,{time},60,1.0,0,0,0,0\n" for time in times)


def test_bad_rows_are_reported(person: Person) -> None:
    """The number of skipped rows and the reason, whatever is selected."""
    see = person.see
    person.open_template("high-mobility")
    person.click("mode-preview")
    see("data-calls").fill(calls(1000, "noon", 1200, "late"))
    person.click("preview-step")
    expect(see("preview-position")).to_have_text("2 of 2 tuples")
    expect(see("looking")).to_have_count(0)
    told = see("preview-dead")
    expect(told).to_contain_text("2 rows of calls skipped")
    expect(told).to_contain_text("The first: time: 'noon' is not an int.")
    person.click("preview-dead-all")
    expect(see("dead-letter")).to_have_count(2)
    expect(see("dead-letter").last).to_contain_text("late")
    see("data-calls").fill(calls(1000, 1200))
    person.click("preview-step")
    expect(see("preview-position")).to_have_text("2 of 2 tuples")
    expect(told).to_have_count(0)


def test_data_that_is_edited_at_the_end(person: Person) -> None:
    """The next step restarts with the new data, and the page says so in advance."""
    see = person.see
    person.open_template("high-mobility")
    person.click("mode-preview")
    see("data-calls").fill(calls(1000, 1100))
    person.click("preview-end")
    expect(see("preview-position")).to_have_text("2 of 2 tuples")
    expect(see("preview-step")).to_be_disabled()
    see("data-calls").fill(calls(1000, 1100, 1200))
    expect(see("preview-stale")).to_contain_text("data has changed")
    person.click("keep-test")  # the data from which this came out, not the new one
    expect(see("notice-good")).to_contain_text("Saved as a test")
    person.click("preview-end")
    expect(see("preview-position")).to_have_text("3 of 3 tuples")
    expect(see("preview-stale")).to_have_count(0)
    person.click("mode-compose", "dock-tests")
    expect(see("given-calls")).to_have_value(calls(1000, 1100))
