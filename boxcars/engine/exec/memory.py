"""Memory settings of a worker: allocators retain memory, and loaded modules are not scanned."""

from __future__ import annotations

import ctypes
import gc
import sys
from itertools import count

_TRIM_THRESHOLD, _MMAP_MAX = -1, -4
_NEVER = 2**31 - 1
POLARS_KEEPS = {"_RJEM_MALLOC_CONF": "dirty_decay_ms:60000,muzzy_decay_ms:60000"}
"""Environment for Polars' own allocator: it retains freed memory for a minute instead of half a
second. Polars reads this when it is loaded, so it must be set before a process starts."""


def keep_memory() -> bool:
    """Make malloc retain freed memory for the next train.

    By default the C library maps and unmaps every large array, and each time the system clears all
    its pages: a third of the time of an aggregate with many results. Call it only in our own
    processes, such as the command line. It has an effect with glibc only.
    """
    if not sys.platform.startswith("linux"):
        return False
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
    if mallopt is None:
        return False
    return bool(mallopt(_MMAP_MAX, 0) and mallopt(_TRIM_THRESHOLD, _NEVER))


_WARM_UP_TASKS = 3
"""Number of tasks after which a worker has loaded all its modules."""
_TASKS = count(1)


def freeze_loaded() -> None:
    """Exclude modules from garbage collection: ``gc.freeze()`` after each of the first tasks.

    Spark runs a full collection in a worker after every task. With all the modules of Polars and
    numba that takes 50 ms, and finds nothing.
    """
    if next(_TASKS) <= _WARM_UP_TASKS:
        gc.freeze()
