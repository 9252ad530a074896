"""Division is exact, and the same for one tuple as for many."""

import math
import random

import polars as pl
import pytest

from boxcars.expr import Expr
from boxcars.model.schema import Schema

SCHEMA = Schema.of({"x": "float", "y": "float", "n": "int", "t": "timestamp"}, ts="n")
DICE = random.Random(7)
SIZE = 300
FRAME = pl.DataFrame(
    {
        "x": [k * 0.1 for k in range(SIZE // 2)]
        + [DICE.uniform(-1e3, 1e3) for _ in range(SIZE // 2)],
        "y": [DICE.uniform(-50, 50) for _ in range(SIZE)],
        "n": [DICE.randrange(-(10**15), 10**15) for _ in range(SIZE)],
        "t": [DICE.randrange(10**15) for _ in range(SIZE)],
    },
    schema_overrides=SCHEMA.dtypes,
)


def column(text: str, frame: pl.DataFrame = FRAME) -> list[float]:
    return frame.select(Expr.of(text).compile(SCHEMA).alias("r"))["r"].to_list()


@pytest.mark.parametrize(
    "text",
    [
        *("x / 3.7", "x / y", "n / 7", "3.7 / x", "x / pi()", "x // 0.1", "x % 0.1", "x % y"),
        *("x ^ 2", "x ^ 3", "abs(x) ^ 0.5", "2 ^ y", "log(3, abs(x))", "ln(abs(x))", "exp(y)"),
        *("epoch(t)", "t - TIMESTAMP '2000-01-01'", "CAST(t AS float)", "t + x", "round(x, 1)"),
        *(
            "round(x, -1)",
            "cbrt(x)",
            "degrees(x)",
            "haversine(y, x, 10, 20)",
            "distance(x, y, 1, 2)",
        ),
    ],
)
def test_a_result_does_not_depend_on_the_size_of_the_train(text):
    alone = [column(text, FRAME[row : row + 1])[0] for row in range(SIZE)]
    assert column(text) == alone


def test_division_is_that_of_python():
    xs, ys = FRAME["x"].to_list(), FRAME["y"].to_list()
    assert column("x / 3.7") == [x / 3.7 for x in xs]
    assert column("x / y") == [x / y for x, y in zip(xs, ys, strict=True)]
    assert column("x // 0.1") == [math.floor(x / 0.1) for x in xs]
    assert column("x % 0.1") == [x - math.floor(x / 0.1) * 0.1 for x in xs]


def test_infinities_and_nan():
    frame = pl.DataFrame({"x": [math.inf, math.nan, None, 1.0]}, schema_overrides={"x": pl.Float64})
    full = frame.with_columns(y=pl.lit(0.0), n=pl.lit(0), t=pl.lit(None))
    assert [str(value) for value in column("x / 3", full)] == ["inf", "nan", "None", str(1 / 3)]
    assert [str(value) for value in column("3 / x", full)] == ["0.0", "nan", "None", "3.0"]
    assert column("x / y", full) == [None] * 4


def test_a_constant_modulo_nulls_has_as_many_rows() -> None:
    schema = Schema.of({"i": "int"}, ts="i")
    frame = pl.DataFrame({"i": [None, None]}, {"i": pl.Int64})
    for text in ("0 % i", "0 < 0 % i", "5 % i = 0", "0.5 % i > 1"):
        assert frame.select(Expr.of(text).compile(schema)).to_series().to_list() == [None, None]
