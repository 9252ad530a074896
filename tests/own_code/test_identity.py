"""The identity of code: it changes if and only if its behavior changes."""

import subprocess
import sys
from pathlib import Path
from textwrap import dedent

import pytest

MODULE = """
import math
LIMIT = 3

def helper(x):
    '''Docs.'''
    return x + LIMIT

def call(x):
    return helper(x) in {"a", "b", "c", 1, 2}

class Base:
    def work(self, x):
        return call(x)

class Thing(Base):
    '''Docs.'''
    parts = {"a": 1}

    @staticmethod
    def other(x):
        return math.sqrt(x)
"""
PRINT = "import {module}; from boxcars.own_code.identity import identity as i; "
PRINT += "print(i({module}.call), i({module}.Thing), i({module}.helper))"


def identities(folder: Path, text: str, module: str = "mine", seed: str = "0") -> list[str]:
    """The identities in a new process, without cached bytecode of the module."""
    (folder / f"{module}.py").write_text(dedent(text))
    program = f"import sys; sys.path.insert(0, {str(folder)!r}); {PRINT.format(module=module)}"
    environment = {"PYTHONHASHSEED": seed, "PYTHONDONTWRITEBYTECODE": "1"}
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True, env=environment
    )
    return done.stdout.split()


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("", ""),
        ("'''Docs.'''", "'''Other docs.'''"),
        ("LIMIT = 3", "\n\n# a comment\nLIMIT = 3"),
        ("def helper(x):", "def unused(x):\n    return x\n\ndef helper(x):"),
    ],
)
def test_what_does_not_matter(tmp_path: Path, before: str, after: str) -> None:
    first = identities(tmp_path, MODULE, seed="1")
    assert identities(tmp_path, MODULE.replace(before, after, 1), seed="2") == first


@pytest.mark.parametrize(
    ("before", "after", "changed"),
    [
        ("LIMIT = 3", "LIMIT = 4", [True, True, True]),
        ("x + LIMIT", "x - LIMIT", [True, True, True]),
        ('"c", 1, 2', '"c", 1', [True, True, False]),
        ('{"a": 1}', '{"a": 2}', [False, True, False]),
        ("math.sqrt", "math.exp", [False, True, False]),
    ],
)
def test_what_matters(tmp_path: Path, before: str, after: str, changed: list[bool]) -> None:
    first = identities(tmp_path, MODULE)
    assert before in MODULE
    second = identities(tmp_path, MODULE.replace(before, after, 1))
    assert [a != b for a, b in zip(first, second, strict=True)] == changed


def test_the_location_of_a_file_does_not_matter(tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    assert identities(tmp_path, MODULE) == identities(tmp_path / "elsewhere", MODULE)
