"""What the web server writes to the terminal: a sentence for what is wrong, and never a traceback.

A browser that goes away, and a request that is under way at Ctrl-C, are nothing to report.
"""

from __future__ import annotations

import asyncio
import logging
import traceback
from pathlib import Path

_LOGGERS = ("uvicorn.error", "asyncio")
_GONE = (asyncio.CancelledError, KeyboardInterrupt, ConnectionError, TimeoutError)
"""How it looks when the other side, or the studio itself, went away."""
_CANCELS = "Cancel "
"""How uvicorn begins to say that it waits no longer for requests at the end."""
_TRACEBACK = "Traceback (most recent call last)"


class _Sentences(logging.Filter):
    """Lets through what concerns the person at the terminal, as one line."""

    def filter(self, record: logging.LogRecord) -> bool:
        """Whether a line is written; one with a traceback loses it."""
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
    """An error that nobody has foreseen, and where it happened.

    >>> try:
    ...     1 / 0
    ... except ZeroDivisionError as error:
    ...     print(sentence_of(error))
    a request failed in <doctest boxcars.studio.api.server_log.sentence_of[0]> line 2 with \
ZeroDivisionError: division by zero. This is an error of Boxcars: please report it.
    """
    frames = traceback.extract_tb(error.__traceback__)
    where = f" in {Path(frames[-1].filename).name} line {frames[-1].lineno}" if frames else ""
    what = " ".join(f"{type(error).__name__}: {error}".split()).rstrip(".: ")
    return f"a request failed{where} with {what}. This is an error of Boxcars: please report it."


_FILTER = _Sentences()


def quieten() -> None:
    """From now on the web server writes sentences."""
    for name in _LOGGERS:
        logging.getLogger(name).addFilter(_FILTER)
