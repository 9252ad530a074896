"""Results of early-firing windows: partial results, numbers of distinct values, or tuples."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import polars as pl

from boxcars.kernels.aggregates.builtin import Function
from boxcars.kernels.columns.folds import Windows
from boxcars.kernels.columns.slices import Ints
from boxcars.kernels.windows.window_results import Results, argument, partials_of, result_position

FIRST, LAST = "__first", "__last"
"""The columns with the positions of the first and the newest tuple of a window."""


@dataclass(frozen=True, kw_only=True)
class EarlyResults(Results):
    """Emitted results: partial results of windows, or their tuples so far."""

    counted: tuple[int, ...]
    """The functions that count distinct values as they appear."""
    partials: dict[str, pl.Series]
    positions: dict[str, pl.Series]
    windows: Windows
    content: pl.DataFrame

    def compute_one(self, number: int, function: Function, arguments: int) -> pl.Series:
        """Finish the partial results, or compute the function over the retained tuples."""
        if number in self.counted:
            return self.partials[distinct_column(number)]
        if function.partial is None:
            given = [self.content[argument(number, i)] for i in range(arguments)]
            return function.compute(self.windows, given)
        return function.partial.finish(
            [self.partials[name] for name in partials_of(number, self.partials)]
        )

    def position(self) -> pl.Series | None:
        """Derived from the positions of the first and newest tuple and the result time."""
        if not self.positions:
            return None
        return result_position(self.positions[FIRST], self.positions[LAST], self.ts)


def new_from(number: int) -> str:
    """The column with the first window in which the counted value of a tuple is new."""
    return f"__new_from{number}"


def distinct_column(number: int) -> str:
    """The column with the number of distinct values of a window."""
    return f"__distinct{number}"


def running_counts(stored: Ints, first: Ints, source: Ints, windows: Ints, starts: Ints) -> Ints:
    """Running numbers of distinct values: of each window its stored number, then its new tuples.

    ``source`` has the rows of all windows: below the length of ``stored`` stored numbers, from
    there on new tuples, whose value is new from the window ``first`` on.
    """
    old = source < len(stored)
    window = np.repeat(windows, np.diff(starts))
    counts = np.empty(len(source), np.int64)
    counts[old] = stored[source[old]]
    counts[~old] = window[~old] >= first[source[~old] - len(stored)]
    sums = np.concatenate([[0], np.cumsum(counts)])
    return np.asarray(sums[1:] - np.repeat(sums[starts[:-1]], np.diff(starts)))


def empty_columns(types: Mapping[str, pl.DataType]) -> dict[str, pl.Series]:
    """Columns of these types without rows."""
    return {name: pl.Series(dtype=dtype) for name, dtype in types.items()}


def keyed_frame(keys: pl.DataFrame, columns: Mapping[str, pl.Series]) -> pl.DataFrame:
    """A frame of group-by fields (possibly none) and further columns."""
    return pl.DataFrame({**keys.to_dict(), **columns})
