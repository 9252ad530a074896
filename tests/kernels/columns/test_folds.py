"""Folds: minimum, maximum and quantiles of values that are NaN or infinite."""

from math import isnan
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import boxcars as bx
from boxcars.kernels.columns.folds import quantiles
from tests.boxes.helper import network

NAN, INF = float("nan"), float("inf")
WINDOWS = [
    bx.time(4, flush=True),
    bx.time(6, advance=2, flush=True),
    bx.time(3, advance=0),
    bx.tuples(3, 1),
    bx.landmark(emit="change"),
]


def greatest(values: list[float]) -> float:
    """NaN is greater than all numbers, as in comparisons and in databases."""
    return NAN if any(map(isnan, values)) else max(values)


def least(values: list[float]) -> float:
    return min((v for v in values if not isnan(v)), default=NAN)


@pytest.mark.parametrize("window", WINDOWS, ids=lambda window: f"{window.by}-{window.advance}")
@given(st.lists(st.sampled_from([NAN, -INF, 1.0, 9.0, None]), min_size=1, max_size=12))
@settings(max_examples=15)
def test_nan_is_the_greatest(window: bx.Window, values: list[float | None]) -> None:
    fields = {"mx": "max(x)", "mn": "min(x)", "all": "concat(cast(x as str), ' ')"}
    net = network(
        lambda rows: rows.aggregate(window, fields=fields), {"t": "int", "x": "float"}, ts="t"
    )
    frame = pl.DataFrame({"t": range(len(values)), "x": values}, {"t": pl.Int64, "x": pl.Float64})
    for trains in (1, 3):
        for row in bx.preview(net, {"calls": frame}, trains=trains)["out0"].to_pylist():
            found = [float(text) for text in row["all"].split()]
            expected: list[Any] = [greatest(found), least(found)] if found else [None, None]
            np.testing.assert_equal([row["mx"], row["mn"]], expected)


@pytest.mark.parametrize(
    ("values", "share", "found"),
    [
        ([-INF, -INF, -33.0, INF], 0.5, -INF),
        ([1.0, INF], 0.5, INF),
        ([INF, INF], 0.5, INF),
        ([-INF, INF], 0.5, NAN),
        ([1.0, 3.0], 0.5, 2.0),
    ],
)
def test_quantiles_with_infinity(values: list[float], share: float, found: float) -> None:
    given = np.array(values)
    ends = np.array([0], np.uint32), np.array([len(values)], np.uint32)
    np.testing.assert_equal(quantiles(given, np.full(len(given), True), *ends, share), [found])
