"""Pre-aggregated panes: rows of partial results in place of tuples.

When a window closes, its tuples are *lifted* to their partial results. Where many of them share a
key and a pane, which no later window distinguishes, they are *condensed* to one row, so that the
next windows scan few rows.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import polars as pl
from numba import njit

from boxcars.kernels.columns.folds import Windows
from boxcars.kernels.columns.frames import (
    drop_columns,
    filter_rows,
    select_columns,
    take_rows,
    take_values,
)
from boxcars.kernels.columns.keys import encode_keys, group_order, take_ints
from boxcars.kernels.columns.slices import HEAD, Indices, Ints, Slices
from boxcars.kernels.columns.system_columns import POSITION
from boxcars.kernels.windows.window_results import (
    LAST_POSITION,
    Functions,
    Grouping,
    lift,
    partials_of,
)

PANE = "__pane"
_MIN_ROWS = 1000
"""Rows; fewer are not condensed."""
_ROWS_PER_PANE = 2
"""Average rows per key and pane from which they are condensed."""


def can_lift(functions: Functions) -> bool:
    """Whether all functions can be computed from partial results."""
    partials = [function.partial for function, _ in functions]
    return all(partial is not None and partial.fold is not None for partial in partials)


def lifted(tuples: pl.DataFrame, pane: Ints, group: Grouping, functions: Functions) -> pl.DataFrame:
    """Lift tuples to rows of panes, one each."""
    rows = {PANE: pl.Series(pane), **lift(tuples, functions), **_positions(tuples)}
    return pl.DataFrame({**select_columns(tuples, group.by).to_dict(), **rows})


def _positions(tuples: pl.DataFrame) -> dict[str, pl.Series]:
    """Positions of the first and last tuple that each row covers, if tuples have positions."""
    found = tuples.get_column(POSITION, default=None)
    return {} if found is None else {POSITION: found, LAST_POSITION: found}


def is_dense(windows: Windows) -> bool:
    """Whether the tuples of these windows fall into few panes."""
    if len(windows.blocks) < _MIN_ROWS or windows.panes is None:
        return False
    return _ROWS_PER_PANE * _number_of_panes(windows.blocks, windows.panes) <= len(windows.blocks)


@dataclass(frozen=True)
class Grouped:
    """Rows sorted by key (stable); ``columns`` has all but key and pane.

    ``table`` has the keys, ``order`` the original index of each row, ``starts`` the start of each
    key.
    """

    columns: pl.DataFrame
    table: pl.DataFrame
    order: Indices
    starts: Ints
    pane: Ints

    @classmethod
    def of(cls, rows: pl.DataFrame, pane: Ints, group: Grouping, by_key: bool = True) -> Grouped:
        """Sort rows by key; ``by_key``: in the sort order of the keys."""
        keys = encode_keys(rows, group.by, in_order=by_key)
        order, starts = group_order(keys.codes, keys.number)
        columns = drop_columns(rows, (*group.by, group.ts, PANE))
        columns = take_rows(columns, order) if columns.width else columns
        return cls(columns, keys.table, order, starts, take_ints(pane, order))

    @cached_property
    def key(self) -> Ints:
        """The key number of each row."""
        return np.repeat(np.arange(len(self.starts) - 1), np.diff(self.starts))

    @cached_property
    def firsts(self) -> Ints:
        """Start of the rows of each key and pane, and the total number of rows."""
        return _first_of_panes(self.key, self.pane)

    def slices(self, lo: Ints, hi: Ints, part: int) -> Slices:
        """Slices of one key each that are all the same part of a block."""
        key, low, high = (some.astype(np.uint32) for some in (self.key[lo], lo, hi))
        return Slices(key, low, high, np.full(len(lo), part, np.uint8))

    def since(self, pane: int, functions: Functions) -> Grouped:
        """Lift the tuples from a pane on."""
        later = self.pane >= pane
        starts = np.concatenate([[0], np.cumsum(later)])[self.starts]
        tuples = filter_rows(self.columns, later)
        rows = lift(tuples, functions) | _positions(tuples)
        return Grouped(pl.DataFrame(rows), self.table, self.order[later], starts, self.pane[later])

    def condensed(self, functions: Functions) -> pl.DataFrame | None:
        """One row per key and pane, in pane order; None if that saves little."""
        lo, hi = self.firsts[:-1], self.firsts[1:]
        if _ROWS_PER_PANE * len(lo) > len(self.pane):
            return None
        blocks = np.repeat(np.arange(len(lo)), hi - lo)
        windows = Windows(self.slices(lo, hi, HEAD), blocks, panes=self.pane)
        return self.fold(windows, self.pane[lo], functions).sort(PANE, maintain_order=True)

    def fold(self, windows: Windows, pane: Ints, functions: Functions) -> pl.DataFrame:
        """One row per slice, assigned to the given panes."""
        keys = self.table[windows.slices.key].to_dict() if self.table.width else {}
        partials = fold_rows(self.columns, windows, functions)
        return pl.DataFrame({**keys, PANE: pl.Series(pane), **partials})


def fold_rows(rows: pl.DataFrame, windows: Windows, functions: Functions) -> dict[str, pl.Series]:
    """Partial results and positions of each slice of rows."""
    slices = windows.slices
    found = {}
    for number, (function, _) in enumerate(functions):
        assert function.partial is not None
        assert function.partial.fold is not None
        names = partials_of(number, rows.columns)
        columns = function.partial.fold([rows[name] for name in names], windows)
        for name, column in zip(names, columns, strict=True):
            found[name] = column.cast(rows[name].dtype).alias(name)
    if POSITION in rows.columns:
        found[POSITION] = take_values(rows[POSITION], slices.lo)
        found[LAST_POSITION] = take_values(rows[LAST_POSITION], slices.hi - 1)
    return found


def condensed(rows: pl.DataFrame, group: Grouping, functions: Functions) -> pl.DataFrame:
    """One row per key and pane, in pane order; all rows unchanged if that saves little."""
    if rows.height < _MIN_ROWS:
        return rows
    grouped = Grouped.of(rows, rows[PANE].to_numpy(), group, by_key=False)
    few = grouped.condensed(functions)
    return rows if few is None else few


@njit(cache=True, nogil=True)
def _number_of_panes(groups: Ints, panes: Ints) -> int:
    found = min(len(panes), 1)
    for i in range(1, len(panes)):
        found += (panes[i] != panes[i - 1]) | (groups[i] != groups[i - 1])
    return found


@njit(cache=True, nogil=True)
def _first_of_panes(groups: Ints, panes: Ints) -> Ints:
    """Start of the rows of each group and pane, and the total number of rows."""
    firsts = np.empty(len(panes) + 1, np.int64)
    found = 0
    for i in range(len(panes)):
        if i == 0 or panes[i] != panes[i - 1] or groups[i] != groups[i - 1]:
            firsts[found] = i
            found += 1
    firsts[found] = len(panes)
    return firsts[: found + 1]
