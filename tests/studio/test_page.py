"""The studio's page in a real Chromium, against a real studio."""

import json
import re
from pathlib import Path

from playwright.sync_api import FilePayload, WebSocketRoute, expect

import boxcars as bx
from boxcars.studio.build import PAGE, make_types
from tests.patience import until
from tests.studio.page.browser import Person
from tests.studio.page.networks import NO_HISTORY, chain, fake_run, fake_stats, high_mobility
from tests.studio.server import Served

FIELDS = (
    "caller: str, callee: str, time: int, duration: int, price: float, "
    "caller_x: float, caller_y: float, callee_x: float, callee_y: float"
)
PAIR = {
    "t1": "first(time)",
    "x1": "first(x)",
    "y1": "first(y)",
    "t2": "last(time)",
    "x2": "last(x)",
    "y2": "last(y)",
}
SPEED = "sqrt(power(x2-x1,2)+power(y2-y1,2))/(t2-t1)"


def test_the_types_are_those_of_the_api(tmp_path: Path) -> None:
    make_types(tmp_path / "schema.ts")
    known = (PAGE / "src" / "api" / "schema.ts").read_text()
    hint = "write them with 'python -m boxcars.studio.build --types'"
    assert (tmp_path / "schema.ts").read_text() == known, hint


def draw_high_mobility(person: Person) -> None:
    """From an empty canvas, with the palette, the mouse and the keyboard."""
    person.start_empty()
    person.write("network-name", "high-mobility")
    person.click("add-input")
    person.rename("calls")
    person.click("schema-as-text")
    person.see("schema-text").fill(FIELDS)
    person.click("schema-done", "mark-time", "add-map")
    person.rename("callers")
    person.add_fields({"phone": "caller", "time": "time", "x": "caller_x", "y": "caller_y"})
    person.click("node-calls", "add-map")
    person.rename("callees")
    person.add_fields({"phone": "callee", "time": "time", "x": "callee_x", "y": "callee_y"})
    person.click("node-callers", "add-union")
    person.rename("both")
    person.connect("callees", "both")
    person.click("node-both", "add-aggregate")
    person.rename("pairs")
    person.see("window-kind").select_option("tuples")
    person.write("window-advance", "1")
    person.click("chip-phone")
    person.add_fields(PAIR)
    person.click("add-map")
    person.rename("speed")
    person.add_fields({"phone": "phone", "time": "t1", "speed": "sqrt(phone)"})


def test_from_an_empty_canvas_to_an_alert(person: Person, served: Served) -> None:
    see = person.see
    draw_high_mobility(person)
    expect(see("alarm-speed")).to_be_visible()
    expect(see("field-problem").filter(has_text="sqrt")).to_be_visible()
    person.write_code("expr-fields-2", SPEED)
    expect(see("alarm-speed")).to_have_count(0)
    person.click("add-filter")
    person.rename("fast")
    person.write_code("expr-where-0", "speed > 5")
    person.click("node-fast", "add-output")
    person.rename("frauds")
    expect(see("check-state")).to_have_text("no problems")
    person.lay_out()

    person.click("mode-preview", "make-up", "preview-step")
    expect(see("preview-position")).to_have_text("10 of 200 tuples")
    person.click("node-pairs")
    expect(see("looking")).to_contain_text("tuples")
    person.click("preview-end")
    expect(see("preview-position")).to_have_text("200 of 200 tuples")
    expect(see("tuples-table").locator("tbody tr").first).to_be_visible()

    person.click("save", "save-confirm")
    expect(see("file")).to_have_text("high-mobility.yaml")
    drawn = bx.load(served.folder / "high-mobility.yaml")
    assert bx.dumps(drawn, "yaml") == bx.dumps(high_mobility("speed > 5"), "yaml")

    person.click("run")
    person.write("feed-rate", "400")
    person.click("start")
    expect(see("run-state")).to_have_text("running", timeout=90_000)
    expect(see("chart-in")).not_to_have_attribute("data-last", "0", timeout=60_000)
    expect(see("result-total")).not_to_have_attribute("data-total", "0", timeout=90_000)
    expect(see("results-table").locator("tbody tr").first).to_be_visible()
    person.write("rate", "4000")
    until(lambda: in_rate(person) >= 1200)

    person.page.reload()
    expect(see("node-fast")).to_be_visible()
    expect(see("file")).to_have_attribute("data-dirty", "false")
    person.click("mode-watch")
    expect(see("run-state")).to_have_text("running")
    look_into_an_arrow(person)
    inject_otherwise(person)
    person.click("stop")
    expect(see("run-state")).to_have_text("stopped", timeout=60_000)


def look_into_an_arrow(person: Person) -> None:
    """Its last tuples, while others flow; and the link to Spark's UI."""
    person.see("arc-speed#0").locator("path").first.dispatch_event("click")
    expect(person.see("arc-table").locator("tbody tr").first).to_be_visible()
    expect(person.see("spark-ui")).to_have_attribute("href", re.compile("^http://"))


