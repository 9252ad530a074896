"""Functions bit by bit: what is kept of a window that grows, instead of its tuples.

Each tuple is *lifted* to a few columns, its partial result; partial results are combined one after
the other (*scan*); a partial result is *finished* to the value of the function. The partial result
of all tuples so far stands for them, so a window may grow for ever.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl
from numba import njit
from numpy.typing import NDArray

from boxcars.kernels.folds import LEAST, MOST, SUM, merge, scan
from boxcars.kernels.keys import ordered_numbers

Ints = NDArray[np.int64]
Numbers = NDArray[Any]
Columns = Sequence[pl.Series]


@dataclass(frozen=True)
class Partial:
    """How a function is computed bit by bit.

    ``lift`` takes the arguments of tuples and their number; ``scan`` takes partial results in the
    order of their groups and where each group starts, and combines each with those before it.
    """

    lift: Callable[[Columns, int], Columns]
    scan: Callable[[Columns, Ints], Columns]
    finish: Callable[[Columns], pl.Series]


def _running_sums(columns: Columns, starts: Ints) -> Columns:
    return [pl.Series(scan(SUM, column.to_numpy(), starts)) for column in columns]


def _valid(column: pl.Series) -> pl.Series:
    return column.is_not_null().cast(pl.Int64)


def _lift_count(arguments: Columns, number: int) -> Columns:
    return [_valid(arguments[0]) if arguments else pl.Series(np.ones(number, np.int64))]


def _lift_sum(arguments: Columns, _number: int) -> Columns:
    return [arguments[0].fill_null(0), _valid(arguments[0])]


def _lift_avg(arguments: Columns, number: int) -> Columns:
    return _lift_sum([arguments[0].cast(pl.Float64)], number)


def _lift_same(arguments: Columns, _number: int) -> Columns:
    return [arguments[0]]


def _lift_ends(arguments: Columns, _number: int) -> Columns:
    return [arguments[0], arguments[0]]


def _lift_variance(arguments: Columns, _number: int) -> Columns:
    values = arguments[0].cast(pl.Float64)
    return [
        _valid(values).cast(pl.Float64),
        values.fill_null(0),
        pl.Series(np.zeros(len(values))),
    ]


def _first_of_group(column: pl.Series, starts: Ints) -> pl.Series:
    return column.gather(np.repeat(starts[:-1], np.diff(starts)))


def _scan_first(columns: Columns, starts: Ints) -> Columns:
    return [_first_of_group(columns[0], starts)]


def _scan_last(columns: Columns, _starts: Ints) -> Columns:
    return columns


def _scan_ends(columns: Columns, starts: Ints) -> Columns:
    return [_first_of_group(columns[0], starts), columns[1]]


def _scan_extreme(greatest: bool) -> Callable[[Columns, Ints], Columns]:
    how = MOST if greatest else LEAST

    def run(columns: Columns, starts: Ints) -> Columns:
        column = columns[0]
        numbers, back = ordered_numbers(column)
        limits = (-np.inf, np.inf) if numbers.dtype == pl.Float64 else (-(2**63), 2**63 - 1)
        values = numbers.fill_null(limits[0] if greatest else limits[1]).to_numpy()
        some = pl.Series(scan(SUM, _valid(column).to_numpy(), starts)) > 0
        found = back(scan(how, values, starts)).cast(column.dtype)
        return [pl.select(pl.when(some).then(found)).to_series()]

    return run


@njit(cache=True, nogil=True)
def _scan_moments(n: Numbers, mean: Numbers, m2: Numbers, starts: Ints) -> Any:
    n, mean, m2 = n.copy(), mean.copy(), m2.copy()
    for group in range(len(starts) - 1):
        for i in range(starts[group] + 1, starts[group + 1]):
            j = i - 1
            n[i], mean[i], m2[i] = merge(n[j], mean[j], m2[j], n[i], mean[i], m2[i])
    return n, mean, m2


def _scan_variance(columns: Columns, starts: Ints) -> Columns:
    n, mean, m2 = (column.to_numpy() for column in columns)
    return [pl.Series(column) for column in _scan_moments(n, mean, m2, starts)]


def _finish_same(columns: Columns) -> pl.Series:
    return columns[0]


def _nulled(values: pl.Series, kept: pl.Series) -> pl.Series:
    return pl.select(pl.when(kept).then(values)).to_series()


def _finish_sum(columns: Columns) -> pl.Series:
    return _nulled(columns[0], columns[1] > 0)


def _finish_avg(columns: Columns) -> pl.Series:
    return _nulled(columns[0] / columns[1], columns[1] > 0)


def _finish_delta(columns: Columns) -> pl.Series:
    return columns[1] - columns[0]


def _finish_variance(columns: Columns) -> pl.Series:
    n, _mean, m2 = columns
    return _nulled(m2 / (n - 1), n > 1)


def _finish_stddev(columns: Columns) -> pl.Series:
    return _finish_variance(columns).sqrt()


PARTIALS: Mapping[str, Partial] = {
    "count": Partial(_lift_count, _running_sums, _finish_same),
    "sum": Partial(_lift_sum, _running_sums, _finish_sum),
    "avg": Partial(_lift_avg, _running_sums, _finish_avg),
    "min": Partial(_lift_same, _scan_extreme(greatest=False), _finish_same),
    "max": Partial(_lift_same, _scan_extreme(greatest=True), _finish_same),
    "first": Partial(_lift_same, _scan_first, _finish_same),
    "last": Partial(_lift_same, _scan_last, _finish_same),
    "delta": Partial(_lift_ends, _scan_ends, _finish_delta),
    "variance": Partial(_lift_variance, _scan_variance, _finish_variance),
    "stddev": Partial(_lift_variance, _scan_variance, _finish_stddev),
}
"""The functions that need no tuples; the others, such as median, look at all of a window's."""
