"""Kills a run at a named point; used by the driver and the workers of ``killed_run``.

``BOXCARS_KILL`` in the environment is the point, and ``BOXCARS_ROOT`` the process id of the driver.
Points are counted in each process. The first process that reaches the last of them kills the whole
process tree: the driver, the JVM, and all Python workers.

=================================  ==============================================================
``before replace PATTERN N``       when the N-th file with such a path is written, but not in place
``torn replace PATTERN N``         the same, and only half of it is written
``after replace PATTERN N``        when it is in place
``before unlink PATTERN N``        when it is about to be removed
``after unlink PATTERN N``         when it was removed
``before call MODULE:NAME N``      when a function is called, and ``after`` when it returns
``line driver N``                  at the N-th line that the driver runs, of those in ``_WATCHED``
``line worker N``                  the same in a worker
=================================  ==============================================================
"""

import importlib
import itertools
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable
from fnmatch import fnmatch
from functools import cache
from pathlib import Path
from types import FrameType
from typing import Any

import boxcars

_HOME = Path(boxcars.__file__).parent
_WATCHED = (str(_HOME / "engine"), str(_HOME / "connect"))
"""Modules in which lines are counted: those that read, write and commit."""


def kill_family(root: int) -> None:
    """Kill a process and all its descendants, this one last."""
    listed = subprocess.run(["ps", "-A", "-o", "pid=,ppid="], capture_output=True, check=True)
    children: dict[int, list[int]] = {}
    for line in listed.stdout.splitlines():
        pid, parent = map(int, line.split())
        children.setdefault(parent, []).append(pid)
    family = [root]
    for pid in family:
        family += children.get(pid, [])
    for pid in sorted(family, key=lambda pid: pid == os.getpid()):
        try:
            os.kill(pid, signal.SIGKILL)
        except ProcessLookupError:
            continue


@cache
def arm(process: str) -> None:
    """Make this process, a driver or a worker, end at the point in the environment."""
    match os.environ.get("BOXCARS_KILL", "").split():
        case [when, "replace" | "unlink" as what, pattern, number]:
            _arm_path(when, what, pattern, _counter(int(number)))
        case [when, "call", name, number]:
            _arm_call(when, name, _counter(int(number)))
        case ["line", who, number] if who == process:
            _arm_lines(_counter(int(number)))


def _counter(number: int) -> Callable[[], bool]:
    """A function that returns True at its N-th call."""
    count = itertools.count(1)
    return lambda: next(count) == number


def _die() -> None:
    kill_family(int(os.environ["BOXCARS_ROOT"]))
    signal.pause()


def _arm_path(when: str, what: str, pattern: str, reached: Callable[[], bool]) -> None:
    original = getattr(Path, what)

    def armed(self: Path, *given: Any, **named: Any) -> Any:
        path = given[0] if what == "replace" else self
        here = fnmatch(str(path), pattern) and reached()
        if here and when == "torn":
            os.truncate(self, self.stat().st_size // 2)
        if here and when != "after":
            _die()
        result = original(self, *given, **named)
        if here:
            _die()
        return result

    setattr(Path, what, armed)


def _arm_call(when: str, name: str, reached: Callable[[], bool]) -> None:
    module, _, path = name.partition(":")
    owner: Any = importlib.import_module(module)
    *outer, last = path.split(".")
    for part in outer:
        owner = getattr(owner, part)
    original = getattr(owner, last)

    def armed(*given: Any, **named: Any) -> Any:
        here = reached()
        if here and when == "before":
            _die()
        result = original(*given, **named)
        if here:
            _die()
        return result

    setattr(owner, last, armed)


def _arm_lines(reached: Callable[[], bool]) -> None:
    def trace(frame: FrameType, event: str, _: Any) -> Any:
        if not frame.f_code.co_filename.startswith(_WATCHED):
            return None
        if event == "line" and reached():
            _die()
        return trace

    threading.settrace(trace)
    sys.settrace(trace)
