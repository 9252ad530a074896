"""A virtual environment for each engine, with the versions pinned here; created once.

They are stored in the user's cache, or in the folder that BOXCARS_RACE_CACHE names.
"""

import hashlib
import os
import shutil
import subprocess
import sys
from pathlib import Path

from boxcars.model.problem import BoxcarsError

PINS = {
    "flink": ("apache-flink==2.3.0",),
    "bytewax": ("bytewax==0.21.1", "pyarrow==26.0.1"),
    "pathway": ("pathway==0.33.0",),
}
"""The packages of each engine; the first is the engine itself."""
PYTHON = "3.11"
"""A Python version for which all of them have packages."""


def environment(peer: str) -> Path:
    """The Python of an engine, which is installed if necessary."""
    pins = PINS[peer]
    mark = hashlib.sha256(" ".join((PYTHON, *pins)).encode()).hexdigest()[:8]
    folder = _cache() / f"{peer}-{mark}"
    python = folder / "bin" / "python"
    if (folder / "done").exists():
        return python
    shutil.rmtree(folder, ignore_errors=True)
    for command in _commands(folder, python, pins):
        _do(peer, command)
    (folder / "done").touch()
    return python


def version(peer: str) -> str:
    """The pinned version of an engine.

    >>> version("bytewax")
    '0.21.1'
    """
    return PINS[peer][0].partition("==")[2]


def _cache() -> Path:
    chosen = os.environ.get("BOXCARS_RACE_CACHE")
    return Path(chosen) if chosen else Path.home() / ".cache" / "boxcars" / "race"


def _commands(folder: Path, python: Path, pins: tuple[str, ...]) -> list[list[str]]:
    """The commands that create an environment: with uv if available, which can install Python."""
    if uv := shutil.which("uv"):
        return [
            [uv, "venv", "--quiet", "--python", PYTHON, str(folder)],
            [uv, "pip", "install", "--quiet", "--python", str(python), *pins],
        ]
    base = shutil.which(f"python{PYTHON}") or sys.executable
    install = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    return [[base, "-m", "venv", str(folder)], [str(python), *install, *pins]]


def _do(peer: str, command: list[str]) -> None:
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    except OSError as error:
        raise BoxcarsError(f"{peer} can't be installed: {error.strerror}.") from None
    if done.returncode:
        said = (done.stderr or done.stdout).strip().splitlines() or ["no reason was given"]
        raise BoxcarsError(f"{peer} can't be installed: {said[-1].strip()}")
