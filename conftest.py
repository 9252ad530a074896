"""Run the code blocks of README and docs as tests, and select tests by ``--long`` and ``--quick``.

``python`` blocks are executed. A block directly after a line ``**`NAME`**`` is written to the file
NAME. In a ``console`` block each ``$ command`` runs and must print the lines below it. All blocks
of a page share one temporary folder.
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
hypothesis.settings.load_profile("patient")  # a test must not fail because the machine is busy

_FILE = re.compile(r"^\*\*`(?P<name>[\w.-]+)`\*\*\n+```\w+\n(?P<text>.*?)^```", re.M | re.S)
_HIDDEN_FILE = re.compile(r"<!--\s*file:.*")
_CONSOLE = re.compile(r"^```console\n(?P<text>.*?)^```", re.M | re.S)


def _files(document: Document) -> Any:
    if hidden := _HIDDEN_FILE.search(document.text):
        line = document.text.count("\n", 0, hidden.start()) + 1
        raise ValueError(
            f"{document.path}:{line}: '{hidden[0]}' is invisible in the rendered page. "
            "Write the file's name as a line **`NAME`** directly before the block."
        )
    for match in _FILE.finditer(document.text):
        yield Region(match.start(), match.start() + 1, (match["name"], match["text"]), _write_file)


def _write_file(example: Example) -> None:
    name, text = example.parsed
    Path(name).write_text(text, encoding="utf-8")


def _consoles(document: Document) -> Any:
    for match in _CONSOLE.finditer(document.text):
        yield Region(match.start(), match.end(), match["text"], _run_console)


def _run_console(example: Example) -> None:
    """Run each command and compare its output with the page; ``...`` matches anything."""
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

_LEFT_OUT = pytest.StashKey[str]()
_STARTED = frozenset(
    {"spark", "postgres", "person", "page", "served", "victim", "wheel", "installed", "there"}
)
"""Fixtures that start Spark, a browser or a server."""
_SLOW = (
    *("docs", "README.md", "tests/apps", "tests/bench", "tests/engine", "tests/linear_road"),
    *("tests/attacks", "tests/outside", "tests/service", "tests/strangers", "tests/studio"),
    *("tests/commands", "tests/pages", "tests/test_add_a_box.py", "tests/test_examples.py"),
    *("tests/test_first_look.py", "tests/test_reference.py", "tests/test_tutorial.py"),
)
"""Paths of tests that start processes, or that are slow."""


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add ``--long`` (many crashes, a soak) and ``--quick`` (no Spark, browser or servers)."""
    parser.addoption("--long", action="store_true", help="also run the tests marked long")
    parser.addoption(
        "--quick", action="store_true", help="run only tests that stay in this process"
    )


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Deselect long tests without ``--long``, and everything slow with ``--quick``."""
    wanted = [item for item in items if config.getoption("--long") or not _is_long(item)]
    hint = "bin/test --long runs them"
    if config.getoption("--quick"):
        wanted, hint = (
            [item for item in wanted if _is_quick(item)],
            "bin/test runs all except the long ones",
        )
    left = [item for item in items if item not in set(wanted)]
    items[:] = wanted
    config.hook.pytest_deselected(items=left)
    _note_left_out(config, f"left out: {len(left)} tests; {hint}" if left else "")


def _is_long(item: pytest.Item) -> bool:
    return item.get_closest_marker("long") is not None


def _is_quick(item: pytest.Item) -> bool:
    where = item.path.relative_to(item.config.rootpath).as_posix()
    fixtures = set(getattr(item, "fixturenames", ()))
    return not where.startswith(_SLOW) and not fixtures & _STARTED


def _note_left_out(config: pytest.Config, said: str) -> None:
    config.stash[_LEFT_OUT] = said
    if hasattr(config, "workeroutput"):
        config.workeroutput["left_out"] = said


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any) -> None:
    """Copy the deselection note of a pytest-xdist worker; it is the same for all workers."""
    node.config.stash[_LEFT_OUT] = node.workeroutput.get("left_out", "")


def pytest_terminal_summary(
    terminalreporter: pytest.TerminalReporter, config: pytest.Config
) -> None:
    """Report how many tests were deselected, and how to run them."""
    if said := config.stash.get(_LEFT_OUT, ""):
        terminalreporter.write_line(said)
