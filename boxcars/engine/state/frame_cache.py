"""Frames of states that this process has read or written, so that the next epoch need not read.

State files are never changed and their names are unique, so a cached frame can't be stale.
"""

from __future__ import annotations

import os
from collections import OrderedDict
from threading import Lock

import polars as pl

from boxcars.engine.state.state_files import StateRef, read_frame
from boxcars.engine.state.storage import Storage

_SHARE = 4
"""At most this part of the machine's memory (one in ...) holds cached frames."""


class FrameCache:
    """The most recently used frames, up to a number of bytes."""

    def __init__(self, limit: int) -> None:
        self._limit, self._held, self._lock = limit, 0, Lock()
        self._frames: OrderedDict[tuple[str, int], tuple[pl.DataFrame, int]] = OrderedDict()

    def load(self, storage: Storage, ref: StateRef) -> pl.DataFrame:
        """The frame of a reference, from memory or from the storage."""
        key = storage.where(ref.file), ref.offset
        with self._lock:
            if key in self._frames:
                self._frames.move_to_end(key)
                return self._frames[key][0]
        frame = read_frame(storage, ref)
        self.note(storage, ref, frame)
        return frame

    def note(self, storage: Storage, ref: StateRef, frame: pl.DataFrame) -> None:
        """Remember a frame that was written or read; the least recently used ones leave."""
        key, size = (storage.where(ref.file), ref.offset), int(frame.estimated_size())
        with self._lock:
            _, before = self._frames.pop(key, (None, 0))
            self._frames[key] = frame, size
            self._held += size - before
            while self._held > self._limit and len(self._frames) > 1:
                _, (_, gone) = self._frames.popitem(last=False)
                self._held -= gone

    def __len__(self) -> int:
        return len(self._frames)


def _memory() -> int:
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")


CACHE = FrameCache(_memory() // _SHARE)
"""The cache of this process."""
