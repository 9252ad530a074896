"""Tools for data generators."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import polars as pl

from boxcars.apps.app import Chunk

CHUNK = 50_000
"""Maximum number of tuples in a chunk."""


def sizes(rows: int, most: int = CHUNK) -> Iterator[int]:
    """The sizes of the chunks for ``rows`` rows.

    >>> list(sizes(7, 3))
    [3, 3, 1]
    """
    while rows > 0:
        yield min(rows, most)
        rows -= most


def clock(rng: np.random.Generator, rows: int, rate: float, start: int = 0) -> Iterator[np.ndarray]:
    """Yield arrays of sorted times in whole seconds, of tuples that arrive at a rate."""
    at = float(start)
    for size in sizes(rows):
        times = at + np.cumsum(rng.exponential(1 / rate, size))
        at = float(times[-1])
        yield times.astype(np.int64)


def weave(
    background: Iterator[pl.DataFrame], planted: pl.DataFrame, by: str
) -> Iterator[pl.DataFrame]:
    """Merge planted tuples into the background by time, after background tuples of equal time."""
    planted = planted.sort(by, maintain_order=True)
    for frame in background:
        due = planted.filter(pl.col(by) <= frame[by][-1])
        planted = planted[due.height :]
        yield pl.concat([frame, due]).sort(by, maintain_order=True) if due.height else frame
    if planted.height:
        yield planted


def first_tuples(chunk: Chunk, rows: int, by: str) -> Chunk:
    """The first ``rows`` tuples of a chunk by time, over all inputs."""
    times = np.sort(np.concatenate([frame[by].to_numpy() for frame in chunk.values()]))
    if len(times) <= rows:
        return chunk
    last, spare = times[rows - 1], int(np.searchsorted(times, times[rows - 1], "right")) - rows
    kept = {}
    for name, frame in chunk.items():
        before, at = frame.filter(pl.col(by) < last), frame.filter(pl.col(by) == last)
        dropped = min(spare, at.height)
        kept[name], spare = pl.concat([before, at[dropped:]]), spare - dropped
    return kept
