"""Each application has a page that describes it."""

from pathlib import Path

import pytest

from boxcars.apps import App, apps

DOCS = Path(__file__).parents[2] / "docs"


@pytest.mark.parametrize("app", apps().values(), ids=lambda app: app.name)
def test_the_page(app: App) -> None:
    text = (DOCS / f"apps/{app.name}.md").read_text(encoding="utf-8")
    parts = ("The question", "How it works", "The data", "Run it", "What it found")
    assert [part for part in parts if f"**{part}.**" not in text] == []
    assert f"![The network](../img/apps/{app.name}.svg)" in text
    assert f"boxcars apps {app.name}" in text
