"""Every kind of mistake, in a file of its own, with the exact words that the check finds for it.

After a change of words: ``UPDATE=1 pytest tests/test_mistakes.py``, then read the diff.
"""

import os
from pathlib import Path

import pytest

import boxcars as bx

FOLDER = Path(__file__).parent / "mistakes"
FILES = sorted(path for path in FOLDER.iterdir() if path.suffix != ".txt")


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_mistakes_are_explained(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(FOLDER)
    checked = bx.check_file(path.name)
    text = "".join(f"{problem}\n" for problem in checked.problems)
    assert text, "a mistake must be found"
    expected = path.with_suffix(path.suffix + ".txt")
    if os.environ.get("UPDATE"):
        expected.write_text(text, encoding="utf-8")
    assert text == expected.read_text(encoding="utf-8")


def test_each_file_has_its_words() -> None:
    texts = {path.name.removesuffix(".txt") for path in FOLDER.glob("*.txt")}
    assert texts == {path.name for path in FILES}
