"""Points in the plane and on the globe."""

from __future__ import annotations

import polars as pl

from boxcars.expr.functions import Group

add = Group("geometry")
EARTH = 6_371_008.8
"""Meters; the mean radius of the Earth (IUGG)."""


def _distance(x1: pl.Expr, y1: pl.Expr, x2: pl.Expr, y2: pl.Expr) -> pl.Expr:
    return ((x1 - x2) ** 2 + (y1 - y2) ** 2).sqrt()


def _haversine(lat1: pl.Expr, lon1: pl.Expr, lat2: pl.Expr, lon2: pl.Expr) -> pl.Expr:
    half_lat = ((lat2 - lat1) / 2).radians().sin()
    half_lon = ((lon2 - lon1) / 2).radians().sin()
    square = half_lat**2 + lat1.radians().cos() * lat2.radians().cos() * half_lon**2
    return 2 * EARTH * square.clip(0, 1).sqrt().arcsin()


def _in_box(*corners: pl.Expr) -> pl.Expr:
    x, y, x1, y1, x2, y2 = corners
    across = (x >= pl.min_horizontal(x1, x2)) & (x <= pl.max_horizontal(x1, x2))
    along = (y >= pl.min_horizontal(y1, y2)) & (y <= pl.max_horizontal(y1, y2))
    known = x1.is_not_null() & y1.is_not_null() & x2.is_not_null() & y2.is_not_null()
    return pl.when(known).then(across & along)


add(
    "distance(x1: float, y1: float, x2: float, y2: float) -> float",
    "The distance between two points in the plane.",
    _distance,
    ("distance(0, 0, 3, 4)", 5.0),
)
add(
    "haversine(lat1: float, lon1: float, lat2: float, lon2: float) -> float",
    "The distance between two points on the globe in meters; coordinates are in degrees.",
    _haversine,
    ("round(haversine(52.52, 13.405, 48.8566, 2.3522) / 1000)", 877.0),
)
add(
    "in_box(x: float, y: float, x1: float, y1: float, x2: float, y2: float) -> bool",
    "Whether a point lies in the rectangle between two corners, edges included.",
    _in_box,
    ("in_box(1, 1, 0, 0, 2, 2)", True),
    ("in_box(3, 1, 0, 0, 2, 2)", False),
)
