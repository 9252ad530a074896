"""The web server's log on the terminal: one sentence per error, never a traceback.

A browser that disconnects, and a request in progress at Ctrl-C, are not reported.
"""

from __future__ import annotations

import asyncio
import logging
import traceback
from pathlib import Path

_LOGGERS = ("uvicorn.error", "asyncio")
_GONE = (asyncio.CancelledError, KeyboardInterrupt, ConnectionError, TimeoutError)
"""Errors raised when the browser disconnects or the studio shuts down."""
_CANCELS = "Cancel "
"""Prefix of uvicorn's message that it stops waiting for requests at shutdown."""
_TRACEBACK = "Traceback (most recent call last)"


class _Sentences(logging.Filter):
    """Passes only messages that concern the user at the terminal, as one line."""

    def filter(self, record: logging.LogRecord) -> bool:
        """Return whether a record is logged; a traceback is reduced to one sentence."""
        error, text = record.exc_info[1] if record.exc_info else None, record.getMessage()
        if isinstance(error, _GONE) or text.startswith(_CANCELS):
            return False
        if error is not None:
            text = sentence_of(error)
        elif _TRACEBACK in text:
            text = text.strip().splitlines()[-1]
            if any(kind.__name__ in text for kind in _GONE):
                return False
        record.msg, record.args = text, ()
        record.exc_info = record.exc_text = record.stack_info = None
        return True


def sentence_of(error: BaseException) -> str:
    """Describe an unexpected error, and where it happened.

    >>> try:
    ...     1 / 0
    ... except ZeroDivisionError as error:
    ...     print(sentence_of(error))
    a request failed in <doctest boxcars.studio.api.server_log.sentence_of[0]> line 2 with \
ZeroDivisionError: division by zero. This is a bug in Boxcars: please report it.
    """
    frames = traceback.extract_tb(error.__traceback__)
    where = f" in {Path(frames[-1].filename).name} line {frames[-1].lineno}" if frames else ""
    what = " ".join(f"{type(error).__name__}: {error}".split()).rstrip(".: ")
    return f"a request failed{where} with {what}. This is a bug in Boxcars: please report it."


_FILTER = _Sentences()


def install_filter() -> None:
    """Install the filter on the web server's loggers."""
    for name in _LOGGERS:
        logging.getLogger(name).addFilter(_FILTER)
