"""Panes that have passed: a row for each key with what its tuples come to, instead of the tuples.

A window that slides by a little holds the same panes many times. Where many tuples share a key and
a pane, they are *condensed* to their partial result once the pane has passed, so that the next
windows go over a few rows. Tuples that come alone are better kept as they are.
"""

from __future__ import annotations

import numpy as np
import polars as pl
from numba import njit

from boxcars.kernels.closed import Functions, Grouping, lift, partials_of
from boxcars.kernels.folds import Windows
from boxcars.kernels.hidden import POSITION
from boxcars.kernels.keys import encode_keys, group_order
from boxcars.kernels.segments import Segments, moved_on, whole
from boxcars.kernels.slices import Ints

PANE = "__pane"
_WORTH = 1000
"""Fewer tuples are kept as they are."""
_DENSE = 2
"""So many tuples of a key in a pane, on average, are condensed."""


def can_condense(functions: Functions, tuples: pl.DataFrame) -> bool:
    """Whether partial results say all that is asked for; of positions they say nothing."""
    partials = [function.partial for function, _ in functions]
    known = all(partial is not None and partial.fold is not None for partial in partials)
    return known and POSITION not in tuples.columns


def is_dense(windows: Windows, tuples: int) -> bool:
    """Whether the tuples among the rows of windows fall into few panes; the others are panes."""
    if tuples < _WORTH or windows.panes is None:
        return False
    number = _number_of_panes(windows.blocks, windows.panes)
    return _DENSE * (number - (len(windows.blocks) - tuples)) <= tuples


def lifted(tuples: pl.DataFrame, pane: Ints, group: Grouping, functions: Functions) -> pl.DataFrame:
    """Tuples as rows like those of panes, one for each."""
    rows = {PANE: pl.Series(pane), **lift(tuples, functions)}
    return pl.DataFrame({**tuples.select(group.by).to_dict(), **rows})


def condense(rows: pl.DataFrame, group: Grouping, functions: Functions) -> pl.DataFrame:
    """One row for each key and pane, in the order of panes."""
    keys = encode_keys(rows, group.by, in_order=False)
    order, _ = group_order(keys.codes, keys.number)
    rows = rows[order]
    firsts = _first_of_panes(keys.codes[order], rows[PANE].to_numpy())
    for number, (function, _) in enumerate(functions):
        assert function.partial is not None
        names = partials_of(number, rows.columns)
        scanned = function.partial.scan(rows.select(names).get_columns(), firsts)
        columns = [
            column.cast(rows.schema[name]).alias(name)
            for name, column in zip(names, scanned, strict=True)
        ]
        rows = rows.with_columns(columns)
    return rows[firsts[1:] - 1].sort(PANE, maintain_order=True)


def passed_on(passed: Segments, new: Segments, first: int) -> Segments:
    """The panes from ``first`` on, with new ones; those of another place may be older than ours."""
    passed, new = ([rows for rows in some if rows.height] for some in (passed, new))
    if not passed:
        return new
    kept = whole(passed)
    if new and kept[PANE][-1] > new[0][PANE][0]:
        kept = whole([kept, *new]).sort(PANE, maintain_order=True)
        passed, new = [kept], []
    coming = new[0] if new else kept.clear()
    found = moved_on(passed, coming, int(kept[PANE].search_sorted(first)))
    return found if found[-1].height else []


@njit(cache=True, nogil=True)
def _number_of_panes(groups: Ints, panes: Ints) -> int:
    """How many panes of a group have rows."""
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
