"""Conditionals and nulls."""

from __future__ import annotations

import polars as pl

from boxcars.expr.functions import Group

add = Group("logic")


def _if(condition: pl.Expr, yes: pl.Expr, no: pl.Expr | None = None) -> pl.Expr:
    chosen = pl.when(condition).then(yes)
    return chosen if no is None else chosen.otherwise(no)


add(
    "coalesce(x...: T) -> T",
    "The first argument that is not null.",
    pl.coalesce,
    ("coalesce(NULL, 2, 3)", 2),
    aliases=("ifnull", "nvl"),
)
add(
    "nullif(x: T, y: T) -> T",
    "x, or null if it equals y.",
    lambda x, y: pl.when((x != y).fill_null(True)).then(x),
    ("nullif('-', '-')", None),
    ("nullif(5, 0)", 5),
)
add(
    "if(condition: bool, yes: T, no?: T) -> T",
    "yes if the condition is true, otherwise no (or null).",
    _if,
    ("if(2 > 1, 'a', 'b')", "a"),
    ("if(NULL, 1)", None),
    aliases=("iff",),
)
add(
    "is_null(x: any) -> bool",
    "Whether x is null.",
    pl.Expr.is_null,
    ("is_null(nullif(1, 1))", True),
    aliases=("isnull",),
)
