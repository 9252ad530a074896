"""The current folder may be untrusted: its files are data, and never imported."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import boxcars
from tests.attacks.payloads import plain_network

HIDING = ("polars", "pyspark", "pyarrow", "numba", "boxcars")
"""Modules that a file in the folder must not shadow."""
SPRINGS = (
    "import os\nopen(os.environ['SPRUNG'], 'a').write(__name__ + '\\n')\nraise SystemExit(7)\n"
)
COMMAND = "from boxcars.cli import main; main()"


def boxcars_here(folder: Path, *arguments: str) -> tuple[int, str]:
    """The output of a command in a folder, without the folder on its path, as if installed."""
    environment = {**os.environ, "PYTHONPATH": str(Path(boxcars.__file__).parent.parent)}
    environment["SPRUNG"] = str(folder.parent / "sprung")
    done = subprocess.run(
        [sys.executable, "-P", "-c", COMMAND, *arguments],
        cwd=folder,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    return done.returncode, done.stdout


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    found = tmp_path / "downloaded"
    found.mkdir()
    (found / "net.json").write_text(json.dumps(plain_network("price")))
    (found / "calls.csv").write_text("time,price\n1,2.5\n")
    for name in HIDING:
        (found / f"{name}.py").write_text(SPRINGS)
    return found


def test_modules_in_the_folder_of_a_network(folder: Path) -> None:
    """Spark starts its workers in the current folder."""
    code, said = boxcars_here(
        folder, "run", "net.json", "--source=calls=calls.csv", "--sink=twice=out.csv"
    )
    assert not (folder.parent / "sprung").exists(), said
    assert code == 0, said
    assert (folder / "out.csv").read_text().splitlines()[1:] == ["1,2.5"]


def test_a_cache_of_compiled_code(folder: Path) -> None:
    """numba reads settings from a file there, which may name a folder of compiled code."""
    (folder / ".numba_config.yaml").write_text("cache_dir: compiled\n")
    (folder / "compiled").mkdir()
    code, said = boxcars_here(
        folder, "preview", "net.json", "--source=calls=calls.csv", "--sink=twice=out.csv"
    )
    assert code == 0, said
    assert list((folder / "compiled").iterdir()) == []
