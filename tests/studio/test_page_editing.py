"""Editing on the page: breakpoints, superboxes, files in all languages."""

import json
from dataclasses import replace
from typing import Any

import yaml
from playwright.sync_api import FilePayload, expect
from typer.testing import CliRunner

import boxcars as bx
from boxcars.apps.high_mobility import build as high_mobility
from boxcars.cli import app as boxcars
from tests.patience import until
from tests.studio.page.browser import Person
from tests.studio.server import Served


def click_arc(person: Person, id: str) -> None:
    """Arrows are thin: it is enough that the click arrives."""
    person.see(f"arc-{id}").locator("path").first.dispatch_event("click")


def plain(served: Served, file: str) -> Any:
    return yaml.safe_load((served.folder / file).read_text())


def save_as(person: Person, stem: str, ending: str = "yaml") -> None:
    person.page.keyboard.press("Escape")
    person.search("Save as")
    person.see("save-name").fill(stem)
    person.click(f"save-format-{ending}", "save-confirm")
    expect(person.see("file")).to_have_text(f"{stem}.{ending}")


def test_the_step_debugger(person: Person) -> None:
    """Two breakpoints, one with a condition; the first one reached stops. Then back and forth."""
    see = person.see
    person.open_template("high-mobility")
    person.click("mode-preview")
    rows = ["caller,callee,time,duration,price,caller_x,caller_y,callee_x,callee_y"]
    rows += [f"ann,bob,{1000 + 100 * n},60,1.0,{0.1 * n},0,0,0" for n in range(6)]
    see("data-calls").fill("\n".join([*rows, "ann,eve,1600,60,1.0,7000,0,0,0"]))
    expect(see("preview-until")).to_be_disabled()
    click_arc(person, "-> clones#0")
    person.click("breakpoint")
    click_arc(person, "speed#0")
    person.click("breakpoint")
    person.write_code("stop-where", "x2 >= 0.3")
    person.click("preview-until")
    expect(see("notice-plain").last).to_contain_text("a tuple reached pairs")
    expect(see("preview-position")).to_have_text("4 of 7 tuples")
    person.click("breakpoint")
    expect(see("stop-where")).to_have_count(0)
    person.click("preview-until")
    expect(see("notice-plain").last).to_contain_text("a tuple reached too-fast")
    expect(see("preview-position")).to_have_text("7 of 7 tuples")
    expect(see("node--> clones")).to_contain_text("1 tuple")
    person.click("preview-back")
    expect(see("preview-position")).to_have_text("4 of 7 tuples")
    expect(see("node--> clones")).to_contain_text("0 tuples")
    person.click("node-pairs")
    expect(see("state-tuples")).to_contain_text("ann")


def test_connection_points(person: Person, served: Served) -> None:
    see = person.see
    person.open_template("high-mobility")
    click_arc(person, "too-fast#0")
    person.click("add-point")
    person.write("point-name", "speeds")
    person.write("point-tuples", "50")
    expect(see("check-state")).to_have_text("no problems")
    expect(see("arc-too-fast#0")).to_contain_text("speeds")
    save_as(person, "pointed")
    points = plain(served, "pointed.yaml")["connection_points"]
    assert points == {"speeds": {"arc": "speed", "tuples": 50}}


def test_the_clock_of_an_input(person: Person, served: Served) -> None:
    """The wall clock, and arrival times; the check and the file follow."""
    see = person.see
    person.open_template("high-mobility")
    (name,) = high_mobility().inputs
    before = high_mobility().inputs[name]
    person.click(f"node-{name}")
    see("input-clock").select_option("wall")
    expect(see("check-state")).to_have_text("no problems")
    save_as(person, "walled")
    assert bx.load(served.folder / "walled.yaml").inputs[name] == replace(before, clock="wall")
    person.click(f"node-{name}")
    see("input-clock").select_option("arrival")
    expect(see(f"node-{name}")).to_contain_text("by arrival")
    see("input-clock").select_option("event")
    expect(see("check-state")).to_have_text("no problems")
    save_as(person, "again")
    assert bx.load(served.folder / "again.yaml").inputs[name] == before


