"""Windows that closed: what every kind of window gives to the aggregate."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import polars as pl

from boxcars.kernels.aggregates import Windows
from boxcars.kernels.kernel import Frontier, State
from boxcars.kernels.slices import Places


@dataclass(frozen=True)
class Grouping:
    """What a window needs to know of its box: the group-by fields and the order attribute."""

    by: Sequence[str]
    ts: str


@dataclass(frozen=True)
class Closed:
    """Windows that closed, in the order in which their results leave.

    ``tuples`` are sorted by key; ``windows`` are slices of them. ``keys`` has the group-by fields
    of each window's key at ``key``, and ``ts`` the order value of each result.
    """

    tuples: pl.DataFrame
    windows: Windows
    keys: pl.DataFrame
    key: Places
    ts: pl.Series
    frontier: Frontier
    state: State
