"""Who may import whom. Data flows one way, and so do imports."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

import boxcars

ROOT = Path(boxcars.__file__).parent
MODULES = sorted(path for path in ROOT.rglob("*.py") if "node_modules" not in path.parts)
EVERYBODY = {path.stem if path.is_file() else path.name for path in ROOT.iterdir()}

ABOVE = {"cli", "commands", "reference", "studio"}
ALLOWED = {
    "model": {"model"},
    "expr": {"model", "expr"},
    "sql": {"model", "expr", "sql"},
    "kernels": {"model", "expr", "sql", "kernels"},
    "boxes": {"model", "expr", "sql", "kernels", "connectors", "boxes"},
    "own_code": {"model", "expr", "kernels", "connectors", "own_code"},
    "connectors": {"model", "expr", "sql", "connectors"},
    "tables": {"model", "expr", "sql", "connectors", "tables"},
    "inject": {"model", "connectors", "inject"},
    "plan": {"model", "kernels", "plan"},
    "draw": {"model", "plan", "draw"},
    "lang": {"model", "expr", "sql", "kernels", "connectors", "lang"},
    "compiler": {"model", "expr", "plan", "lang", "compiler"},
    "engine": {
        "model",
        "expr",
        "sql",
        "kernels",
        "connectors",
        "tables",
        "own_code",
        "plan",
        "engine",
    },
    "testing": EVERYBODY - ABOVE,
    "service": {"model", "connectors", "engine", "inject", "service"},
    "apps": EVERYBODY - ABOVE - {"pages", "linear_road"},
    "linear_road": EVERYBODY - ABOVE - {"pages"},
    "pages": EVERYBODY - ABOVE,
    "doctor": {"model", "engine", "doctor"},
    "studio": EVERYBODY - {"cli", "reference"},
    "reference": EVERYBODY - {"engine", "cli", "studio"},
    "__init__": EVERYBODY - {"cli", "reference", "pages", "apps", "linear_road", "studio"},
    "commands": EVERYBODY - {"cli", "reference", "pages"},
    "cli": EVERYBODY,
}


def part(path: Path) -> str:
    """The part of the house that a module belongs to."""
    first = path.relative_to(ROOT).parts[0]
    return first.removesuffix(".py")


def imports(path: Path) -> Iterator[str]:
    """The parts that a module imports, also inside of functions."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom):
            assert node.level == 0, "imports are absolute"
            names = [f"{node.module}.{alias.name}" for alias in node.names]
        elif isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        else:
            continue
        for name in names:
            root, _, rest = name.partition(".")
            if root == "boxcars":
                yield rest.partition(".")[0] or "__init__"


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(ROOT)))
def test_imports(path: Path) -> None:
    own = part(path)
    assert own in ALLOWED, f"say in ALLOWED what {own} may import"
    assert set(imports(path)) <= ALLOWED[own]


def test_imports_are_found() -> None:
    assert set(imports(ROOT / "cli.py")) >= {"__init__", "connectors", "draw", "model", "reference"}
    assert set(imports(ROOT / "boxes/map.py")) == {"expr", "kernels", "model"}


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(ROOT)))
def test_a_module_is_read_in_one_go(path: Path) -> None:
    assert len(path.read_text(encoding="utf-8").splitlines()) <= 400


def test_nobody_is_forgotten() -> None:
    assert {part(path) for path in MODULES} == set(ALLOWED)
