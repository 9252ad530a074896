"""Mathematical functions. Outside its domain a function is null: ``sqrt(-1)``, ``ln(0)``."""

from __future__ import annotations

import math
from functools import reduce

import polars as pl

from boxcars.expr.division import divide, modulo
from boxcars.expr.functions import Group
from boxcars.expr.operators import power

add = Group("math")


def _positive(x: pl.Expr) -> pl.Expr:
    return pl.when(x > 0).then(x)


def _log(base: pl.Expr, x: pl.Expr | None = None) -> pl.Expr:
    if x is None:
        return _positive(base).log10()
    return divide(_positive(x).log(), _positive(base).log())


def _greatest(*values: pl.Expr) -> pl.Expr:
    """Not ``pl.max_horizontal``, which ignores NaN; everywhere else NaN is the greatest."""
    return reduce(_greater, values)


def _greater(x: pl.Expr, y: pl.Expr) -> pl.Expr:
    return pl.when((x >= y) | y.is_null()).then(x).otherwise(y)


def _cbrt(x: pl.Expr) -> pl.Expr:
    root = x.abs().pow(1 / 3).round_sig_figs(15)
    return pl.when(x < 0).then(-root).otherwise(root)


def _round(x: pl.Expr, digits: int = 0) -> pl.Expr:
    if digits >= 0:
        return x.round(digits, mode="half_away_from_zero")
    unit = pl.lit(10.0 ** min(-digits, 300))
    return divide(x.cast(pl.Float64), unit).round(0, mode="half_away_from_zero") * unit


def _in_domain(x: pl.Expr) -> pl.Expr:
    return x.fill_nan(None)


add("abs(x: number) -> number", "The absolute value.", pl.Expr.abs, ("abs(-3)", 3))
add(
    "ceil(x: number) -> number",
    "Rounded up to an integer.",
    pl.Expr.ceil,
    ("ceil(1.2)", 2.0),
    aliases=("ceiling",),
)
add(
    "floor(x: number) -> number",
    "Rounded down to an integer.",
    pl.Expr.floor,
    ("floor(-1.2)", -2.0),
)
add(
    "round(x: number, digits?: const int) -> number",
    "Rounded to a number of decimal digits, half away from zero; null if the result overflows a "
    "64-bit int.",
    _round,
    ("round(2.5)", 3.0),
    ("round(3.14159, 2)", 3.14),
    ("round(1234.0, -2)", 1200.0),
    ("round(9223372036854775807, -1)", None),
)
add("sign(x: number) -> number", "-1, 0 or 1.", pl.Expr.sign, ("sign(-2.5)", -1.0))
add(
    "sqrt(x: float) -> float",
    "The square root, null for a negative number.",
    lambda x: _in_domain(x.sqrt()),
    ("sqrt(9)", 3.0),
    ("sqrt(-1)", None),
)
add("cbrt(x: float) -> float", "The cube root.", _cbrt, ("cbrt(-27)", -3.0))
add("exp(x: float) -> float", "e to the power of x.", pl.Expr.exp, ("exp(0)", 1.0))
add(
    "ln(x: float) -> float",
    "The natural logarithm, null unless x is positive.",
    lambda x: _positive(x).log(),
    ("ln(1)", 0.0),
    ("ln(0)", None),
)
add(
    "log10(x: float) -> float",
    "The logarithm to base 10.",
    lambda x: _positive(x).log10(),
    ("log10(1000)", 3.0),
)
add(
    "log2(x: float) -> float",
    "The logarithm to base 2.",
    lambda x: _positive(x).log(2),
    ("log2(8)", 3.0),
)
add(
    "log(b: float, x?: float) -> float",
    "log(b, x) is the logarithm of x to base b; log(x) has base 10, as in Postgres.",
    _log,
    ("log(100)", 2.0),
    ("log(2, 8)", 3.0),
    ("log(1, 8)", None),
)
add(
    "power(x: float, y: float) -> float",
    "x to the power of y, always a float: inf on overflow, null if the result is not real.",
    power,
    ("power(2, 10)", 1024.0),
    ("power(-1, 0.5)", None),
    aliases=("pow",),
)
add(
    "mod(x: number, y: number) -> number",
    "The remainder of x divided by y, with the sign of y; null for y = 0.",
    modulo,
    ("mod(-7, 3)", 2),
    ("mod(7, 0)", None),
)
add("pi() -> float", "The number pi.", lambda: pl.lit(math.pi), ("pi()", math.pi))
add("degrees(x: float) -> float", "Radians as degrees.", pl.Expr.degrees, ("degrees(pi())", 180.0))
add("radians(x: float) -> float", "Degrees as radians.", pl.Expr.radians, ("radians(180)", math.pi))
add("sin(x: float) -> float", "The sine.", lambda x: _in_domain(x.sin()), ("sin(0)", 0.0))
add("cos(x: float) -> float", "The cosine.", lambda x: _in_domain(x.cos()), ("cos(0)", 1.0))
add("tan(x: float) -> float", "The tangent.", lambda x: _in_domain(x.tan()), ("tan(0)", 0.0))
add(
    "asin(x: float) -> float",
    "The arc sine, null outside -1 to 1.",
    lambda x: _in_domain(x.arcsin()),
    ("asin(0)", 0.0),
)
add(
    "acos(x: float) -> float",
    "The arc cosine, null outside -1 to 1.",
    lambda x: _in_domain(x.arccos()),
    ("acos(1)", 0.0),
    ("acos(2)", None),
)
add("atan(x: float) -> float", "The arc tangent.", pl.Expr.arctan, ("atan(0)", 0.0))
add(
    "atan2(y: float, x: float) -> float",
    "The angle of the point (x, y).",
    pl.arctan2,
    ("atan2(1, 1)", math.pi / 4),
)
add(
    "greatest(x...: T) -> T",
    "The greatest argument that is not null; NaN is greater than all numbers.",
    _greatest,
    ("greatest(1, 3.5, 2)", 3.5),
    ("greatest('a', 'b')", "b"),
)
add(
    "least(x...: T) -> T",
    "The least argument that is not null.",
    pl.min_horizontal,
    ("least(3, NULL, 2)", 2),
)
add("bit_and(x: int, y: int) -> int", "Bitwise and.", pl.Expr.__and__, ("bit_and(12, 10)", 8))
add("bit_or(x: int, y: int) -> int", "Bitwise or.", pl.Expr.__or__, ("bit_or(12, 10)", 14))
add(
    "bit_xor(x: int, y: int) -> int",
    "Bitwise exclusive or.",
    pl.Expr.__xor__,
    ("bit_xor(12, 10)", 6),
)
