"""Compiled kernels: the folder of their machine code, and compilation progress.

numba compiles a kernel on its first call and caches the code on disk. So only the first epoch of a
new installation waits, for some seconds; the run reports that meanwhile.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, ClassVar

import numba
from numba.core import event

from boxcars.model.private_folder import private_folder

_config: Any = numba.config
_KERNELS: Mapping[str, int] = {"aggregate": 20, "join": 10}
"""Approximate number of kernels a box of this type compiles in a new installation."""
_OTHER_KERNELS = 6
"""The same for stateful boxes of other types."""


def choose_cache(beside: Path | None = None) -> None:
    """Choose one cache folder of compiled code for all processes of a user.

    numba caches code next to the source, otherwise in the home folder, and fails if neither is
    writable: then it gets a private folder of the user under the temporary folder.
    """
    _read_no_file()
    beside = beside or Path(__file__).parent
    homes = (beside / "__pycache__", beside, Path.home() / ".cache", Path.home())
    if _config.CACHE_DIR or any(map(_writable, homes)):
        return
    _config.CACHE_DIR = str(private_folder("boxcars-kernels"))


def _read_no_file() -> None:
    """Take numba's settings from the environment alone.

    numba also reads a file in the current folder. That file may have come with a network and can
    name a folder of compiled code, which would be executed.
    """
    if _config._config_fname != os.devnull:
        _config._config_fname = os.devnull
        _config.reload_config()


def _writable(folder: Path) -> bool:
    return folder.is_dir() and os.access(folder, os.W_OK | os.X_OK)


def kernels_expected(types: Iterable[str]) -> int:
    """Estimate how many kernels a network compiles; boxes of one type share theirs.

    >>> kernels_expected(["aggregate", "aggregate", "join"])
    30
    """
    return sum(_KERNELS.get(type_, _OTHER_KERNELS) for type_ in set(types))


class _Counter(event.Listener):
    """Counts kernels whose compilation has started; nested compilations count as one."""

    number: ClassVar[int] = 0
    """Kernels compiled so far in this process."""

    def __init__(self, report: Callable[[int], None]) -> None:
        self._report, self._depth = report, 0

    def on_start(self, event: Any) -> None:
        """Compilation of a kernel starts."""
        self._depth += 1
        if self._depth == 1:
            _Counter.number += 1
            self._report(_Counter.number)

    def on_end(self, event: Any) -> None:
        """Compilation of a kernel ends."""
        self._depth -= 1


@contextmanager
def report_compilations(report: Callable[[int], None]) -> Iterator[None]:
    """Call ``report`` for each kernel compiled, with the total of this process."""
    listener = _Counter(report)
    with event.install_listener("numba:compile", listener):
        yield
