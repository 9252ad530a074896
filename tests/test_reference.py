"""Generated files are up to date, and every box has the metadata they are generated from."""

import ast
import inspect
import subprocess
import sys
from pathlib import Path

import pytest

import boxcars as bx
from boxcars.model.box import Box, params
from boxcars.model.methods import Methods

OURS = {n: cls for n, cls in bx.box_types().items() if cls.__module__.startswith("boxcars.boxes.")}
STUB = Path(inspect.getfile(Methods)).with_suffix(".pyi")


def test_generated_files_are_up_to_date() -> None:
    """In a separate process, because other tests register boxes."""
    command = [sys.executable, "-m", "boxcars.cli", "generate", "--check"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize("cls", OURS.values(), ids=OURS)
def test_every_box_is_documented(cls: type[Box]) -> None:
    doc = inspect.getdoc(cls) or ""
    assert doc.splitlines()[0].endswith(".")
    assert "\n>>> " in doc, "an example"
    assert any(line.startswith("Paper: ") for line in doc.splitlines())
    assert len(cls.icon) == 1
    for parameter in params(cls):
        assert parameter.doc.endswith("."), parameter.name


def test_the_stub_has_a_method_for_every_box() -> None:
    tree = ast.parse(STUB.read_text(encoding="utf-8"))
    (methods,) = [node for node in tree.body if isinstance(node, ast.ClassDef)]
    found = {node.name for node in methods.body if isinstance(node, ast.FunctionDef)}
    assert found == {"draw", *(name.replace("-", "_") for name in OURS)}


def test_every_box_has_a_test_file() -> None:
    """Tests mirror the tree: add a file, or list here where the tests of the box are."""
    elsewhere = {"decode": "convert", "encode": "convert"}
    folder = Path(__file__).parent / "boxes"
    files = {name: f"test_{elsewhere.get(name, name).replace('-', '_')}*.py" for name in OURS}
    assert [name for name, pattern in files.items() if not list(folder.glob(pattern))] == []


def test_icons_are_unique() -> None:
    icons = [cls.icon for cls in OURS.values()]
    assert len(set(icons)) == len(icons)
