"""The folder of compiled kernels, and how a run reports their compilation."""

import os
import stat
import subprocess
import sys
from pathlib import Path
from typing import Any

import numba
import pytest

from boxcars.engine.exec.compile_progress import (
    compiled_so_far,
    forget_compiling,
    reporting_compiling,
)
from boxcars.kernels import compile_cache
from boxcars.kernels.compile_cache import choose_cache, kernels_expected
from boxcars.model.private_folder import private_folder

njit: Any = numba.njit
config: Any = numba.config
WORK = """
import boxcars as bx
from boxcars.engine.exec.compile_progress import reporting_compiling

net = bx.Network("n")
rows = net.input("rows", ts="t", fields={"t": "int", "k": "str", "x": "float"})
counts = rows.aggregate(bx.time(10, advance=5), by="k", n="count()", s="sum(x)", m="max(x)")
net.output("out", counts)
data = {"t": list(range(100)), "k": ["a", "b"] * 50, "x": [1.0] * 100}
with reporting_compiling("."):
    bx.preview(net, {"rows": data})
"""


def test_kernels_are_counted_while_they_are_compiled(tmp_path: Path) -> None:
    """A new installation compiles some kernels, the next run none."""
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path / "cache")}
    found = []
    for _ in range(2):
        subprocess.run([sys.executable, "-c", WORK], cwd=tmp_path, env=environment, check=True)
        found.append(compiled_so_far(tmp_path))
        forget_compiling(tmp_path)
    about = kernels_expected(["aggregate"])
    assert found[1] == 0 < found[0] <= 2 * about
    assert [path.name for path in tmp_path.iterdir()] == ["cache"]


def test_a_kernel_counts_once_with_all_that_it_calls(tmp_path: Path) -> None:
    @njit
    def inner(x):
        return x + 1

    @njit
    def outer(x):
        return inner(x) * 2

    before = compile_cache._Counter.number
    with reporting_compiling(str(tmp_path)):
        outer(1)
    assert compiled_so_far(tmp_path) == before + 1


def test_reporting_failures_are_ignored(tmp_path: Path) -> None:
    @njit
    def another(x):
        return x - 1

    with reporting_compiling(str(tmp_path / "no" / "folder")):
        assert another(3) == 2


@pytest.fixture
def nowhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An installation, a home and a user where only temporary files are writable."""
    monkeypatch.setattr(config, "CACHE_DIR", "")
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    monkeypatch.setattr(compile_cache, "_writable", lambda _: False)
    return tmp_path


def test_where_nothing_is_writable(nowhere: Path) -> None:
    choose_cache()
    assert Path(config.CACHE_DIR) == nowhere / f"boxcars-kernels-{os.getuid()}"
    assert stat.S_IMODE(Path(config.CACHE_DIR).stat().st_mode) == 0o700


def test_where_something_is_writable_numba_finds_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(config, "CACHE_DIR", "")
    choose_cache(tmp_path)
    assert config.CACHE_DIR == ""


@pytest.mark.parametrize("prepared", ["open", "a link"])
def test_a_cache_folder_of_another_user_is_rejected(nowhere: Path, prepared: str) -> None:
    """Code is loaded from there, so the folder must belong to the user."""
    name = nowhere / f"boxcars-kernels-{os.getuid()}"
    if prepared == "open":
        name.mkdir()
        name.chmod(0o777)
    else:
        (nowhere / "elsewhere").mkdir(mode=0o777)
        name.symlink_to(nowhere / "elsewhere")
    found = private_folder("boxcars-kernels")
    assert found != name
    assert stat.S_IMODE(found.stat().st_mode) == 0o700
