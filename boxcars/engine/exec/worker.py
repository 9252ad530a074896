"""Set-up and clean-up of a Spark Python worker around each task."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager

from boxcars.engine.exec.memory import freeze_loaded, keep_memory


@contextmanager
def worker_task() -> Iterator[None]:
    """Retain memory for the next task, and exit silently if Spark shuts down in between.

    When Spark ends it closes the connections of its workers. A worker that writes then would print
    a useless stack trace; so between tasks SIGPIPE has its default effect and ends the process.
    """
    keep_memory()
    _on_lost_connection(signal.SIG_IGN)
    try:
        yield
    finally:
        freeze_loaded()
        _on_lost_connection(signal.SIG_DFL)


def _on_lost_connection(what: signal.Handlers) -> None:
    if threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGPIPE, what)
