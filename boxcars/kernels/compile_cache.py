"""Compiled kernels: where their machine code is kept, and how far a compilation has come.

numba compiles a kernel when it is first called and keeps the code on disk. So only the first epoch
of a new installation has to wait, for some seconds: a run says so meanwhile.
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
"""About as many kernels a box of a type compiles in a new installation, where they are many."""
_FEW = 6
"""And a box of any other type with a state."""


def choose_cache(beside: Path | None = None) -> None:
    """Let all processes of a user share one folder of compiled code, also where none is writable.

    numba keeps code beside the source, else in the home folder, and fails if it can write to
    neither: then it gets a folder of the user's among the temporary ones.
    """
    _read_no_file()
    beside = beside or Path(__file__).parent
    homes = (beside / "__pycache__", beside, Path.home() / ".cache", Path.home())
    if _config.CACHE_DIR or any(map(_writable, homes)):
        return
    _config.CACHE_DIR = str(private_folder("boxcars-kernels"))


def _read_no_file() -> None:
    """Take numba's settings from the environment alone.

    It also reads a file in the current folder, which may have come with a network and can name a
    folder of compiled code: that would be run.
    """
    if _config._config_fname != os.devnull:
        _config._config_fname = os.devnull
        _config.reload_config()


def _writable(folder: Path) -> bool:
    return folder.is_dir() and os.access(folder, os.W_OK | os.X_OK)


def kernels_expected(types: Iterable[str]) -> int:
    """About how many kernels the boxes of a network compile; boxes of one type share theirs.

    >>> kernels_expected(["aggregate", "aggregate", "join"])
    30
    """
    return sum(_KERNELS.get(type_, _FEW) for type_ in set(types))


class _Counter(event.Listener):
    """Counts kernels whose compilation has begun; what they call themselves is a part of them."""

    number: ClassVar[int] = 0
    """In this process."""

    def __init__(self, tell: Callable[[int], None]) -> None:
        self._tell, self._depth = tell, 0

    def on_start(self, event: Any) -> None:
        """A kernel is being compiled."""
        self._depth += 1
        if self._depth == 1:
            _Counter.number += 1
            self._tell(_Counter.number)

    def on_end(self, event: Any) -> None:
        """It is ready."""
        self._depth -= 1


@contextmanager
def told_of_compiling(tell: Callable[[int], None]) -> Iterator[None]:
    """Call ``tell`` as often as a kernel is compiled, with the number of those of the process."""
    listener = _Counter(tell)
    with event.install_listener("numba:compile", listener):
        yield
