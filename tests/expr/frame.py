"""A frame shared by the tests of expressions."""

from datetime import datetime
from typing import Any

import polars as pl

from boxcars.expr import Expr
from boxcars.model.schema import Schema

SCHEMA = Schema.of(
    {
        "i": "int",
        "zero": "int",
        "f": "float",
        "s": "str",
        "b": "bool",
        "t": "timestamp",
        "y": "bytes",
        "none": "int",
        "my field": "int",
        "left.k": "int",
    },
    ts="i",
)
ROW = {
    "i": 7,
    "zero": 0,
    "f": 2.5,
    "s": "abc",
    "b": True,
    "t": datetime(2024, 5, 19, 10, 20, 30, 500_000),
    "y": b"\xff",
    "none": None,
    "my field": 1,
    "left.k": 2,
}
FRAME = pl.DataFrame([ROW, dict.fromkeys(ROW)], schema=SCHEMA.dtypes, orient="row")


def value(text: str) -> Any:
    """The value of an expression in the first row; its column must have the declared type."""
    expr = Expr.of(text)
    column = FRAME.with_columns(expr.compile(SCHEMA).alias("result"))["result"]
    assert column.dtype == expr.type_in(SCHEMA).dtype
    return column[0]
