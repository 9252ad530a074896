"""Every built-in connector documents its guarantees, and has a page."""

from pathlib import Path

import pytest

from boxcars.connectors.systems.connector import Connector, connectors

OURS = [cls for cls in connectors() if cls.__module__.startswith("boxcars.connectors.systems.")]


@pytest.mark.parametrize("cls", OURS, ids=lambda cls: cls.scheme)
def test_its_documentation(cls: type[Connector]) -> None:
    assert cls.title
    assert cls.guarantee_in or cls.guarantee_out
    name = cls.__module__.rpartition(".")[2]
    assert cls.tested
    page = Path(__file__).parents[3] / "docs/connectors" / f"{name}.md"
    assert "## Guarantees" in page.read_text(encoding="utf-8")
    assert (Path(__file__).parent / f"test_{name}.py").exists()
