"""A Python worker of Spark: what it does around each task of ours."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager

from boxcars.engine.exec.memory import keep_memory, spare_loaded


@contextmanager
def at_work() -> Iterator[None]:
    """Keep memory for the next task, and end without a word if Spark ends before that comes.

    Spark closes the connections of its workers. One that has something to say then would print a
    stack trace that tells nobody anything; between tasks the signal that the system sends ends it.
    """
    keep_memory()
    _on_lost_connection(signal.SIG_IGN)
    try:
        yield
    finally:
        spare_loaded()
        _on_lost_connection(signal.SIG_DFL)


def _on_lost_connection(what: signal.Handlers) -> None:
    if threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGPIPE, what)
