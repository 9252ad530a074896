"""A client of a run that survives its stops: it waits while the run is stopped, then reconnects."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from time import monotonic, sleep

from websockets.sync.client import ClientConnection

from boxcars.model.problem import BoxcarsError
from boxcars.service.client import Client, Refused
from boxcars.studio.runs.run import ManagedRun

_POLL = 0.1
"""Seconds between two checks whether a run is back."""
_SOON = 3.0
"""Seconds until the studio notices that a run which refuses connections has ended."""
_PATIENCE = 30.0
"""Seconds to connect to a run that is back."""


class ReconnectingClient(Client):
    """Keeps unacknowledged tuples, however long the run is stopped.

    ``over`` is set when the injector stops; ``back`` is called when the run has resumed.
    """

    def __init__(self, run: ManagedRun, over: threading.Event, back: Callable[[], None]) -> None:
        there = run.client()
        super().__init__(there.address, run.token)
        self._run, self._over, self._on_resume = run, over, back
        self._until = 0.0

    @contextmanager
    def open(self, path: str) -> Iterator[ClientConnection]:
        """Open a WebSocket; a refusal by a run that is ending counts as a lost connection."""
        try:
            with super().open(path) as socket:
                yield socket
        except Refused:
            if self._stops_soon():
                raise OSError("the run was stopped") from None
            raise

    def lost(self, error: Exception, until: float) -> None:
        """Wait while the run is stopped; otherwise retry like other clients."""
        if not self._run.suspended:
            try:
                super().lost(error, max(until, self._until))
            except BoxcarsError:
                if not self._stops_soon():
                    raise
        if self._run.suspended:
            self._wait_for_run()

    def _stops_soon(self) -> bool:
        until = monotonic() + _SOON
        while not self._run.suspended and monotonic() < until:
            sleep(_POLL)
        return self._run.suspended

    def _wait_for_run(self) -> None:
        """Wait until the run is back; raises if it was deleted or the injector was stopped."""
        while self._run.suspended:
            if self._run.deleted:
                raise BoxcarsError("the run was deleted.")
            if self._over.wait(_POLL):
                raise BoxcarsError("the injector was stopped.")
        self.address = self._run.client().address
        self._until = monotonic() + _PATIENCE
        self._on_resume()
