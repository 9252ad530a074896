"""Accessibility violations of the page, found by axe-core."""

from __future__ import annotations

from playwright.sync_api import Page

from boxcars.studio.build import PAGE

AXE = PAGE / "node_modules" / "axe-core" / "axe.min.js"
GRAVE = ("serious", "critical")
RUN = """rules => axe.run(document, {
  resultTypes: ["violations"],
  runOnly: rules.length ? rules : ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa"],
})"""


def bring_axe(page: Page) -> None:
    """Load axe-core into every page that is opened."""
    page.add_init_script(path=AXE)


def violations(page: Page, *rules: str) -> list[str]:
    """Serious violations of all or some rules, each with its element and reason."""
    page.evaluate("() => Promise.allSettled(document.getAnimations().map(a => a.finished))")
    found = page.evaluate(RUN, list(rules))["violations"]
    return [
        f"{rule['id']}: {node['target']} {node['failureSummary']}"
        for rule in found
        if rule["impact"] in GRAVE
        for node in rule["nodes"]
    ]
