"""The valid range of order values: tuples outside of it are rejected.

Windows compute with pane numbers in 64 bits. Values within the range leave headroom for the size
and the origin of a window, so that the arithmetic never overflows.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

import polars as pl

from boxcars.model.timestamps import IN_WORDS
from boxcars.model.types import Type

FARTHEST_INT = 2**62
"""The greatest int order value: nanoseconds since 1970 until the year 2116."""
FARTHEST_FLOAT = float(2**53)
"""The greatest float order value: up to here floats represent all whole numbers."""
FARTHEST_SIZE = 2**60
"""The greatest size, advance and origin of a window, in units of the order attribute."""

_RANGES: Mapping[Type, tuple[Any, Any, str]] = {
    Type.INT: (-FARTHEST_INT, FARTHEST_INT, "-2^62 and 2^62"),
    Type.FLOAT: (-FARTHEST_FLOAT, FARTHEST_FLOAT, "-2^53 and 2^53"),
    Type.TIMESTAMP: (datetime.min, datetime.max, IN_WORDS),
}


def range_of(type_: Type) -> tuple[Any, Any]:
    """Return the least and the greatest order value of a type."""
    least, most, _ = _RANGES[type_]
    return least, most


def in_words(type_: Type) -> str:
    """Return the range of a type as text, such as ``-2^53 and 2^53``."""
    return _RANGES[type_][2]


def has_place(value: pl.Expr, type_: Type) -> pl.Expr:
    """Whether an order value is valid: neither null, nor NaN, nor out of range.

    >>> times = pl.Series("t", [1.0, float("inf"), float("nan"), None, 1e300])
    >>> times.to_frame().select(has_place(pl.col("t"), Type.FLOAT)).to_series().to_list()
    [True, False, False, False, False]
    """
    return value.is_between(*range_of(type_)).fill_null(value=False)
