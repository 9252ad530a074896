"""A real Chromium, and a user of the page."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from playwright.sync_api import ConsoleMessage, Locator, Page, Response, expect, sync_playwright

from tests.studio.server import TOKEN

NAMES = ("chromium", "chromium-browser", "google-chrome")
PATIENCE = 120_000
"""Milliseconds until something must be there."""
AT = "name => document.activeElement?.closest(`[data-testid='${name}']`) !== null"
"""Whether the focus of the keyboard is at a part of the page."""


@dataclass
class Person:
    """A user of the page; ``complaints`` are the errors that the browser logged."""

    page: Page
    address: str
    complaints: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.page.set_default_timeout(PATIENCE)
        expect.set_options(timeout=PATIENCE)
        self.page.on("console", self._hear)
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.page.on("response", self._note)

    def _hear(self, message: ConsoleMessage) -> None:
        if message.type == "error" and "Failed to load resource" not in message.text:
            self.complaints.append(message.text)

    def _note(self, answer: Response) -> None:
        if answer.status >= 500:
            self.complaints.append(f"{answer.status} {answer.url}")

    def see(self, name: str) -> Locator:
        """A part of the page, by its test id."""
        return self.page.get_by_test_id(name)

    def click(self, *names: str) -> None:
        for name in names:
            self.see(name).click()

    def open(self) -> None:
        self.page.goto(f"{self.address}/#token={TOKEN}")

    def start_empty(self) -> None:
        self.open()
        self.click("new-network")
        expect(self.see("gallery")).to_have_count(0)

    def open_template(self, name: str) -> None:
        self.open()
        self.click(f"template-{name}")
        expect(self.see("gallery")).to_have_count(0)
        expect(self.see("check-state")).to_have_text("no problems")

    def write(self, name: str, text: str) -> None:
        """Enter a text into a field, and leave the field."""
        self.see(name).fill(text)
        self.see(name).press("Enter")

    def write_code(self, name: str, text: str) -> None:
        """Type a text into an expression editor, key by key."""
        self.see(name).locator(".cm-content").click()
        self.page.keyboard.press("Control+a")
        self.page.keyboard.type(text)
        self.page.keyboard.press("Escape")

    def rename(self, name: str) -> None:
        self.write("entity-name", name)

    def add_fields(self, fields: dict[str, str]) -> None:
        """Add fields to a map or an aggregate, each with its expression."""
        for number, (name, text) in enumerate(fields.items()):
            self.click("add-fields")
            self.write(f"name-fields-{number}", name)
            self.write_code(f"expr-fields-{number}", text)

    def handle(self, node: str, side: str, id: str = "0") -> Locator:
        kind = "source" if side == "right" else "target"
        return self.see(f"node-{node}").locator(f'.react-flow__handle.{kind}[data-handleid="{id}"]')

    def drag(self, start: Locator, end: Locator) -> None:
        """Drag from the centre of one element to the centre of another."""
        mouse = self.page.mouse
        for place, act in ((start, mouse.down), (end, mouse.up)):
            box = place.bounding_box()
            assert box is not None
            mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2, steps=8)
            act()

    def connect(self, source: str, target: str, port: str = "0", index: str = "0") -> None:
        self.page.keyboard.press("Escape")
        self.click("fit")
        self.page.wait_for_timeout(400)
        self.drag(self.handle(source, "right", port), self.handle(target, "left", index))

    def search(self, words: str) -> None:
        """Run a command of the search, with the keyboard."""
        self.page.keyboard.press("Control+k")
        expect(self.see("commands-input")).to_be_focused()
        self.page.keyboard.type(words)
        self.page.keyboard.press("Enter")
        expect(self.see("commands")).to_have_count(0)

    def tab_to(self, name: str, most: int = 80) -> None:
        """Focus a part of the page with the Tab key alone."""
        for _ in range(most):
            if self.page.evaluate(AT, name):
                return
            self.page.keyboard.press("Tab")
        raise AssertionError(f"there is no way to {name} with the Tab key")

    def lay_out(self) -> None:
        self.click("layout")
        self.page.wait_for_timeout(700)


@contextmanager
def chromium(
    address: str,
    *,
    dark: bool = False,
    width: int = 1280,
    height: int = 800,
    trusting: bool = False,
) -> Iterator[Person]:
    """A window of Chromium, which may accept self-signed certificates."""
    found = next(filter(None, map(shutil.which, NAMES)), None)
    assert found, "Chromium is not installed: bin/test installs it"
    with sync_playwright() as play:
        browser = play.chromium.launch(executable_path=found, args=["--no-sandbox"])
        try:
            context = browser.new_context(
                viewport={"width": width, "height": height},
                color_scheme="dark" if dark else "light",
                ignore_https_errors=trusting,
            )
            yield Person(context.new_page(), address)
        finally:
            browser.close()
