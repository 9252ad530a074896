"""Progress of kernel compilation: workers write it to the checkpoint, the driver reads it."""

from __future__ import annotations

import os
import shutil
import socket
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from boxcars.kernels.compile_cache import report_compilations

_FOLDER = "compiling"


@contextmanager
def reporting_compiling(folder: str) -> Iterator[None]:
    """In a worker: write the number of kernels compiled so far to a small file of the checkpoint.

    It is only a progress display, so an error while writing is ignored.
    """

    def note(number: int) -> None:
        with suppress(OSError):
            path = Path(folder) / _FOLDER / f"{socket.gethostname()}-{os.getpid()}"
            path.parent.mkdir(exist_ok=True)
            path.write_text(str(number))

    with report_compilations(note):
        yield


def compiled_so_far(folder: Path) -> int:
    """On the driver: the number of kernels that the workers of this run have compiled."""
    found = 0
    for path in (folder / _FOLDER).glob("*"):
        with suppress(OSError, ValueError):
            found += int(path.read_text())
    return found


def compiling_message(done: int, about: int) -> str:
    """Format the progress as a message.

    >>> compiling_message(7, 20)
    'compiling kernels, once for this installation: 7 of about 20'
    """
    return f"compiling kernels, once for this installation: {done} of about {about}"


def forget_compiling(folder: Path) -> None:
    """Remove the progress files of the workers, at the start and the end of a run."""
    shutil.rmtree(folder / _FOLDER, ignore_errors=True)
