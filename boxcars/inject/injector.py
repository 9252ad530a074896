"""An injector: sends batches to a target when they are due, in its own thread."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from time import time
from typing import TYPE_CHECKING

import polars as pl

from boxcars.inject.pace import Batch, Pace, Unthrottled, size

if TYPE_CHECKING:
    from boxcars.inject.targets import Target

_LOOK = 0.1
"""Seconds between checks of a waiting injector whether its pace has changed."""


class Injector:
    """Sends batches; it can be paused. Its failure is stored in ``error``.

    ``stamp`` names, by input, the field that is overwritten with the time of sending.
    """

    def __init__(
        self,
        batches: Iterable[Batch],
        target: Target,
        pace: Pace | None = None,
        stamp: Mapping[str, str] | None = None,
    ) -> None:
        self._batches, self._target, self._pace = batches, target, pace or Unthrottled()
        self._stamp = stamp
        self._over, self._going = threading.Event(), threading.Event()
        self._going.set()
        self._thread: threading.Thread | None = None
        self.sent = 0
        """Number of tuples sent so far."""
        self.error: BaseException | None = None

    def inject(self, tell: Callable[[int], None] = lambda _: None) -> None:
        """Send all batches; after each, call ``tell`` with the number of tuples sent so far."""
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
        """Wait until a batch is due; False if the injector was stopped."""
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
        """Wait until everything is sent, and return whether it is. Raises the injector's error."""
        if self._thread is not None:
            self._thread.join(timeout)
        if self.error is not None:
            raise self.error
        return self._thread is None or not self._thread.is_alive()

    def pause(self) -> None:
        """Send nothing until resumed."""
        self._going.clear()

    def resume(self) -> None:
        """Continue sending."""
        self._going.set()

    def stop(self) -> None:
        """End without sending the rest."""
        self._over.set()


def cut(batches: Iterable[Batch], most: int) -> Iterator[Batch]:
    """Split batches into smaller ones of about ``most`` tuples, each input in proportion.

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
    """Overwrite one field of each input, if it has one, with a moment: seconds, or a timestamp.

    >>> stamped({"a": pl.DataFrame({"t": [7]})}, {"a": "t"}, 1e9)["a"]["t"].to_list()
    [1000000000]
    """
    moment = pl.lit(int(seconds * 1e6)).cast(pl.Datetime("us"))
    found = dict(batch)
    for name in batch.keys() & fields.keys():
        dtype = batch[name].schema[fields[name]]
        value = moment if dtype.is_temporal() else pl.lit(seconds)
        found[name] = batch[name].with_columns(value.cast(dtype).alias(fields[name]))
    return found
