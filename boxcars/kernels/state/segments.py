"""A queue of rows in immutable segments: append at the end, drop at the front.

A few *segments*, oldest first, hold the rows. Each is a frame of the state and never changes, so a
checkpoint writes only what is new. A segment is merged with the previous one unless that is much
larger, so there are few segments and a row is copied only a few times. Dropped rows at the front
may remain for a while: a segment is cut only when enough of it is dropped to pay for the copy.
"""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from boxcars.kernels.columns.frames import concat_rows
from boxcars.kernels.contract import State

Segments = Sequence[pl.DataFrame]

_MERGE_RATIO = 2
"""Ratio of row counts; a segment is merged into the previous unless that is this much larger."""
_CUT_RATIO = 4
"""A segment is cut when one row in this many is dropped."""


def read_segments(state: State, name: str) -> list[pl.DataFrame]:
    """The segments stored under a name; at least one after the first step, possibly empty."""
    found: list[pl.DataFrame] = []
    while (segment := state.get(f"{name}.{len(found)}")) is not None:
        found.append(segment)
    return found


def as_state(segments: Segments, name: str) -> State:
    """Segments as frames of a state."""
    return {f"{name}.{number}": segment for number, segment in enumerate(segments)}


def advance_segments(segments: Segments, new: pl.DataFrame, dropped: int) -> list[pl.DataFrame]:
    """Append new rows, and remove the first ``dropped`` ones.

    >>> kept = advance_segments([pl.DataFrame({"t": range(9)})], pl.DataFrame({"t": [9]}), 5)
    >>> [segment["t"].to_list() for segment in kept]
    [[5, 6, 7, 8], [9]]
    """
    kept = _cut([*segments, new], dropped)
    while len(kept) > 1 and _MERGE_RATIO * kept[-1].height >= kept[-2].height:
        kept[-2:] = [concat_rows(kept[-2:]).rechunk()]
    return kept


def _cut(segments: Segments, dropped: int) -> list[pl.DataFrame]:
    """The segments with rows left, the first without most of its dropped rows."""
    kept: list[pl.DataFrame] = []
    for segment in segments:
        here = min(dropped, segment.height)
        dropped -= here
        if here < segment.height:
            kept.append(segment[here:] if _CUT_RATIO * here >= segment.height else segment)
    return kept or [segments[-1].clear()]
