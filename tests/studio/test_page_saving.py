"""No silent data loss: two tabs with one file, overwriting a file, leaving."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Dialog, expect

import boxcars as bx
from boxcars.studio.runs.launch import prepare
from boxcars.studio.runs.records import Record
from boxcars.studio.wire.run_messages import AskRun
from tests.patience import until
from tests.studio.page.browser import Person
from tests.studio.server import Served
from tests.studio.test_networks import CHEAP


def keep_file(served: Served, file: str) -> None:
    """Save a network in the studio's folder."""
    code, found = served.call("PUT", f"/api/networks/{file}", {"network": CHEAP})
    assert code == 200, found


def where_of(served: Served, file: str) -> str:
    """The predicate in a file."""
    network = served.get(f"/api/networks/{file}")["network"]
    return str(network["boxes"]["few"]["where"][0])


def open_file(person: Person, file: str) -> None:
    person.open()
    person.click("gallery-open", f"file-{file}")
    expect(person.see("node-few")).to_be_visible()


def draw(person: Person, where: str) -> None:
    """Change the predicate."""
    person.click("node-few")
    person.write_code("expr-where-0", where)
    expect(person.see("file")).to_have_attribute("data-dirty", "true")
    expect(person.see("check-state")).to_have_text("no problems")


@pytest.fixture
def other(person: Person) -> Person:
    """The same user, in another tab."""
    return Person(person.page.context.new_page(), person.address, person.complaints)


def test_two_tabs_with_one_file(person: Person, other: Person, served: Served) -> None:
    """The second save asks: compare, save anyway, or reload."""
    keep_file(served, "shared.yaml")
    for tab in (person, other):
        open_file(tab, "shared.yaml")
    draw(person, "price < 2")
    person.click("save")
    expect(person.see("notice-good")).to_contain_text("Saved")
    draw(other, "price < 3")
    other.click("save")
    expect(other.see("ask")).to_contain_text("shared.yaml has changed since you opened it")
    assert where_of(served, "shared.yaml") == "price < 2"
    other.click("ask-compare")
    expect(other.see("diff-old")).to_have_value("shared.yaml")
    expect(other.see("changes")).to_contain_text("price < 2")
    expect(other.see("changes")).to_contain_text("price < 3")
    other.click("dialog-close", "save", "ask-stay")
    expect(other.see("file")).to_have_attribute("data-dirty", "true")
    assert where_of(served, "shared.yaml") == "price < 2"
    other.click("save", "ask-save")
    expect(other.see("file")).to_have_attribute("data-dirty", "false")
    assert where_of(served, "shared.yaml") == "price < 3"
    draw(person, "price < 4")
    person.page.keyboard.press("Control+s")
    person.click("ask-reload")
    expect(person.see("file")).to_have_attribute("data-dirty", "false")
    expect(person.see("expr-where-0")).to_contain_text("price < 3")
    person.click("undo")
    expect(person.see("expr-where-0")).to_contain_text("price < 4")
    person.click("save")
    expect(person.see("file")).to_have_attribute("data-dirty", "false")
    assert where_of(served, "shared.yaml") == "price < 4"


def test_tests_that_two_tabs_write(person: Person, other: Person, served: Served) -> None:
    """Tests are saved automatically, so they ask separately, and both versions can be kept."""
    keep_file(served, "proved.yaml")
    for tab in (person, other):
        open_file(tab, "proved.yaml")
        tab.click("dock-tests")
    for tab, name in ((person, "mine"), (other, "theirs")):
        tab.click("add-test")
        tab.write("name-of-test", name)
        if tab is person:
            until(lambda: names_of_tests(served, "proved.yaml") == ["mine"])
    expect(other.see("ask")).to_contain_text("The tests of proved.yaml were changed elsewhere")
    other.click("ask-both")
    until(lambda: names_of_tests(served, "proved.yaml") == ["mine", "theirs"])


def names_of_tests(served: Served, file: str) -> list[str]:
    return [test["name"] for test in served.get(f"/api/networks/{file}/tests")["tests"]]


def test_a_drawing_that_is_saved_twice_in_a_row(person: Person, served: Served) -> None:
    """The second save uses the version written by the first."""
    keep_file(served, "twice.yaml")
    open_file(person, "twice.yaml")
    draw(person, "price < 8")
    person.page.keyboard.press("Control+s")
    person.page.keyboard.press("Control+s")
    expect(person.see("file")).to_have_attribute("data-dirty", "false")
    draw(person, "price < 9")
    person.page.keyboard.press("Control+s")
    expect(person.see("file")).to_have_attribute("data-dirty", "false")
    expect(person.see("ask")).to_have_count(0)
    assert where_of(served, "twice.yaml") == "price < 9"


