"""The page of the studio in a real Chromium: how soon it is there, and how fluid it stays."""

import statistics
import tempfile
from pathlib import Path
from time import perf_counter

from playwright.sync_api import expect

from boxcars.studio.build import build
from tests.studio.page.browser import Person, chromium
from tests.studio.page.networks import chain
from tests.studio.server import Served

ROUNDS, BOXES = 7, 300
FRAMES = """() => {
  window.frames_ = [];
  let last = performance.now();
  const look = (now) => {
    window.frames_.push(now - last);
    last = now;
    requestAnimationFrame(look);
  };
  requestAnimationFrame(look);
}"""


def visit(address: str) -> float:
    """Seconds until the welcome is there, in a browser that was never here."""
    with chromium(address) as person:
        began = perf_counter()
        person.open()
        expect(person.see("template-high-mobility")).to_be_visible()
        return perf_counter() - began


def load(person: Person) -> float:
    """Seconds until the welcome is there, in a browser that knows the page."""
    began = perf_counter()
    person.page.reload()
    expect(person.see("template-high-mobility")).to_be_visible()
    return perf_counter() - began


def frames(person: Person) -> list[float]:
    """Milliseconds between two frames, while somebody drags the canvas about and zooms in."""
    person.page.evaluate(FRAMES)
    pane = person.page.locator(".react-flow__pane").bounding_box()
    assert pane is not None
    mouse, x, y = person.page.mouse, pane["x"] + 20, pane["y"] + pane["height"] - 120
    mouse.move(x, y)
    mouse.down()
    for number in range(60):
        mouse.move(x + 6 * number, y - 3 * number)
    mouse.up()
    for _ in range(8):
        mouse.wheel(0, -120)
        person.page.wait_for_timeout(60)
    return sorted(person.page.evaluate("() => window.frames_")[1:])


def main() -> None:
    build()
    with tempfile.TemporaryDirectory() as folder:
        served = Served(Path(folder))
        try:
            served.call("PUT", "/api/networks/large.yaml", {"network": chain(BOXES)})
            took = statistics.median(visit(served.url) for _ in range(ROUNDS))
            print(f"a first visit: the page is there after {took:.2f} s; we want 2 s")
            with chromium(served.url) as person:
                person.open()
                expect(person.see("template-high-mobility")).to_be_visible()
                took = statistics.median(load(person) for _ in range(ROUNDS))
                print(f"a visit: the page is there after {took:.2f} s, median of {ROUNDS}")
                person.click("gallery-open", "file-large.yaml")
                expect(person.see("check-state")).to_have_text("all right")
                person.click("fit")
                person.page.wait_for_timeout(500)
                found = frames(person)
                late = found[int(0.95 * len(found))]
                print(
                    f"{BOXES} boxes, dragged and zoomed: a frame every "
                    f"{statistics.median(found):.0f} ms, 95 of 100 within {late:.0f} ms"
                )
        finally:
            served.close()


if __name__ == "__main__":
    main()
