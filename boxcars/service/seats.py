"""Seats: how many callers may do at once what takes memory or time as long as they do it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager

from starlette.exceptions import HTTPException


class Seats:
    """So many callers at once, and no more; who comes next is told to try again.

    >>> seats = Seats("readers", lambda: 1)
    >>> with seats.taken():
    ...     with seats.taken():
    ...         pass
    Traceback (most recent call last):
    starlette.exceptions.HTTPException: 503: there are 1 readers, and no more at once; try again.
    """

    def __init__(self, what: str, most: Callable[[], int]) -> None:
        self._what, self._most, self._number = what, most, 0

    def take(self) -> AbstractContextManager[object]:
        """A seat, which is free again at the end of ``with``."""
        with ExitStack() as stack:
            stack.enter_context(self.taken())
            return stack.pop_all()

    @contextmanager
    def taken(self) -> Iterator[None]:
        """Have a seat for a while."""
        most = self._most()
        if self._number >= most:
            raise HTTPException(
                503, f"there are {most} {self._what}, and no more at once; try again."
            )
        self._number += 1
        try:
            yield
        finally:
            self._number -= 1
