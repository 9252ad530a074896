"""An injector: it sends batches to a target when they are due, in a thread of its own."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from time import time
from typing import TYPE_CHECKING

import polars as pl

from boxcars.inject.pace import AsFastAsCanBe, Batch, Pace, size

if TYPE_CHECKING:
    from boxcars.inject.targets import Target

_LOOK = 0.1
"""Seconds after which a waiting injector looks whether its pace has changed."""


class Injector:
    """Sends batches; it can be paused, and what goes wrong is kept in ``error``.

    ``stamp`` names the fields, by input, that get the time at which they are sent.
    """

    def __init__(
        self,
        batches: Iterable[Batch],
        target: Target,
        pace: Pace | None = None,
        stamp: Mapping[str, str] | None = None,
    ) -> None:
        self._batches, self._target, self._pace = batches, target, pace or AsFastAsCanBe()
        self._stamp = stamp
        self._over, self._going = threading.Event(), threading.Event()
        self._going.set()
        self._thread: threading.Thread | None = None
        self.sent = 0
        """How many tuples have gone."""
        self.error: BaseException | None = None

    def inject(self, tell: Callable[[int], None] = lambda _: None) -> None:
        """Send all of it, and say after each batch how much has gone."""
        self._target.open()
        try:
            for batch in self._pace.cut(self._batches):
                if not self._wait(batch):
                    return
                self._target.send(stamped(batch, self._stamp, time()) if self._stamp else batch)
                self._pace.sent(batch)
                self.sent += size(batch)
                tell(self.sent)
            self._target.finish()
        finally:
            self._target.close()

    def _wait(self, batch: Batch) -> bool:
        """Wait until a batch is due; False if nothing more is to be sent."""
        while not self._over.is_set():
            if not self._going.wait(_LOOK):
                continue
            seconds = self._pace.due(batch)
            if not seconds:
                return True
            self._over.wait(min(seconds, _LOOK))
        return False

    def start(self) -> None:
        """Send in the background."""
        self._thread = threading.Thread(target=self._work, name="boxcars-injector", daemon=True)
        self._thread.start()

    def _work(self) -> None:
        try:
            self.inject()
        except BaseException as error:
            self.error = error

    def wait(self, timeout: float | None = None) -> bool:
        """Wait until all has gone; whether it has. What went wrong is raised."""
        if self._thread is not None:
            self._thread.join(timeout)
        if self.error is not None:
            raise self.error
        return self._thread is None or not self._thread.is_alive()

    def pause(self) -> None:
        """Send nothing until it is resumed."""
        self._going.clear()

    def resume(self) -> None:
        """Go on."""
        self._going.set()

    def stop(self) -> None:
        """Send nothing more."""
        self._over.set()


def cut(batches: Iterable[Batch], most: int) -> Iterator[Batch]:
    """Batches of at most about so many tuples, of each input in the same share.

    >>> frame = pl.DataFrame({"t": [1, 2, 3]})
    >>> [batch["a"]["t"].to_list() for batch in cut([{"a": frame}], 2)]
    [[1], [2, 3]]
    """
    for batch in batches:
        pieces = -(-size(batch) // most)
        for n in range(pieces):
            yield {
                name: frame[frame.height * n // pieces : frame.height * (n + 1) // pieces]
                for name, frame in batch.items()
            }


def stamped(batch: Batch, fields: Mapping[str, str], seconds: float) -> Batch:
    """A batch whose timestamps are those of a moment: seconds, or a timestamp.

    >>> stamped({"a": pl.DataFrame({"t": [7]})}, {"a": "t"}, 1e9)["a"]["t"].to_list()
    [1000000000]
    """
    moment = pl.lit(int(seconds * 1e6)).cast(pl.Datetime("us"))
    found = {}
    for name, frame in batch.items():
        dtype = frame.schema[fields[name]]
        value = moment if dtype.is_temporal() else pl.lit(seconds)
        found[name] = frame.with_columns(value.cast(dtype).alias(fields[name]))
    return found
