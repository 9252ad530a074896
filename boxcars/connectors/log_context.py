"""The input or output that a thread works for, and how connectors report what happens to it."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Protocol

from boxcars.events.event import Kind


class Report(Protocol):
    """Records an event of an input or output; the run adds the time and the epoch."""

    def __call__(
        self, kind: Kind, cause: str, box: str = "", figures: Mapping[str, float] | None = None
    ) -> None:
        """Record it."""


_BOX: ContextVar[str | None] = ContextVar("box", default=None)
_REPORT: ContextVar[Report | None] = ContextVar("report", default=None)
_log = logging.getLogger("boxcars.connectors")


@contextmanager
def about(name: str, report: Report | None = None) -> Iterator[None]:
    """Tag log lines and events inside ``with`` with an input or output.

    A new thread gives the report that :func:`current_report` returned in the thread before it.

    >>> with about("calls"):
    ...     current_box()
    'calls'
    """
    before = _BOX.set(name)
    try:
        with reporting(report or current_report()):
            yield
    finally:
        _BOX.reset(before)


@contextmanager
def reporting(report: Report | None) -> Iterator[None]:
    """Send the events of connectors inside ``with`` to a run."""
    before = _REPORT.set(report)
    try:
        yield
    finally:
        _REPORT.reset(before)


def current_box() -> str | None:
    """The input or output that this thread works for."""
    return _BOX.get()


def current_report() -> Report | None:
    """How this thread reports events, if it works for a run."""
    return _REPORT.get()


def warn(kind: Kind, text: str, figures: Mapping[str, float] | None = None) -> None:
    """Log a warning, and report it as an event of the current input or output."""
    _log.warning(text)
    if (report := current_report()) is not None:
        report(kind, text, current_box() or "", figures)