def inject_otherwise(person: Person) -> None:
    """Pause the injector, stop it, and start another one."""
    see = person.see
    person.click("pause-injector")
    expect(see("injector")).to_contain_text("now 0/s")
    person.click("stop-injector")
    expect(see("injector")).to_have_count(0)
    see("injector-source").select_option("generator")
    person.see("injector-rate").fill("50")
    person.click("inject")
    expect(see("injector")).to_contain_text("generated tuples")
    expect(see("injector")).not_to_contain_text("now 0/s")


def in_rate(person: Person) -> float:
    return float(person.see("chart-in").get_attribute("data-last") or 0)


def test_drawing(person: Person) -> None:
    """Undo, copy, group, open, ungroup, delete, reroute."""
    see, keys = person.see, person.page.keyboard
    person.open_template("high-mobility")
    person.click("node-speed")
    keys.press("Escape")
    person.click("node-speed")
    see("node-speed").focus()
    keys.press("Control+c")
    keys.press("Control+v")
    expect(see("node-speed2")).to_be_visible()
    keys.press("Control+z")
    expect(see("node-speed2")).to_have_count(0)
    keys.press("Control+y")
    expect(see("node-speed2")).to_be_visible()
    keys.press("Delete")
    expect(see("node-speed2")).to_have_count(0)
    person.click("node-callers")
    see("node-callees").click(modifiers=["Control"])
    see("node-both").click(modifiers=["Control"])
    person.click("group")
    expect(see("node-part")).to_be_visible()
    expect(see("check-state")).to_have_text("no problems")
    see("node-part").dblclick()
    expect(see("node-both")).to_be_visible()
    person.click("crumb-0", "node-part", "ungroup")
    expect(see("node-both")).to_be_visible()
    expect(see("check-state")).to_have_text("no problems")
    keys.press("Escape")
    see("arc--> clones#0").locator("path").first.dispatch_event("click")
    keys.press("Delete")
    expect(see("check-state")).to_have_text("1 problem")
    person.click("dock-problems", "problem")
    person.connect("too-fast", "-> clones")
    expect(see("check-state")).to_have_text("no problems")


def test_the_mouse(person: Person) -> None:
    """Fields on hover, a box dragged onto the canvas and into an arrow, an arrow reconnected."""
    see, page = person.see, person.page
    person.open_template("high-mobility")
    page.wait_for_timeout(500)
    arrow = page.locator('.react-flow__edge[data-id="speed#0"]')
    arrow.hover(force=True)
    expect(see("arc-tooltip")).to_contain_text("seconds")
    see("add-drop").drag_to(see("canvas"), target_position={"x": 300, "y": 500})
    expect(see("node-drop")).to_be_visible()
    page.keyboard.press("Escape")
    person.click("fit")
    page.wait_for_timeout(400)
    person.drag(arrow.locator(".react-flow__edgeupdater-target"), person.handle("drop", "left"))
    expect(page.locator('.react-flow__edge[data-id="drop#0"]')).to_have_count(1)
    expect(arrow).to_have_count(0)
    page.keyboard.press("Control+z")
    expect(arrow).to_have_count(1)
    middle, canvas = arrow.bounding_box(), see("canvas").bounding_box()
    assert middle is not None
    assert canvas is not None
    x = middle["x"] + middle["width"] / 2 - canvas["x"]
    y = middle["y"] + middle["height"] / 2 - canvas["y"]
    see("add-filter").drag_to(see("canvas"), target_position={"x": x, "y": y})
    expect(page.locator('.react-flow__edge[data-id="filter#0"]')).to_have_count(1)
    person.write_code("expr-where-0", "seconds > 0")
    page.wait_for_timeout(800)
    page.reload()
    expect(see("node-filter")).to_be_visible()
    expect(see("file")).to_have_attribute("data-dirty", "true")


def test_plan_and_files(person: Person, served: Served) -> None:
    see = person.see
    person.open_template("high-mobility")
    person.click("mode-plan")
    expect(see("subquery-pairs")).to_be_visible()
    person.write("plan-instances", "3")
    expect(see("subquery-pairs")).to_contain_text("3 instances")
    person.click("plan-file-network.yaml")
    expect(see("plan-text")).to_contain_text("name: high-mobility")
    person.click("write-files")
    expect(see("notice-good")).to_contain_text("high-mobility")
    assert list(served.folder.glob("high-mobility/*"))


