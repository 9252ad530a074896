"""Division that gives the same on one tuple and on a million."""

from __future__ import annotations

import polars as pl


def divide(a: pl.Expr, b: pl.Expr) -> pl.Expr:
    """Return ``a / b``, null by zero.

    >>> pl.select(divide(pl.lit(1.0), pl.lit(0.0))).item() is None
    True
    """
    return a / _beside(a, b)


def floor_divide(a: pl.Expr, b: pl.Expr) -> pl.Expr:
    """Return ``a // b``, which is ``a / b`` rounded down; null by zero."""
    return a // _beside(a, b)


def modulo(a: pl.Expr, b: pl.Expr) -> pl.Expr:
    """Return ``a % b``, which is ``a - a // b * b`` and has the sign of ``b``; null by zero."""
    return a * _ones(b) % _beside(a, b)  # a constant % nulls would be one null for Polars


def _beside(a: pl.Expr, b: pl.Expr) -> pl.Expr:
    """Return ``b`` as a column as long as ``a``, null where it is zero.

    Polars divides a column by a constant as ``a * (1 / b)``, which is often one bit off, but not if
    the column has one row: the result would depend on how tuples are cut into trains. A column is
    divided exactly, so the constant is made one, as ``b`` times a column of ones.
    """
    return pl.when(b != 0).then(b) * _ones(a)


def _ones(column: pl.Expr) -> pl.Expr:
    """Return ones, as many as a column has rows."""
    return column.is_nan().or_(True).cast(pl.Int64)