def test_a_drawing_that_gets_a_file_keeps_its_runs(tmp_path: Path) -> None:
    """Also in the next tab, which only knows the file: its runs can be modified."""
    served = Served(tmp_path)
    try:
        asked = AskRun(network=CHEAP, document="drawing 7")
        record = Record.new(prepare(asked, served.studio.workspace, code=False))
        folder = served.studio.workspace.runs / record.id
        folder.mkdir(parents=True)
        record.save(folder)
        body = {"network": CHEAP, "over": "", "document": "drawing 7"}
        assert served.call("PUT", "/api/networks/named.yaml", body)[0] == 200
        (run,) = served.get("/api/runs")
        assert (run["id"], run["document"]) == (record.id, "named.yaml")
    finally:
        served.close()


def test_saving_over_another_network(person: Person, served: Served) -> None:
    keep_file(served, "taken.yaml")
    person.open_template("high-mobility")
    person.click("save")
    person.see("save-name").fill("taken")
    person.click("save-confirm")
    expect(person.see("ask")).to_contain_text("with the network cheap")
    person.click("ask-stay")
    expect(person.see("save-dialog")).to_be_visible()
    assert bx.load(served.folder / "taken.yaml").name == "cheap"
    person.click("save-confirm", "ask-save")
    expect(person.see("file")).to_have_text("taken.yaml")
    assert bx.load(served.folder / "taken.yaml").name == "high-mobility"


def refuse(person: Person) -> list[str]:
    """Dismiss all browser dialogs, and collect their types."""
    asked: list[str] = []

    def stay(dialog: Dialog) -> None:
        asked.append(dialog.type)
        dialog.dismiss()

    person.page.on("dialog", stay)
    return asked


def test_closing_with_unsaved_work(person: Person, other: Person, served: Served) -> None:
    """The browser asks only if there is something to lose."""
    other.open_template("high-mobility")
    other.click("node-speed")
    with other.page.expect_event("close"):
        other.page.close(run_before_unload=True)
    keep_file(served, "left.yaml")
    open_file(person, "left.yaml")
    asked = refuse(person)
    draw(person, "price < 5")
    with person.page.expect_event("dialog"):
        person.page.close(run_before_unload=True)
    assert asked == ["beforeunload"]
    expect(person.see("node-few")).to_be_visible()
    person.click("save")
    expect(person.see("file")).to_have_attribute("data-dirty", "false")
    with person.page.expect_event("close"):
        person.page.close(run_before_unload=True)
    assert asked == ["beforeunload"]


def search_new(person: Person) -> None:
    person.page.keyboard.press("Escape")
    person.search("New network")


def choose_template(person: Person) -> None:
    person.click("brand", "template-high-mobility")


@pytest.mark.parametrize("leave", [search_new, choose_template])
def test_leaving_for_another_drawing(
    person: Person, served: Served, leave: Callable[[Person], None]
) -> None:
    keep_file(served, "here.yaml")
    open_file(person, "here.yaml")
    draw(person, "price < 6")
    leave(person)
    expect(person.see("ask")).to_contain_text("unsaved changes")
    expect(person.see("ask-stay")).to_be_focused()
    person.page.keyboard.press("Escape")
    expect(person.see("file")).to_have_text("here.yaml")
    if person.see("gallery").count():
        person.click("dialog-close")
    leave(person)
    person.click("ask-save")
    expect(person.see("file")).to_have_text("not saved")
    assert where_of(served, "here.yaml") == "price < 6"


def test_versions_of_a_file(served: Served) -> None:
    """For API clients too: a stale version is refused, and no version overwrites."""
    body = {"network": CHEAP}
    first = served.call("PUT", "/api/networks/v.yaml", body | {"over": ""})[1]["version"]
    assert served.get("/api/networks/v.yaml")["version"] == first
    refused = served.refused("PUT", "/api/networks/v.yaml", body | {"over": ""})
    assert refused == (409, "v.yaml: the file already exists.")
    moved = body | {"positions": {"few": [8, 8]}, "over": first}
    second = served.call("PUT", "/api/networks/v.yaml", moved)[1]["version"]
    assert second != first
    refused = served.refused("PUT", "/api/networks/v.yaml", body | {"over": first})
    assert refused == (409, "v.yaml: it has changed since it was opened.")
    assert served.call("PUT", "/api/networks/v.yaml", body)[0] == 200
    served.call("DELETE", "/api/networks/v.yaml")
    assert served.call("PUT", "/api/networks/v.yaml", body | {"over": second})[0] == 200
