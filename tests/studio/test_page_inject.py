"""Injecting from the page into a live run on Spark: files, and data that follows its own times."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from time import perf_counter
from typing import Any

import pytest
from playwright.sync_api import FilePayload, expect

from tests.patience import settled, until
from tests.studio.page.browser import Person
from tests.studio.runs.test_runs import state
from tests.studio.server import Served

EXPENSIVE: dict[str, Any] = {
    "name": "expensive",
    "inputs": {"calls": {"ts": "time", "fields": {"time": "int", "who": "str", "price": "float"}}},
    "boxes": {"expensive": {"type": "filter", "in": "calls", "where": ["price > 20"]}},
    "outputs": {"alarms": {"from": "expensive"}},
}
HEAD = "time,who,price\n"
LONG = 3600
"""Tuples of the file that goes by its times, one a second."""


@pytest.fixture
def watching(person: Person, served: Served) -> Iterator[Person]:
    """A user who watches a run that is waiting for tuples."""
    run = served.post("/api/runs", {"network": EXPENSIVE, "master": "local[1]"})["id"]
    state(served, run, "waiting", "running")
    person.open()
    person.click("new-network", "mode-watch")
    expect(person.see("run-state")).to_have_text("waiting")
    yield person
    served.post(f"/api/runs/{run}/stop")


def write(folder: Path, name: str, rows: str) -> None:
    (folder / name).write_text(HEAD + rows)


def total(person: Person) -> int:
    """The number of results that the live table has received."""
    return int(person.see("result-total").get_attribute("data-total") or 0)


def sent(person: Person) -> int:
    return int(person.see("injector").get_attribute("data-sent") or 0)


def test_a_file_is_injected_into_a_live_run(watching: Person, served: Served) -> None:
    """A file in the folder by a click, a local file by the picker; errors are reported."""
    see = watching.see
    rows = "".join(f"{t},ann,1.0\n" for t in range(300))
    write(served.folder, "calls.csv", rows + "300,eve,25.5\n301,mallory,99.0\n302,ann,1.0\n")
    (served.folder / "other.csv").write_text("when,who,price\n1,ann,2.0\n")
    see("injector-source").select_option("file")
    refused(watching, "Choose a file")
    see("injector-file").fill("cals.csv")
    refused(watching, "cals.csv: there is no such file. Did you mean 'calls.csv'?")
    watching.click("data-file-other.csv")
    expect(see("field-problem")).to_have_count(0)
    refused(watching, "no row fits the input 'calls' (time: int, who: str")
    refused(watching, "time: the header has no such column")
    watching.click("data-file-calls.csv")
    see("injector-rate").fill("2000")
    watching.click("inject")
    expect(see("injector")).to_contain_text("calls.csv")
    expect(see("injector")).to_contain_text("all tuples were sent", timeout=60_000)
    expect(see("result-total")).to_have_attribute("data-total", "2", timeout=60_000)
    newest = see("results-table").locator("tbody tr").first
    expect(newest.locator("td")).to_have_text(["301", "mallory", "99"])
    inject_from_the_machine(watching)
    expect(see("result-total")).to_have_attribute("data-total", "3", timeout=60_000)
    expect(newest.locator("td")).to_have_text(["400", "trent", "30"])


def refused(person: Person, sentence: str) -> None:
    """The form reports the error, and stays open."""
    person.click("inject")
    expect(person.see("field-problem")).to_contain_text(sentence)
    expect(person.see("injector")).to_have_count(0)


def inject_from_the_machine(person: Person) -> None:
    """JSON lines, one of which is broken."""
    times = {400: 30, 401: 1, "noon": 50}
    lines = [{"time": time, "who": "trent", "price": price} for time, price in times.items()]
    text = "\n".join(map(json.dumps, lines)).encode()
    payload = FilePayload(name="mine.jsonl", mimeType="text/plain", buffer=text)
    person.click("stop-injector")
    person.see("injector-source").select_option("upload")
    person.see("injector-upload").set_input_files(payload)
    person.click("inject")
    expect(person.see("injector")).to_contain_text("mine.jsonl")
    left = person.see("left-out")
    expect(left).to_have_text("1 row skipped. The first: time: expected an int, got 'noon'.")


def test_by_the_times_in_the_data(watching: Person, served: Served) -> None:
    """One tuple per second, by its times; then faster, paused, and stopped, all from the page.

    A busy machine may send late, but nothing may be sent too early.
    """
    see = watching.see
    write(served.folder, "clock.csv", "".join(f"{t},ann,50.0\n" for t in range(LONG)))
    see("injector-source").select_option("file")
    watching.click("data-file-clock.csv")
    see("injector-pace").select_option("time")
    began = perf_counter()
    watching.click("inject")
    expect(see("injector")).to_contain_text("clock.csv")
    until(lambda: sent(watching) >= 5)
    assert sent(watching) <= 1 + perf_counter() - began
    expect(see("result-total")).not_to_have_attribute("data-total", "0", timeout=60_000)
    assert total(watching) <= 1 + perf_counter() - began  # nobody has seen the rest of the hour
    changed, slow = perf_counter(), perf_counter() - began
    watching.write("speed", "20")
    until(lambda: sent(watching) > 30 + perf_counter() - began)
    assert sent(watching) <= 21 + slow + 20 * (perf_counter() - changed)
    watching.click("pause-injector")
    expect(see("injector")).to_contain_text("now 0/s")
    paused = settled(lambda: sent(watching), seconds=3)
    resumed = perf_counter()
    watching.click("pause-injector")
    until(lambda: sent(watching) > paused)
    caught_up = 21 + 20 * (perf_counter() - resumed)  # the pause alone would give 60 more
    assert sent(watching) <= paused + caught_up
    watching.click("stop-injector")
    expect(see("injector")).to_have_count(0)
    expect(see("inject")).to_be_visible()
    assert settled(lambda: total(watching), seconds=3) < LONG


def test_an_injector_over_a_stop(watching: Person, served: Served) -> None:
    """It resumes with its run. A new one starts after the times that the run has seen."""
    see = watching.see
    make_up(watching)
    grows(watching, 0)
    (run,) = (r["id"] for r in served.get("/api/runs") if r["state"] != "stopped")
    watching.click("stop")
    expect(see("run-state")).to_have_text("stopped", timeout=60_000)
    expect(see("injector")).to_contain_text("the run is stopped; the injector resumes with it")
    expect(see("injector")).to_contain_text("now 0/s")
    before = sent(watching)
    watching.click("go-on")
    expect(see("run-state")).to_have_text("running", timeout=90_000)
    grows(watching, before)
    expect(see("injector")).not_to_contain_text("with later times")
    watching.click("stop-injector")
    make_up(watching)
    expect(see("injector")).to_contain_text("generated tuples, with later times")
    read = total_read(served, run)
    until(lambda: total_read(served, run) > read + 40)
    expect(see("injector-late")).to_have_count(0)
    assert served.get(f"/api/runs/{run}/injectors")[0]["late"] == 0
    watching.click("stop-injector")
    write(served.folder, "old.csv", "".join(f"{t},ann,50.0\n" for t in (-3, -2, -1)))
    see("injector-source").select_option("file")
    watching.click("data-file-old.csv", "inject")
    expect(see("injector-late")).to_contain_text("3 tuples arrived late", timeout=60_000)
    expect(see("run-sentence")).to_contain_text("3 late")


def make_up(person: Person) -> None:
    """Generate a few tuples per second."""
    person.see("injector-source").select_option("generator")
    person.see("injector-rate").fill("50")  # a batch every two seconds
    person.click("inject")
    expect(person.see("injector")).to_contain_text("generated tuples")


def grows(person: Person, before: int) -> None:
    """Wait until more tuples than a number are sent, and then some more."""
    expect(person.see("injector")).not_to_have_attribute("data-sent", str(before))
    until(lambda: sent(person) > before + 20)


def total_read(served: Served, run: str) -> int:
    return int(served.get(f"/api/runs/{run}")["read"].get("calls", 0))
