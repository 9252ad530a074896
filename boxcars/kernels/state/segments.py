"""Rows that come at the end and go at the front, such that those in between cost nothing.

They lie in a few *segments*, the oldest first. Each is a frame of the state and is never changed,
so that whoever keeps the state writes what is new and nothing else. A segment is merged with the
one before it unless that one is much larger, so there are few of them, and a row is copied a few
times only. Rows at the front that nobody needs may stay for a while: a segment is cut when a part
of it that is worth the copying has gone.
"""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from boxcars.kernels.columns.frames import whole
from boxcars.kernels.contract import State

Segments = Sequence[pl.DataFrame]

_RATIO = 2
"""A segment is merged into the one before it unless that one is so many times larger."""
_SHARE = 4
"""A segment is cut when one row in so many has gone."""


def read_segments(state: State, name: str) -> list[pl.DataFrame]:
    """The segments that a state has under a name; at least one, which may be empty."""
    found: list[pl.DataFrame] = []
    while (segment := state.get(f"{name}.{len(found)}")) is not None:
        found.append(segment)
    return found


def as_state(segments: Segments, name: str) -> State:
    """Segments as frames of a state."""
    return {f"{name}.{number}": segment for number, segment in enumerate(segments)}


def moved_on(segments: Segments, new: pl.DataFrame, gone: int) -> list[pl.DataFrame]:
    """The segments with new rows behind them and without those in front that are not needed.

    >>> kept = moved_on([pl.DataFrame({"t": range(9)})], pl.DataFrame({"t": [9]}), 5)
    >>> [segment["t"].to_list() for segment in kept]
    [[5, 6, 7, 8], [9]]
    """
    kept = _cut([*segments, new], gone)
    while len(kept) > 1 and _RATIO * kept[-1].height >= kept[-2].height:
        kept[-2:] = [whole(kept[-2:]).rechunk()]
    return kept


def _cut(segments: Segments, gone: int) -> list[pl.DataFrame]:
    """The segments that still have rows, the first without most of those that have gone."""
    kept: list[pl.DataFrame] = []
    for segment in segments:
        here = min(gone, segment.height)
        gone -= here
        if here < segment.height:
            kept.append(segment[here:] if _SHARE * here >= segment.height else segment)
    return kept or [segments[-1].clear()]
