"""Add a box in one file, as in docs/how-to/add-a-box.md, and find it everywhere."""

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PROGRAM = """
import boxcars as bx
net = bx.Network("n")
calls = net.input("calls", ts="t", fields={"t": "int"})
net.output("out", calls.duplicate(number=3).named("d"))
net.check().or_raise()
assert bx.loads(bx.dumps(net, "yaml"), "yaml") == net
assert bx.loads(bx.dumps(net, "xml"), "xml") == net
assert "duplicate-number" in bx.dumps(net, "xml")
wrong = bx.dumps(net).replace("number: 3", "nmber: 3")
print(*bx.check_text(wrong).problems)
print(bx.preview(net, {"calls": {"t": [1, 2]}})["out"]["t"].to_pylist())
"""


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A copy of the project plus the file of the guide in boxcars/boxes/."""
    for folder in ("boxcars", "docs", "examples"):
        shutil.copytree(
            ROOT / folder, tmp_path / folder, ignore=shutil.ignore_patterns("__pycache__")
        )
    page = (ROOT / "docs/how-to/add-a-box.md").read_text(encoding="utf-8")
    code = re.search(r"\*\*`duplicate.py`\*\*\n+```python\n(.*?)```", page, re.S)
    assert code
    (tmp_path / "boxcars/boxes/duplicate.py").write_text(code[1], encoding="utf-8")
    return tmp_path


def run(checkout: Path, *arguments: str) -> str:
    done = subprocess.run(
        [sys.executable, *arguments],
        cwd=checkout,
        env={"PYTHONPATH": str(checkout)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_the_box_is_everywhere(checkout: Path) -> None:
    said = run(checkout, "-c", PROGRAM).splitlines()
    assert "box 'd', nmber: a duplicate has no 'nmber'. Did you mean 'number'?" in said[0]
    assert "a duplicate needs 'number': number of copies." in said[0]
    assert said[-1] == "[1, 1, 1, 2, 2, 2]"
    assert "duplicate  ⧉ Copy each tuple a number of times." in run(
        checkout, "-m", "boxcars.cli", "boxes"
    )


def test_the_reference_and_the_editor_know_it(checkout: Path) -> None:
    run(checkout, "-m", "boxcars.cli", "generate")
    index = (checkout / "docs/reference/boxes.md").read_text(encoding="utf-8")
    assert "| [`duplicate`](#duplicate) | ⧉ | Copy each tuple a number of times. |" in index
    assert "| `number` | `duplicate-number` | whole number | required | Number of" in index
    stub = (checkout / "boxcars/model/methods.pyi").read_text(encoding="utf-8")
    assert "def duplicate(self, *, number: int) -> Stream:" in stub
