"""The code blocks of README and docs are tests, and tests that take long run if they are asked for.

``python`` blocks run; a ``yaml`` or ``xml`` block behind ``<!-- file: NAME -->`` becomes that file;
in a ``console`` block each ``$ command`` runs and must print what stands below it. All blocks of a
page share one temporary folder.
"""

import os
import re
import shutil
import subprocess
import sys
import tempfile
from doctest import ELLIPSIS
from pathlib import Path
from typing import Any

import hypothesis
import pytest
from sybil import Document, Example, Region, Sybil
from sybil.parsers.markdown import PythonCodeBlockParser

hypothesis.settings.register_profile("patient", deadline=None)
hypothesis.settings.load_profile("patient")  # a busy machine is no failure

_FILE = re.compile(r"<!-- file: (?P<name>\S+) -->\n+```\w+\n(?P<text>.*?)^```", re.M | re.S)
_CONSOLE = re.compile(r"^```console\n(?P<text>.*?)^```", re.M | re.S)


def _files(document: Document) -> Any:
    for match in _FILE.finditer(document.text):
        yield Region(match.start(), match.start() + 1, (match["name"], match["text"]), _write_file)


def _write_file(example: Example) -> None:
    name, text = example.parsed
    Path(name).write_text(text, encoding="utf-8")


def _consoles(document: Document) -> Any:
    for match in _CONSOLE.finditer(document.text):
        yield Region(match.start(), match.end(), match["text"], _run_console)


def _run_console(example: Example) -> None:
    """Run each command and compare what it prints, ``...`` standing for anything."""
    for block in re.split(r"^\$ ", example.parsed, flags=re.M)[1:]:
        command, _, expected = block.partition("\n")
        done = subprocess.run(
            command,
            shell=True,
            text=True,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            env={**os.environ, "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"},
            check=False,
        )
        wanted = ".*".join(re.escape(part) for part in _tidy(expected).split("..."))
        assert re.fullmatch(wanted, _tidy(done.stdout), re.S), f"$ {command}\n{done.stdout}"


def _tidy(text: str) -> str:
    return "\n".join(line.rstrip() for line in text.splitlines()).strip("\n")


def _enter(namespace: dict[str, Any]) -> None:
    namespace["_home"], namespace["_folder"] = Path.cwd(), tempfile.mkdtemp()
    os.chdir(namespace["_folder"])


def _leave(namespace: dict[str, Any]) -> None:
    os.chdir(namespace["_home"])
    shutil.rmtree(namespace["_folder"])


pytest_collect_file = Sybil(
    parsers=[PythonCodeBlockParser(doctest_optionflags=ELLIPSIS), _files, _consoles],
    patterns=["*.md"],
    excludes=["CHANGELOG.md", ".venv/**"],
    setup=_enter,
    teardown=_leave,
).pytest()

_LEFT_OUT = pytest.StashKey[int]()


def pytest_addoption(parser: pytest.Parser) -> None:
    """``--long``: many crashes and a soak."""
    parser.addoption("--long", action="store_true", help="run the tests marked long, too")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out the long tests unless they are asked for."""
    if config.getoption("--long"):
        return
    long = [item for item in items if item.get_closest_marker("long") is not None]
    items[:] = [item for item in items if item.get_closest_marker("long") is None]
    config.hook.pytest_deselected(items=long)
    _note_left_out(config, len(long))


def _note_left_out(config: pytest.Config, number: int) -> None:
    config.stash[_LEFT_OUT] = number
    if hasattr(config, "workeroutput"):
        config.workeroutput["left_out"] = number


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any) -> None:
    """Hear from a process of several how many tests it left out; all leave out the same."""
    node.config.stash[_LEFT_OUT] = node.workeroutput.get("left_out", 0)


def pytest_terminal_summary(
    terminalreporter: pytest.TerminalReporter, config: pytest.Config
) -> None:
    """Say what was left out, and how to run it."""
    if number := config.stash.get(_LEFT_OUT, 0):
        terminalreporter.write_line(f"long tests left out: {number}; bin/test --long runs them")
