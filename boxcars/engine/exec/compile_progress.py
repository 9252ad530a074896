"""How far the kernels of a run are compiled: workers write it down, the driver looks."""

from __future__ import annotations

import os
import shutil
import socket
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from boxcars.kernels.compile_cache import told_of_compiling

_FOLDER = "compiling"


@contextmanager
def noting_compiling(folder: str) -> Iterator[None]:
    """In a worker: keep the number of kernels compiled so far in a small file of the checkpoint.

    It is for people who wait. So it is no matter if it can't be written.
    """

    def note(number: int) -> None:
        with suppress(OSError):
            path = Path(folder) / _FOLDER / f"{socket.gethostname()}-{os.getpid()}"
            path.parent.mkdir(exist_ok=True)
            path.write_text(str(number))

    with told_of_compiling(note):
        yield


def compiled_so_far(folder: Path) -> int:
    """On the driver: the number of kernels that the workers of this run have compiled."""
    found = 0
    for path in (folder / _FOLDER).glob("*"):
        with suppress(OSError, ValueError):
            found += int(path.read_text())
    return found


def compiling_words(done: int, about: int) -> str:
    """How far it is, for people.

    >>> compiling_words(7, 20)
    'compiling kernels, once for this installation: 7 of about 20'
    """
    return f"compiling kernels, once for this installation: {done} of about {about}"


def forget_compiling(folder: Path) -> None:
    """Remove what workers have noted, as the run begins and ends."""
    shutil.rmtree(folder / _FOLDER, ignore_errors=True)
