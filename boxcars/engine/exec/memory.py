"""Memory that stays: what a process keeps for the next train, and what is no garbage."""

from __future__ import annotations

import ctypes
import gc
import sys
from itertools import count

_TRIM_THRESHOLD, _MMAP_MAX = -1, -4
_NEVER = 2**31 - 1
POLARS_KEEPS = {"_RJEM_MALLOC_CONF": "dirty_decay_ms:60000,muzzy_decay_ms:60000"}
"""The environment of a process in which Polars, which has a memory of its own, keeps it for a
minute instead of half a second. Polars reads this when it is loaded, so it is for new processes."""


def keep_memory() -> bool:
    """Let this process keep the memory that it has used, for the next train.

    By default the C library asks the system for every large array and gives it back, and each time
    the system clears all its pages: a third of the time of an aggregate with many results. Call it
    in processes of our own, such as the command line; it has no effect but with glibc.
    """
    if not sys.platform.startswith("linux"):
        return False
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
    if mallopt is None:
        return False
    return bool(mallopt(_MMAP_MAX, 0) and mallopt(_TRIM_THRESHOLD, _NEVER))


_FIRST = 3
"""Behind so many tasks everything that a worker needs is loaded."""
_TASKS = count(1)


def spare_loaded() -> None:
    """Never look for garbage in what the first tasks of a worker have loaded.

    Spark lets a worker collect its garbage behind every task, before it takes the next one. With
    all the modules of Polars and numba that takes 50 ms, and finds nothing.
    """
    if next(_TASKS) <= _FIRST:
        gc.freeze()
