"""System columns: hidden columns that travel with a tuple but are not fields of it."""

from __future__ import annotations

import numpy as np
import polars as pl
from numpy.typing import NDArray

POSITION = "__pos"
"""Position of a tuple in its input; it does not depend on how the stream is split into trains."""

HIDDEN_COLUMNS = pl.col("^__.*$")
"""All hidden columns of a train, for a select."""

_MULTIPLIER = pl.lit(0xBF58476D1CE4E5B9, dtype=pl.UInt64)
_FINISHER = pl.lit(0x94D049BB133111EB, dtype=pl.UInt64)


def pseudo_random(position: pl.Expr, seed: int) -> pl.Expr:
    """A pseudo-random number in [0, 1), a function of position and seed (splitmix64)."""
    start = (seed * 0x9E3779B97F4A7C15) % 2**64
    z = position.reinterpret(signed=False) + pl.lit(start, dtype=pl.UInt64)
    z = (z ^ (z // 2**30)) * _MULTIPLIER
    z = (z ^ (z // 2**27)) * _FINISHER
    z = z ^ (z // 2**31)
    return (z // 2**11).cast(pl.Float64) / 2**53


def combine_positions(*positions: NDArray[np.int64]) -> NDArray[np.int64]:
    """Hash several positions into one, deterministically: for results made of several tuples."""
    total = np.zeros_like(positions[0], dtype=np.uint64)
    for number in positions:
        total = total * np.uint64(0x9E3779B97F4A7C15) + number.astype(np.uint64)
        total ^= total >> np.uint64(32)
    return np.asarray((total >> np.uint64(1)).astype(np.int64))
