"""The screenshots of the studio in the docs: ``bin/screenshots`` writes them.

Each shows the real page in Chromium; the run is a real one, on Spark.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from playwright.sync_api import expect

from tests.studio.page.browser import Person, chromium
from tests.studio.server import Served


def compose(person: Person, shoot: _Shoot) -> None:
    """The welcome, a drawing, an error, the file as text, a comparison."""
    see = person.see
    person.open()
    expect(see("template-high-mobility")).to_be_visible()
    shoot("welcome")
    person.open_template("high-mobility")
    person.page.wait_for_timeout(800)
    person.click("node-pairs")
    person.page.wait_for_timeout(500)
    shoot("compose")
    person.click("node-speed")
    person.write_code("expr-fields-2", "round(3600 * distance(x1, y1, x2, phone) / seconds)")
    expect(see("alarm-speed")).to_be_visible()
    person.click("dock-problems")
    person.page.wait_for_timeout(500)
    shoot("check")
    person.write_code("expr-fields-2", "round(3600 * distance(x1, y1, x2, y2) / seconds) / 2")
    expect(see("check-state")).to_have_text("no problems")
    person.page.keyboard.press("Escape")
    person.click("dock-diff")
    expect(see("changes")).to_contain_text("speed")
    person.page.wait_for_timeout(800)
    shoot("diff")


def preview(person: Person, shoot: _Shoot) -> None:
    """Halfway through sample data, with the content of a window."""
    person.open_template("high-mobility")
    person.click("mode-preview", "make-up")
    person.see("preview-train").fill("100")
    person.click("preview-step")
    expect(person.see("preview-position")).to_have_text("100 of 200 tuples")
    person.click("preview-step")
    expect(person.see("preview-position")).to_have_text("200 of 200 tuples")
    person.click("node-pairs")
    person.page.wait_for_timeout(700)
    shoot("preview")


def plan(person: Person, shoot: _Shoot) -> None:
    """Subqueries as frames, and one of them."""
    person.open_template("high-mobility")
    person.click("mode-plan")
    expect(person.see("subquery-pairs")).to_be_visible()
    person.see("subquery-pairs").click(position={"x": 30, "y": 12})
    person.page.wait_for_timeout(700)
    shoot("plan")


def start(person: Person, shoot: _Shoot) -> None:
    """The start dialog, and a run."""
    person.open_template("high-mobility")
    person.click("run")
    person.write("feed-rate", "2000")
    person.page.wait_for_timeout(300)
    shoot("start")
    person.click("start")
    expect(person.see("result-total")).not_to_have_attribute("data-total", "0", timeout=120_000)
    person.page.wait_for_timeout(15_000)
    person.write("rate", "6000")
    person.page.wait_for_timeout(15_000)
    shoot("watch")


def watch(person: Person, shoot: _Shoot) -> None:
    """The run again: one of its boxes, in the dark theme."""
    person.open_template("high-mobility")
    person.click("mode-watch")
    person.page.wait_for_timeout(2_000)
    person.click("node-pairs")
    person.page.wait_for_timeout(3_000)
    shoot("watch-dark")
    person.click("stop")
    expect(person.see("run-state")).to_have_text("stopped", timeout=60_000)


class _Shoot:
    def __init__(self, person: Person, folder: Path) -> None:
        self._person, self._folder = person, folder

    def __call__(self, name: str) -> None:
        path = self._folder / f"studio-{name}.png"
        self._person.page.mouse.move(700, 60)
        self._person.page.screenshot(path=path)
        print(path)


def main(folder: Path, *names: str) -> None:
    """Write the screenshots of some scenes, or of all, to a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    scenes = {compose: False, preview: False, plan: False, start: False, watch: True}
    scenes = {s: dark for s, dark in scenes.items() if not names or s.__name__ in names}
    with tempfile.TemporaryDirectory() as home:
        served = Served(Path(home))
        try:
            for scene, dark in scenes.items():
                with chromium(served.url, dark=dark, width=1440, height=900) as person:
                    scene(person, _Shoot(person, folder))
        finally:
            served.close()


if __name__ == "__main__":
    main(Path(sys.argv[1]), *sys.argv[2:])
