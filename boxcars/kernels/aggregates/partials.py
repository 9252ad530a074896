"""Partial aggregates: what is stored of a growing window in place of its tuples.

Each tuple is *lifted* to a partial result, a few columns; partial results are combined one after
the other (*scan*); a partial result is *finished* to the value of the function. The partial result
of all tuples so far replaces them, so a window may grow without bound.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl
from numba import njit
from numpy.typing import NDArray

from boxcars.kernels.columns.folds import LEAST, MOST, SUM, Windows, fold, fold_moments, merge, scan
from boxcars.kernels.columns.frames import take_values
from boxcars.kernels.columns.keys import ordered_numbers

Ints = NDArray[np.int64]
Numbers = NDArray[Any]
Columns = Sequence[pl.Series]
_Combined = Callable[[int, Numbers], Numbers]


@dataclass(frozen=True)
class Partial:
    """How a function is computed incrementally.

    ``lift`` takes the arguments of tuples and their number; ``scan`` takes partial results in group
    order and the start of each group, and combines each with those before it; ``fold``, where there
    is one, combines those of each window.
    """

    lift: Callable[[Columns, int], Columns]
    scan: Callable[[Columns, Ints], Columns]
    finish: Callable[[Columns], pl.Series]
    fold: Callable[[Columns, Windows], Columns] | None = None


def _running_sums(columns: Columns, starts: Ints) -> Columns:
    return [pl.Series(scan(SUM, column.to_numpy(), starts)) for column in columns]


def _valid(column: pl.Series) -> pl.Series:
    if not column.null_count():
        return pl.Series(np.ones(len(column), np.int64))
    return column.is_not_null().cast(pl.Int64)


def _zeroed(column: pl.Series) -> pl.Series:
    return column.fill_null(0) if column.null_count() else column


def _lift_count(arguments: Columns, number: int) -> Columns:
    return [_valid(arguments[0]) if arguments else pl.Series(np.ones(number, np.int64))]


def _lift_sum(arguments: Columns, _number: int) -> Columns:
    return [_zeroed(arguments[0]), _valid(arguments[0])]


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
        _zeroed(values),
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


def _extremes(greatest: bool, column: pl.Series, some: Ints, combined: _Combined) -> pl.Series:
    """The minima or maxima of groups, null where there are no values."""
    numbers, back = ordered_numbers(column)
    # A null changes nothing: NaN is the greatest of all, as in folds.combine.
    limits = (-np.inf, np.nan) if numbers.dtype == pl.Float64 else (-(2**63), 2**63 - 1)
    values = numbers.fill_null(limits[0] if greatest else limits[1]).to_numpy()
    found = back(combined(MOST if greatest else LEAST, values)).cast(column.dtype)
    return found if len(some) == 0 or some.min() > 0 else _nulled(found, pl.Series(some) > 0)


def _scan_extreme(greatest: bool) -> Callable[[Columns, Ints], Columns]:
    def run(columns: Columns, starts: Ints) -> Columns:
        some = scan(SUM, _valid(columns[0]).to_numpy(), starts)
        return [_extremes(greatest, columns[0], some, lambda how, v: scan(how, v, starts))]

    return run


def _fold_extreme(greatest: bool) -> Callable[[Columns, Windows], Columns]:
    def run(columns: Columns, windows: Windows) -> Columns:
        (column,) = columns
        some = windows.counts
        if column.null_count():
            some = fold(SUM, _valid(column).to_numpy(), windows)
        return [_extremes(greatest, column, some, lambda how, v: fold(how, v, windows))]

    return run


def _fold_sums(columns: Columns, windows: Windows) -> Columns:
    return [pl.Series(fold(SUM, column.to_numpy(), windows)) for column in columns]


def _fold_first(columns: Columns, windows: Windows) -> Columns:
    return [take_values(columns[0], windows.slices.lo)]


def _fold_last(columns: Columns, windows: Windows) -> Columns:
    return [take_values(columns[0], windows.slices.hi - 1)]


def _fold_ends(columns: Columns, windows: Windows) -> Columns:
    return [*_fold_first(columns[:1], windows), *_fold_last(columns[1:], windows)]


def _fold_variance(columns: Columns, windows: Windows) -> Columns:
    found = fold_moments([column.to_numpy() for column in columns], windows)
    return [pl.Series(column) for column in found]


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
    return values if kept.all() else pl.select(pl.when(kept).then(values)).to_series()


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


_LEAST = (_lift_same, _scan_extreme(greatest=False), _finish_same, _fold_extreme(greatest=False))
_MOST = (_lift_same, _scan_extreme(greatest=True), _finish_same, _fold_extreme(greatest=True))

PARTIALS: Mapping[str, Partial] = {
    "count": Partial(_lift_count, _running_sums, _finish_same, _fold_sums),
    "sum": Partial(_lift_sum, _running_sums, _finish_sum, _fold_sums),
    "avg": Partial(_lift_avg, _running_sums, _finish_avg, _fold_sums),
    "min": Partial(*_LEAST),
    "max": Partial(*_MOST),
    "first": Partial(_lift_same, _scan_first, _finish_same, _fold_first),
    "last": Partial(_lift_same, _scan_last, _finish_same, _fold_last),
    "delta": Partial(_lift_ends, _scan_ends, _finish_delta, _fold_ends),
    "variance": Partial(_lift_variance, _scan_variance, _finish_variance, _fold_variance),
    "stddev": Partial(_lift_variance, _scan_variance, _finish_stddev, _fold_variance),
}
"""The functions that do not need all tuples; others, such as median, do."""
