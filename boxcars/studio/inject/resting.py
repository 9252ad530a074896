"""A client of a run that may be stopped and go on: it rests with the run, and goes on with it."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from time import monotonic, sleep

from websockets.sync.client import ClientConnection

from boxcars.model.problem import BoxcarsError
from boxcars.service.client import Client, Refused
from boxcars.studio.runs.run import TheRun

_LOOK = 0.1
"""Seconds between two looks whether a run is back."""
_SOON = 3.0
"""Seconds in which the studio sees that a run, which refuses everything now, has ended."""
_PATIENCE = 30.0
"""Seconds to reach a run that is back."""


class RestingClient(Client):
    """A sender keeps what is under way, however long the run is stopped.

    ``over`` says that nothing more is to be sent; ``back`` is called when the run goes on.
    """

    def __init__(self, run: TheRun, over: threading.Event, back: Callable[[], None]) -> None:
        there = run.client()
        super().__init__(there.address, run.token)
        self._run, self._over, self._tell_back = run, over, back
        self._until = 0.0

    @contextmanager
    def open(self, path: str) -> Iterator[ClientConnection]:
        """A WebSocket; a run that refuses it since it just ends is lost, for now."""
        try:
            with super().open(path) as socket:
                yield socket
        except Refused:
            if self._comes_to_rest():
                raise OSError("the run was stopped") from None
            raise

    def lost(self, error: Exception, until: float) -> None:
        """Wait as long as the run is stopped; else as others do."""
        if not self._run.resting:
            try:
                super().lost(error, max(until, self._until))
            except BoxcarsError:
                if not self._comes_to_rest():
                    raise
        if self._run.resting:
            self._rest()

    def _comes_to_rest(self) -> bool:
        until = monotonic() + _SOON
        while not self._run.resting and monotonic() < until:
            sleep(_LOOK)
        return self._run.resting

    def _rest(self) -> None:
        """Wait until the run is back; raises if it never will be, or nobody wants to send."""
        while self._run.resting:
            if self._run.gone:
                raise BoxcarsError("the run is deleted.")
            if self._over.wait(_LOOK):
                raise BoxcarsError("the injector was stopped.")
        self.address = self._run.client().address
        self._until = monotonic() + _PATIENCE
        self._tell_back()
