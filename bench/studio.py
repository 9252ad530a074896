"""The studio's page in a real Chromium: load time and frame rate."""

import json
import statistics
import tempfile
from pathlib import Path
from time import perf_counter

from playwright.sync_api import expect

from boxcars.studio.build import build
from tests.studio.page.browser import Person, chromium
from tests.studio.page.networks import NO_HISTORY, chain, fake_run, fake_stats
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


FLOOD = """
window.flood = { told: 0, seconds: 0 };
const Real = window.WebSocket;
window.WebSocket = function (address) {
  if (!address.includes("/watch")) return new Real(address);
  const socket = { readyState: 1, close() {}, send() {} };
  let begun;
  const tell = () => {
    for (let i = 0; i < 50; i++) {
      window.flood.told += 1;
      socket.onmessage({ data: MESSAGE.replaceAll("987654321", window.flood.told) });
    }
    window.flood.seconds = (performance.now() - begun) / 1000;
    if (window.flood.seconds < 4) setTimeout(tell, 5);
  };
  setTimeout(() => {
    begun = performance.now();
    socket.onopen?.(new Event("open"));
    tell();
  }, 100);
  return socket;
};
"""
"""A fake run that sends thousands of statistics per second, from within the page."""


def visit(address: str) -> float:
    """Seconds until the welcome page is visible, in a fresh browser."""
    with chromium(address) as person:
        began = perf_counter()
        person.open()
        expect(person.see("template-high-mobility")).to_be_visible()
        return perf_counter() - began


def load(person: Person) -> float:
    """Seconds until the welcome page is visible, with a warm cache."""
    began = perf_counter()
    person.page.reload()
    expect(person.see("template-high-mobility")).to_be_visible()
    return perf_counter() - began


def frames(person: Person) -> list[float]:
    """Milliseconds between two frames, while the canvas is dragged and zoomed."""
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


def flooded(address: str) -> tuple[float, list[float]]:
    """Updates per second, and milliseconds between two frames while they arrive."""
    message = json.dumps({"type": "stats", "stats": fake_stats(987654321)})
    with chromium(address) as person:
        page = person.page
        page.add_init_script(f"const MESSAGE = {json.dumps(message)};{FLOOD}")
        page.route("**/api/runs", lambda route: route.fulfill(json=[fake_run()]))
        page.route("**/api/runs/busy/history*", lambda route: route.fulfill(json=NO_HISTORY))
        page.route("**/api/runs/busy/injectors", lambda route: route.fulfill(json=[]))
        person.open()
        person.open_template("high-mobility")
        person.click("mode-watch")
        page.evaluate(FRAMES)
        page.wait_for_function("() => window.flood.seconds >= 4")
        told, seconds = page.evaluate("() => [window.flood.told, window.flood.seconds]")
        return told / seconds, sorted(page.evaluate("() => window.frames_")[1:])


def print_frames(what: str, found: list[float]) -> None:
    late = found[int(0.95 * len(found))]
    median = statistics.median(found)
    print(f"{what}: a frame every {median:.0f} ms, 95 % within {late:.0f} ms")


def main() -> None:
    build()
    with tempfile.TemporaryDirectory() as folder:
        served = Served(Path(folder))
        try:
            served.call("PUT", "/api/networks/large.yaml", {"network": chain(BOXES)})
            took = statistics.median(visit(served.url) for _ in range(ROUNDS))
            print(f"first visit: the page loads in {took:.2f} s; target: 2 s")
            with chromium(served.url) as person:
                person.open()
                expect(person.see("template-high-mobility")).to_be_visible()
                took = statistics.median(load(person) for _ in range(ROUNDS))
                print(f"later visit: the page loads in {took:.2f} s, median of {ROUNDS}")
                person.click("gallery-open", "file-large.yaml")
                expect(person.see("check-state")).to_have_text("no problems")
                person.click("fit")
                person.page.wait_for_timeout(500)
                print_frames(f"{BOXES} boxes, dragged and zoomed", frames(person))
            rate, found = flooded(served.url)
            print_frames(f"{rate:,.0f} updates per second", found)
        finally:
            served.close()


if __name__ == "__main__":
    main()