def test_regrouped_started_and_changed(person: Person, served: Served) -> None:
    """A regrouped plan is run, and the running network is modified."""
    see = person.see
    person.open_template("high-mobility")
    person.click("mode-plan")
    see("subquery-calls").click(position={"x": 8, "y": 8})
    see("home-both").select_option("pairs")
    see("subquery-pairs").click(position={"x": 8, "y": 8})
    expect(see("home-both")).to_have_value("pairs")
    person.click("plan-start")
    expect(see("run-state")).to_have_text(re.compile("running|waiting"), timeout=90_000)
    (run,) = (r for r in served.get("/api/runs") if r["state"] in ("running", "waiting"))
    assert "--groups" in run["command"]
    person.click("mode-compose", "node-too-fast")
    person.write_code("expr-where-0", "kmh > 500")
    expect(see("check-state")).to_have_text("no problems")
    person.click("mode-watch", "modify")
    expect(see("notice-good")).to_contain_text("continues", timeout=90_000)
    found = served.get(f"/api/runs/{run['id']}")
    assert found["network"]["boxes"]["too-fast"]["where"] == ["kmh > 500"]
    person.click("stop")
    expect(see("run-state")).to_have_text("stopped", timeout=60_000)


def test_tests_and_compare(person: Person) -> None:
    see = person.see
    person.open_template("high-mobility")
    person.click("mode-preview", "make-up", "preview-end", "keep-test", "mode-compose")
    person.click("dock-tests", "run-tests")
    expect(see("notice-good").last).to_contain_text("passed")
    person.click("node-too-fast")
    person.write_code("expr-where-0", "kmh > 1e9")
    expect(see("check-state")).to_have_text("no problems")
    person.click("run-tests")
    expect(see("difference")).to_be_visible()
    person.click("dock-diff")
    expect(see("changes")).to_contain_text("changed box too-fast")


def test_completion(person: Person) -> None:
    person.open_template("high-mobility")
    person.click("node-too-fast")
    person.see("expr-where-0").locator(".cm-content").click()
    person.page.keyboard.press("Control+a")
    person.page.keyboard.type("km")
    expect(person.page.locator(".cm-tooltip-autocomplete")).to_contain_text("kmh")
    person.page.wait_for_timeout(200)  # an Enter that comes at once is for the text
    person.page.keyboard.press("Enter")
    person.page.keyboard.type(" > 1000")
    expect(person.see("check-state")).to_have_text("no problems")


def test_bad_files_and_a_lost_connection(person: Person) -> None:
    see = person.see
    person.open()
    person.click("gallery-open")
    broken = FilePayload(name="broken.yaml", mimeType="text/yaml", buffer=b"name: [\n")
    see("upload").set_input_files(broken)
    expect(see("notice-bad")).to_be_visible()
    picture = FilePayload(name="cat.png", mimeType="image/png", buffer=b"\x89PNG")
    see("upload").set_input_files(picture)
    expect(see("notice-bad").last).to_contain_text("YAML, JSON or XML")
    person.click("dialog-close", "add-input")
    person.page.context.set_offline(True)
    person.click("schema-add")
    expect(see("lost")).to_contain_text("does not respond")
    person.page.context.set_offline(False)
    expect(see("lost")).to_have_count(0)
    expect(see("node-input")).to_be_visible()
    person.complaints.clear()


def test_of_300_boxes_only_those_in_sight_are_drawn(person: Person, served: Served) -> None:
    """``boxcars bench studio`` measures the frame rate."""
    network = chain(300)
    code, _ = served.call("PUT", "/api/networks/large.yaml", {"network": network, "positions": {}})
    assert code == 200
    person.open()
    person.click("gallery-open", "file-large.yaml")
    expect(person.see("check-state")).to_have_text("no problems")
    person.click("fit")
    person.page.wait_for_timeout(500)
    pane = person.page.locator(".react-flow__pane").bounding_box()
    assert pane is not None
    mouse = person.page.mouse
    mouse.move(pane["x"] + pane["width"] / 2, pane["y"] + pane["height"] / 2)
    for _ in range(20):
        mouse.wheel(0, -240)
        person.page.wait_for_timeout(30)
    expect(person.page.locator(".react-flow__node")).not_to_have_count(302)
    assert person.page.locator(".react-flow__node").count() < 100


def test_thousands_of_updates_a_second(person: Person) -> None:
    """A run that sends too many messages: the page draws once per frame, and stays responsive."""
    told = 0

    def flood(socket: WebSocketRoute) -> None:
        nonlocal told
        for _ in range(4):
            for _ in range(500):
                told += 1
                socket.send(json.dumps({"type": "stats", "stats": fake_stats(told)}))

    page = person.page
    page.route("**/api/runs", lambda route: route.fulfill(json=[fake_run()]))
    page.route("**/api/runs/busy/history*", lambda route: route.fulfill(json=NO_HISTORY))
    page.route("**/api/runs/busy/injectors", lambda route: route.fulfill(json=[]))
    page.route_web_socket("**/api/runs/busy/watch*", flood)
    person.open_template("high-mobility")
    person.click("mode-watch")
    expect(person.see("chart-in")).to_have_attribute("data-last", "2000")
    person.click("watch-boxes")
    expect(person.see("boxes-table")).to_contain_text("pairs")
    assert told == 2_000
