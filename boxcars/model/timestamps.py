"""The range of timestamps: the years 1 to 9999, which databases, formats and libraries all have.

A count of microseconds outside of it is not a value of the type ``timestamp``. It is rejected where
data enters, and an expression that would compute it is null, so no other code has to check.
"""

from __future__ import annotations

from datetime import datetime, timedelta

import polars as pl

_EPOCH, _MICROSECOND = datetime(1970, 1, 1), timedelta(microseconds=1)
FIRST = (datetime.min - _EPOCH) // _MICROSECOND
"""The first microsecond of the year 1, counted from 1970."""
LAST = (datetime.max - _EPOCH) // _MICROSECOND
"""The last microsecond of the year 9999."""
IN_WORDS = "the years 1 and 9999"

_DAY = 86_400_000_000
_MICROS = {"ns": (1000, 1), "us": (1, 1), "ms": (1, 1000)}
"""Units per microsecond, and microseconds per unit."""


def in_range(time: pl.Expr, dtype: pl.DataType) -> pl.Expr:
    """Whether the values of a column of times or dates are valid timestamps; null for a null.

    It compares in the column's own unit, because Polars can't convert values far out of range.

    >>> far = pl.Series("t", [0, 9 * 10**18, None]).cast(pl.Datetime("ms")).to_frame()
    >>> far.select(in_range(pl.col("t"), far.schema["t"])).to_series().to_list()
    [True, False, None]
    """
    per, unit = _MICROS[dtype.time_unit] if isinstance(dtype, pl.Datetime) else (1, _DAY)
    first, last = FIRST * per // unit, ((LAST + 1) * per - 1) // unit
    counts = time.to_physical().cast(pl.Int64)
    return counts.is_between(max(first, -(2**63)), min(last, 2**63 - 1))


def bounded(micros: pl.Expr) -> pl.Expr:
    """Convert microseconds since 1970 to timestamps; null if out of range."""
    fits = micros.is_between(FIRST, LAST)
    return pl.when(fits).then(micros.cast(pl.Int64, strict=False)).cast(pl.Datetime("us"))


def bounded_series(times: pl.Series) -> pl.Series:
    """Return a column of timestamps, null where the value is out of range."""
    return times.to_frame("t").select(bounded(pl.col("t").to_physical())).to_series()
