"""Modules that a network names: in all languages, imported only if code is allowed."""

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import boxcars as bx
from boxcars.model.problem import NetworkError

MODULE = """
import boxcars as bx
from pathlib import Path

Path(__file__).with_name("imported").touch()

@bx.function
def doubled_here(x):
    return x * 2
"""
NETWORK = """
name: own
modules: [rules_of_shop]
inputs:
  rows: {ts: t, fields: {t: int}}
boxes:
  m: {type: map, in: rows, fields: {t: t, y: doubled_here(t)}}
outputs:
  out: {from: m}
"""


@pytest.fixture
def file(tmp_path: Path) -> Iterator[Path]:
    (tmp_path / "rules_of_shop.py").write_text(MODULE)
    (tmp_path / "own.yaml").write_text(NETWORK)
    path = list(sys.path)
    yield tmp_path / "own.yaml"
    sys.modules.pop("rules_of_shop", None)
    sys.path[:] = path


def test_they_are_imported_if_that_is_allowed(file: Path) -> None:
    refused = bx.check_file(file).problems[0]
    assert refused.path == ("modules",)
    assert str(refused).startswith(f"{file}:3: modules: these modules are Python code: allow that")
    with pytest.raises(NetworkError, match="these modules are Python code"):
        bx.load(file)
    assert not (file.parent / "imported").exists()
    net = bx.load(file, code=True)
    assert (file.parent / "imported").exists()
    assert net.modules == ("rules_of_shop",)
    assert bx.preview(net, {"rows": {"t": [4]}})["out"]["y"].to_pylist() == [8]


@pytest.mark.parametrize("suffix", ["yaml", "json", "xml", "py"])
def test_every_language_keeps_them(file: Path, suffix: str) -> None:
    net = bx.load(file, code=True)
    bx.save(net, file.with_suffix(f".{suffix}"))
    assert bx.load(file.with_suffix(f".{suffix}"), code=True) == net
    (change,) = bx.diff(net, bx.loads(NETWORK.replace("modules: [rules_of_shop]\n", ""), code=True))
    assert str(change) == "~ network, modules: [rules_of_shop] -> nothing"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("modules: [no_such_module]", "the module 'no_such_module' can't be imported: ModuleNotF"),
        (
            "modules: ['../evil']",
            "such as fraud.functions, got '../evil'",
        ),
        ("modules: [7]", "expected a Python module, such as fraud.functions, got 7."),
    ],
)
def test_modules_that_can_not_be_imported(text: str, said: str) -> None:
    checked = bx.check_text(NETWORK.replace("modules: [rules_of_shop]", text), code=True)
    assert any(said in str(problem) for problem in checked.problems)
