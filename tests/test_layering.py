"""Who may import whom, by bin/graph and the positive lists in bin/layers.toml."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

import boxcars

ROOT = Path(boxcars.__file__).parent
HOME = ROOT.parent
MODULES = sorted(path for path in ROOT.rglob("*.py") if "node_modules" not in path.parts)
PAGE = HOME / "docs/explanation/architecture.md"


def graph(*words: str | Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, HOME / "bin/graph", *words]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_rooms_import_what_they_may() -> None:
    done = graph("--check")
    assert done.returncode == 0, done.stdout


@pytest.fixture
def copied(tmp_path: Path) -> Path:
    for path in MODULES:
        copy = tmp_path / path.relative_to(HOME)
        copy.parent.mkdir(parents=True, exist_ok=True)
        copy.write_text(path.read_text(encoding="utf-8"), encoding="utf-8")
    return tmp_path


def test_another_import_is_found(copied: Path) -> None:
    """Also one inside of a function, one that is allowed for nothing, and a cycle."""
    with (copied / "boxcars/model/order.py").open("a") as file:
        file.write("\n\ndef late():\n    from boxcars.engine.flow import stepper\n")
    (copied / "boxcars/testing/split_invariance.py").write_text("")
    done = graph("--check", "--home", copied)
    assert done.returncode == 1
    said = done.stdout
    assert "model imports engine.flow, which bin/layers.toml does not list" in said
    assert "bin/layers.toml lists engine for testing, which does not import it" in said
    assert re.search(r"a cycle: .*model -> engine.flow", said)


def test_a_cycle_of_modules_in_one_package_is_found(copied: Path) -> None:
    """Also through an import inside of a function; not through one for types."""
    with (copied / "boxcars/model/types.py").open("a") as file:
        file.write("\n\ndef late():\n    from boxcars.model import schema\n")
    with (copied / "boxcars/model/timestamps.py").open("a") as file:
        file.write("\n\nif TYPE_CHECKING:\n    from boxcars.model import order\n")
    done = graph("--check", "--home", copied)
    assert done.returncode == 1
    assert done.stdout.startswith("a cycle: ")
    assert "model.types" in done.stdout
    assert "model.timestamps" not in done.stdout


def test_the_picture_is_that_of_the_source(tmp_path: Path) -> None:
    graph("--draw", tmp_path / "house.svg")
    kept = HOME / "docs/img/house.svg"
    assert (tmp_path / "house.svg").read_text() == kept.read_text(), "run bin/graph --draw"


def test_the_map_names_what_is_there() -> None:
    named = re.findall(r"`([a-z_]+/[a-z_/]*(?:\.py)?)`", PAGE.read_text(encoding="utf-8"))
    assert len(named) > 20
    for name in named:
        assert (ROOT / name).exists(), name


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(ROOT)))
def test_a_module_is_read_in_one_go(path: Path) -> None:
    assert len(path.read_text(encoding="utf-8").splitlines()) <= 400
