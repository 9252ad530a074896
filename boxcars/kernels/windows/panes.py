"""Panes that have passed: rows with what tuples come to, instead of the tuples.

Where a window closes, its tuples are *lifted* to their partial results. Where many of them share a
key and a pane, which no window can tell apart any more, they are *condensed* to one row, so that
the next windows go over a few rows.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import polars as pl
from numba import njit

from boxcars.kernels.columns.folds import Windows
from boxcars.kernels.columns.frames import gathered, picked, rows_where, values_at, without
from boxcars.kernels.columns.keys import encode_keys, group_order, in_order
from boxcars.kernels.columns.slices import HEAD, Ints, Places, Slices
from boxcars.kernels.columns.system_columns import POSITION
from boxcars.kernels.windows.window_results import (
    LAST_POSITION,
    Functions,
    Grouping,
    lift,
    partials_of,
)

PANE = "__pane"
_WORTH = 1000
"""Fewer tuples are kept as they are."""
_DENSE = 2
"""So many tuples of a key in a pane, on average, are condensed."""


def can_lift(functions: Functions) -> bool:
    """Whether partial results say all that is asked for."""
    partials = [function.partial for function, _ in functions]
    return all(partial is not None and partial.fold is not None for partial in partials)


def lifted(tuples: pl.DataFrame, pane: Ints, group: Grouping, functions: Functions) -> pl.DataFrame:
    """Tuples as rows like those of panes, one for each."""
    rows = {PANE: pl.Series(pane), **lift(tuples, functions), **_positions(tuples)}
    return pl.DataFrame({**picked(tuples, group.by).to_dict(), **rows})


def _positions(tuples: pl.DataFrame) -> dict[str, pl.Series]:
    """Where tuples have positions, those of the first and the last that each stands for."""
    found = tuples.get_column(POSITION, default=None)
    return {} if found is None else {POSITION: found, LAST_POSITION: found}


def is_dense(windows: Windows) -> bool:
    """Whether the tuples among which these windows lie fall into few panes."""
    if len(windows.blocks) < _WORTH or windows.panes is None:
        return False
    return _DENSE * _number_of_panes(windows.blocks, windows.panes) <= len(windows.blocks)


@dataclass(frozen=True)
class Grouped:
    """Rows sorted by key, those of a key in their old order: ``columns`` has all but key and pane.

    ``table`` has the keys, ``order`` the old place of each row, ``starts`` where each key starts.
    """

    columns: pl.DataFrame
    table: pl.DataFrame
    order: Places
    starts: Ints
    pane: Ints

    @classmethod
    def of(cls, rows: pl.DataFrame, pane: Ints, group: Grouping, by_key: bool = True) -> Grouped:
        """Sort rows by their keys, in the order of the keys or in any."""
        keys = encode_keys(rows, group.by, in_order=by_key)
        order, starts = group_order(keys.codes, keys.number)
        columns = without(rows, (*group.by, group.ts, PANE))
        columns = gathered(columns, order) if columns.width else columns
        return cls(columns, keys.table, order, starts, in_order(pane, order))

    @cached_property
    def key(self) -> Ints:
        """The number of each row's key."""
        return np.repeat(np.arange(len(self.starts) - 1), np.diff(self.starts))

    @cached_property
    def firsts(self) -> Ints:
        """Where the rows of each key and pane start; and behind the last of them."""
        return _first_of_panes(self.key, self.pane)

    def slices(self, lo: Ints, hi: Ints, part: int) -> Slices:
        """Rows of one key each that all are the same part of a block."""
        key, low, high = (some.astype(np.uint32) for some in (self.key[lo], lo, hi))
        return Slices(key, low, high, np.full(len(lo), part, np.uint8))

    def since(self, pane: int, functions: Functions) -> Grouped:
        """The tuples from a pane on, lifted."""
        later = self.pane >= pane
        starts = np.concatenate([[0], np.cumsum(later)])[self.starts]
        tuples = rows_where(self.columns, later)
        rows = lift(tuples, functions) | _positions(tuples)
        return Grouped(pl.DataFrame(rows), self.table, self.order[later], starts, self.pane[later])

    def condensed(self, functions: Functions) -> pl.DataFrame | None:
        """One row for each key and pane, in the order of panes, if these are few."""
        lo, hi = self.firsts[:-1], self.firsts[1:]
        if _DENSE * len(lo) > len(self.pane):
            return None
        blocks = np.repeat(np.arange(len(lo)), hi - lo)
        windows = Windows(self.slices(lo, hi, HEAD), blocks, panes=self.pane)
        return self.fold(windows, self.pane[lo], functions).sort(PANE, maintain_order=True)

    def fold(self, windows: Windows, pane: Ints, functions: Functions) -> pl.DataFrame:
        """A row for each slice, in the panes that are given."""
        keys = self.table[windows.slices.key].to_dict() if self.table.width else {}
        partials = fold_rows(self.columns, windows, functions)
        return pl.DataFrame({**keys, PANE: pl.Series(pane), **partials})


def fold_rows(rows: pl.DataFrame, windows: Windows, functions: Functions) -> dict[str, pl.Series]:
    """The partial results of each slice of rows, and its positions."""
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
        found[POSITION] = values_at(rows[POSITION], slices.lo)
        found[LAST_POSITION] = values_at(rows[LAST_POSITION], slices.hi - 1)
    return found


def condensed(rows: pl.DataFrame, group: Grouping, functions: Functions) -> pl.DataFrame:
    """One row for each key and pane, in the order of panes, if these are few; or else all rows."""
    if rows.height < _WORTH:
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
    """Where the rows of each group and pane start; and behind the last of them."""
    firsts = np.empty(len(panes) + 1, np.int64)
    found = 0
    for i in range(len(panes)):
        if i == 0 or panes[i] != panes[i - 1] or groups[i] != groups[i - 1]:
            firsts[found] = i
            found += 1
    firsts[found] = len(panes)
    return firsts[: found + 1]
