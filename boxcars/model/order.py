"""The range of order values: those that windows can count with, and no others have a place.

A window is a whole number of panes, in 64 bits. Values within the range leave room there for its
size, its origin and the sums that become of them, so that nothing wraps round.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

import polars as pl

from boxcars.model.timestamps import IN_WORDS
from boxcars.model.types import Type

FARTHEST_INT = 2**62
"""The greatest order value that is an int: nanoseconds until the year 2116."""
FARTHEST_FLOAT = float(2**53)
"""The greatest that is a float: up to here floats tell whole numbers from each other."""
FARTHEST_SIZE = 2**60
"""The greatest size, advance and origin of a window, in units of the order attribute."""

_RANGES: Mapping[Type, tuple[Any, Any, str]] = {
    Type.INT: (-FARTHEST_INT, FARTHEST_INT, "-2^62 and 2^62"),
    Type.FLOAT: (-FARTHEST_FLOAT, FARTHEST_FLOAT, "-2^53 and 2^53"),
    Type.TIMESTAMP: (datetime.min, datetime.max, IN_WORDS),
}


def range_of(type_: Type) -> tuple[Any, Any]:
    """The least and the greatest order value of a type."""
    least, most, _ = _RANGES[type_]
    return least, most


def in_words(type_: Type) -> str:
    """The range of a type in words, such as ``-2^53 and 2^53``."""
    return _RANGES[type_][2]


def has_place(value: pl.Expr, type_: Type) -> pl.Expr:
    """Whether a value has a place in the order: neither null, nor NaN, nor beyond the range.

    >>> times = pl.Series("t", [1.0, float("inf"), float("nan"), None, 1e300])
    >>> times.to_frame().select(has_place(pl.col("t"), Type.FLOAT)).to_series().to_list()
    [True, False, False, False, False]
    """
    return value.is_between(*range_of(type_)).fill_null(value=False)