def test_parameters_of_a_superbox(person: Person, served: Served) -> None:
    """A box becomes a superbox, its limit a parameter; two uses have different limits."""
    see, keys = person.see, person.page.keyboard
    person.open_template("high-mobility")
    person.click("node-too-fast", "group")
    expect(see("node-part")).to_be_visible()
    see("node-part").dblclick()
    person.click("add-param")
    person.write("param-name-0", "limit")
    person.write("param-default-0", "900")
    person.click("node-too-fast")
    person.write_code("expr-where-0", "kmh > $limit")
    person.click("crumb-0")
    expect(see("check-state")).to_have_text("no problems")
    person.click("node-part")
    keys.press("Control+c")
    keys.press("Control+v")
    expect(see("node-part2")).to_be_visible()
    person.write("number-limit", "100")
    keys.press("Escape")
    person.click("add-output")
    person.rename("fast")
    second = see("read-0").locator("option", has_text="part2").first
    see("read-0").select_option(second.get_attribute("value"))
    expect(see("check-state")).to_have_text("no problems")
    save_as(person, "limits")
    net = plain(served, "limits.yaml")
    (superbox,) = net["superboxes"].values()
    assert superbox["params"] == {"limit": 900}
    assert superbox["boxes"]["too-fast"]["where"] == ["kmh > $limit"]
    assert (net["boxes"]["part2"]["limit"], "limit" in net["boxes"]["part"]) == (100, False)
    bx.load(served.folder / "limits.yaml").check().or_raise()


def test_files_in_all_languages(person: Person, served: Served) -> None:
    """Saved as XML, opened, saved as JSON, downloaded and uploaded again."""
    see = person.see
    person.open_template("feed-monitor")
    save_as(person, "feeds")
    drawn = bx.dumps(bx.load(served.folder / "feeds.yaml"), "yaml")
    for ending in ("xml", "json"):
        save_as(person, "feeds", ending)
        person.search("New network")
        person.click("open", f"file-feeds.{ending}")
        expect(see("file")).to_have_text(f"feeds.{ending}")
        expect(see("check-state")).to_have_text("no problems")
        assert bx.dumps(bx.load(served.folder / f"feeds.{ending}"), "yaml") == drawn
    person.search("Save as")
    with person.page.expect_download() as taken:
        person.click("download-json")
    text = taken.value.path().read_text()
    assert bx.dumps(bx.loads(text, "json"), "yaml") == drawn
    changed = json.loads(text)
    name = next(iter(changed["outputs"]))
    changed["outputs"]["alias"] = changed["outputs"].pop(name)
    person.click("dialog-close", "open")
    other = json.dumps(changed).encode()
    upload = FilePayload(name="other.json", mimeType="application/json", buffer=other)
    see("upload").set_input_files(upload)
    expect(see("node--> alias")).to_be_visible()
    expect(see("file")).to_have_text("not saved")
    person.click("dock-diff")
    see("diff-old").select_option("feeds.xml")
    expect(see("changes")).to_contain_text("added output alias")
    expect(see("changes")).to_contain_text(f"removed output {name}")
    dialog = see("diff-dialog")
    expect(dialog.locator(".box.added").get_by_text("alias")).to_be_visible()
    expect(dialog.locator(".box.removed").get_by_text(name)).to_be_visible()


def test_tests_are_kept_beside_the_network(person: Person, served: Served) -> None:
    """A test that is typed in fails, is fixed, and also runs on the command line."""
    see = person.see
    person.open_template("high-mobility")
    person.click("dock-tests", "add-test")
    head = "caller,callee,time,duration,price,caller_x,caller_y,callee_x,callee_y\n"
    see("given-calls").fill(f"{head}ann,bob,0,60,1.0,0,0,0,0\nann,bob,600,60,1.0,7000,0,0,0")
    see("expect-clones").fill("phone\nbob")
    person.click("run-tests")
    expect(see("difference")).to_contain_text("ann")
    see("expect-clones").fill("phone\nann")
    person.click("run-tests")
    expect(see("notice-good").last).to_contain_text("passed")
    save_as(person, "tested")
    file = served.folder / "tested.tests.yaml"
    until(lambda: file.exists() and "ann" in file.read_text())
    done = CliRunner().invoke(boxcars, ["test", str(served.folder / "tested.yaml")])
    assert (done.exit_code, done.output.split()[:2]) == (0, ["ok", "test"])
