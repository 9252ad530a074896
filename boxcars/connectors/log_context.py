"""Whom a line of the log is about: the input or output that a thread works for."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

_BOX: ContextVar[str | None] = ContextVar("box", default=None)


@contextmanager
def about(name: str) -> Iterator[None]:
    """What is logged in here, by a connector too, is about an input or output.

    >>> with about("calls"):
    ...     about_whom()
    'calls'
    """
    before = _BOX.set(name)
    try:
        yield
    finally:
        _BOX.reset(before)


def about_whom() -> str | None:
    """The input or output that this thread works for."""
    return _BOX.get()
