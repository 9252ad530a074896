"""Aurora's dequeue: an output that programs take tuples from, as many of them as like.

The parts of an output stay in its folder, for a while; each has the number of its epoch. So whoever
remembers the last epoch that he saw gets every later one, once, also after either side has ended.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path
from time import monotonic

import pyarrow as pa

from boxcars.connectors.checked_number import note_number, noted_number
from boxcars.connectors.write.base import Outlet
from boxcars.connectors.write.merge_parts import read_part
from boxcars.model.problem import BoxcarsError


class Gone(BoxcarsError):
    """A reader wants epochs that are not kept any more."""


class Tap(Outlet):
    """The parts of an output, for readers."""

    def __init__(self, home: Path, keep: int) -> None:
        super().__init__(home / "parts", home)
        self._keep, self._changed = keep, threading.Condition()
        self._closed = self.finished = False
        found = sorted(self.folder.glob("part-*.parquet"))
        self._parts = {_epoch(path): (path, path.stat().st_size) for path in found}
        self._gone = noted_number(self.target / "gone") or 0

    def deliver(self, epoch: int) -> None:
        """Show an epoch to readers, and forget the oldest ones if there are too many."""
        path = self.folder / f"part-{epoch:08d}.parquet"
        with self._changed:
            if path.exists():
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
        """The first epoch behind one, when it is there; None if that takes longer, or at the end.

        Raises Gone if it was there, and is not any more.
        """
        with self._changed:
            self._changed.wait_for(
                lambda: self._closed or max(self._parts, default=0) > after, seconds
            )
            if after < self._gone:
                raise Gone(
                    f"epochs up to {self._gone} are not kept any more, and the last one read was "
                    f"{after}: read on with after={self._gone}, or keep more."
                )
            later = [epoch for epoch in self._parts if epoch > after]
            path = self._parts[min(later)][0] if later else None
        if path is None:
            return None
        try:
            return min(later), read_part(path)  # nobody has to wait for it
        except BoxcarsError:
            if path.exists():
                raise
            return self.read(after, 0)  # it was forgotten in between

    @property
    def newest(self) -> int:
        """The number of the last epoch that had rows."""
        with self._changed:
            return max(self._parts, default=self._gone)

    def rows(self, after: int = 0, seconds: float | None = None) -> Iterator[tuple[int, pa.Table]]:
        """One epoch behind the other, until none comes for so long or the run has ended."""
        until = None if seconds is None else monotonic() + seconds
        while True:
            left = None if until is None else max(until - monotonic(), 0)
            found = self.read(after, left)
            if found is None:
                return
            after = found[0]
            yield found

    def finish(self) -> None:
        """All epochs are there."""
        self.finished = True

    def close(self) -> None:
        """Let nobody wait any longer; if it is not finished, a later run goes on."""
        with self._changed:
            self._closed = True
            self._changed.notify_all()

    @property
    def closed(self) -> bool:
        """Whether no more epochs come, from this run."""
        return self._closed


def _epoch(path: Path) -> int:
    return int(path.stem.removeprefix("part-"))
