"""Generate data with a minimum pause between events of a person, to avoid accidental alarms."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator

import numpy as np
import polars as pl

ENDLESS = sys.maxsize
"""For generators that the caller stops."""


class Turns:
    """Track until when each person is busy, across chunks. People are identified by a hash.

    >>> turns, times = Turns(), np.array([0, 10, 10, 21])
    >>> turns.free(pl.Series(["ann", "ann", "bob", "ann"]).hash(), times, times + 10).tolist()
    [True, False, True, True]
    """

    def __init__(self) -> None:
        self._who, self._end = np.empty(0, np.uint64), np.empty(0, np.int64)

    def free(
        self,
        who: pl.Series | np.ndarray,
        begin: pl.Series | np.ndarray,
        end: pl.Series | np.ndarray,
    ) -> np.ndarray:
        """Which of these events start after all earlier events of the same person have ended.

        Events that are not free also make a person busy: this is simpler, and still guarantees
        the pause.
        """
        begin, before = np.asarray(begin), len(self._who)
        who, end = np.concatenate([self._who, who]), np.concatenate([self._end, end])
        order = np.argsort(who, kind="stable")
        same = who[order][1:] == who[order][:-1]
        lane = np.concatenate([[0], np.cumsum(~same)]) << 40
        busy = np.maximum.accumulate(lane + end[order])
        until = np.full(len(who), -1)
        until[order[1:]] = np.where(same, busy[:-1] - lane[1:], -1)
        ongoing = end >= begin.max(initial=0)
        self._who, self._end = who[ongoing], end[ongoing]
        return begin > until[before:]


def first(
    rows: int, frames: Iterator[pl.DataFrame], keep: Callable[[pl.DataFrame], np.ndarray]
) -> Iterator[pl.DataFrame]:
    """Yield the tuples that ``keep`` selects, up to ``rows`` in total."""
    while rows > 0:
        frame = next(frames)
        frame = frame.filter(keep(frame)).head(rows)
        rows -= frame.height
        yield frame
