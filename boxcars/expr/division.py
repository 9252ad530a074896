"""Division whose result does not depend on the number of rows."""

from __future__ import annotations

import polars as pl


def divide(a: pl.Expr, b: pl.Expr) -> pl.Expr:
    """Return ``a / b``, null by zero.

    >>> pl.select(divide(pl.lit(1.0), pl.lit(0.0))).item() is None
    True
    """
    return a / _divisor_column(a, b)


def floor_divide(a: pl.Expr, b: pl.Expr) -> pl.Expr:
    """Return ``a // b``, which is ``a / b`` rounded down; null by zero."""
    return a // _divisor_column(a, b)


def modulo(a: pl.Expr, b: pl.Expr) -> pl.Expr:
    """Return ``a % b``, which is ``a - a // b * b`` and has the sign of ``b``; null by zero."""
    return a * _ones(b) % _divisor_column(a, b)  # for Polars, a constant % nulls is a single null


def _divisor_column(a: pl.Expr, b: pl.Expr) -> pl.Expr:
    """Return ``b`` as a column as long as ``a``, null where it is zero.

    Polars divides a column by a constant as ``a * (1 / b)``, which is often one bit off, except for
    a column of one row: the result would depend on how tuples are split into trains. Division by a
    column is exact, so a constant is expanded to a column, as ``b`` times a column of ones.
    """
    return pl.when(b != 0).then(b) * _ones(a)


def _ones(column: pl.Expr) -> pl.Expr:
    """Return a column of ones, as long as the given one."""
    return column.is_nan().or_(True).cast(pl.Int64)
