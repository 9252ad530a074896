"""A limit on concurrent requests that hold memory or a connection for a long time."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager

from starlette.exceptions import HTTPException


class ConcurrencyLimit:
    """At most ``most()`` concurrent holders; further requests get a 503 response.

    >>> limit = ConcurrencyLimit("readers", lambda: 1)
    >>> with limit.acquired():
    ...     with limit.acquired():
    ...         pass
    Traceback (most recent call last):
    starlette.exceptions.HTTPException: 503: the limit of 1 readers is reached; try again.
    """

    def __init__(self, what: str, most: Callable[[], int]) -> None:
        self._what, self._most, self._number = what, most, 0

    def acquire(self) -> AbstractContextManager[object]:
        """Acquire a slot now; the returned context manager releases it."""
        with ExitStack() as stack:
            stack.enter_context(self.acquired())
            return stack.pop_all()

    @contextmanager
    def acquired(self) -> Iterator[None]:
        """Hold a slot inside ``with``."""
        most = self._most()
        if self._number >= most:
            raise HTTPException(503, f"the limit of {most} {self._what} is reached; try again.")
        self._number += 1
        try:
            yield
        finally:
            self._number -= 1
