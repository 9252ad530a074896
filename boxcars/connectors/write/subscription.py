"""Aurora's dequeue: an output whose recent epochs are retained for any number of readers.

The parts of an output stay in its folder for a while, each with the number of its epoch. So a
reader that remembers the last epoch it saw gets every later one exactly once, also after a restart
of either side.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path
from time import monotonic

import pyarrow as pa

from boxcars.connectors.checked_number import note_number, noted_number
from boxcars.connectors.write.base import SinkWriter
from boxcars.connectors.write.merge_parts import read_part
from boxcars.model.problem import BoxcarsError


class Expired(BoxcarsError):
    """A reader wants epochs that are no longer retained."""


class RetainedOutput(SinkWriter):
    """An output whose recent parts are retained for readers."""

    def __init__(self, home: Path, keep: int) -> None:
        super().__init__(home / "staged", home)
        self._keep, self._changed = keep, threading.Condition()
        self._closed = self.finished = False
        found = sorted((home / "parts").glob("part-*.parquet"))
        self._parts = {_epoch(path): (path, path.stat().st_size) for path in found}
        self._gone = noted_number(self.target / "gone") or 0

    def deliver(self, epoch: int) -> None:
        """Make an epoch visible to readers, and remove the oldest ones if there are too many."""
        staged = self.folder / f"part-{epoch:08d}.parquet"
        with self._changed:
            if staged.exists():
                (self.target / "parts").mkdir(exist_ok=True)
                path = staged.replace(self.target / "parts" / staged.name)
                self._parts[epoch] = path, path.stat().st_size
            self._forget()
            self._changed.notify_all()

    def _forget(self) -> None:
        while len(self._parts) > 1 and sum(size for _, size in self._parts.values()) > self._keep:
            oldest = min(self._parts)
            self._gone = oldest
            note_number(self.target / "gone", oldest)
            self._parts.pop(oldest)[0].unlink(missing_ok=True)

    def read(self, after: int, seconds: float | None = None) -> tuple[int, pa.Table] | None:
        """Wait for the first epoch after ``after``; None after ``seconds``, or at the end.

        Raises Expired if it is no longer retained.
        """
        with self._changed:
            self._changed.wait_for(
                lambda: self._closed or max(self._parts, default=0) > after, seconds
            )
            if after < self._gone:
                raise Expired(
                    f"epochs up to {self._gone} are no longer retained, and the last one read was "
                    f"{after}: continue with after={self._gone}, or raise 'keep' of the sink."
                )
            later = [epoch for epoch in self._parts if epoch > after]
            path = self._parts[min(later)][0] if later else None
        if path is None:
            return None
        try:
            return min(later), read_part(path)  # outside the lock
        except BoxcarsError:
            if path.exists():
                raise
            return self.read(after, 0)  # it was removed in the meantime

    @property
    def newest(self) -> int:
        """The number of the last epoch that had rows."""
        with self._changed:
            return max(self._parts, default=self._gone)

    def rows(self, after: int = 0, seconds: float | None = None) -> Iterator[tuple[int, pa.Table]]:
        """Yield epochs until ``seconds`` have passed or the run has ended."""
        until = None if seconds is None else monotonic() + seconds
        while True:
            left = None if until is None else max(until - monotonic(), 0)
            found = self.read(after, left)
            if found is None:
                return
            after = found[0]
            yield found

    def finish(self) -> None:
        """Mark the output as complete."""
        self.finished = True

    def close(self) -> None:
        """Wake up waiting readers; if the output is not complete, a later run continues it."""
        with self._changed:
            self._closed = True
            self._changed.notify_all()

    @property
    def closed(self) -> bool:
        """Whether this run adds no more epochs."""
        return self._closed


def _epoch(path: Path) -> int:
    return int(path.stem.removeprefix("part-"))
