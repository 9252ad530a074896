"""Distinct values of early-firing windows: a step looks up its new values only.

A value is new in a window unless the same key had it in that window before. Windows of later tuples
never start earlier, so the last window of a value's previous tuples says it all: the value is new
in every later window. One row for each key and value holds that window, in a tree of its own
(:mod:`boxcars.kernels.state.keyed_lsm`), and each new tuple gets the first window in which its
value is new. Counting is then a running sum.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import polars as pl
from numba import njit

from boxcars.kernels.columns.frames import concat_rows, take_rows
from boxcars.kernels.columns.keys import encode_keys
from boxcars.kernels.columns.slices import Ints
from boxcars.kernels.contract import Frontier, State
from boxcars.kernels.state import keyed_lsm
from boxcars.kernels.windows.busy_keys import ByKey
from boxcars.kernels.windows.early_firing import EarlyFiring
from boxcars.kernels.windows.early_results import new_from
from boxcars.kernels.windows.window_results import Grouping, OwnedRows, Results, argument

_PREFIX = "distinct"
_SEEN, _CLEANED = "seen", "cleaned"
_VALUE, _LAST = "__value", "__last"
_NEVER = np.iinfo(np.int64).max
"""A window number: the value is new in no window."""


@dataclass(frozen=True)
class DistinctValues:
    """Early-firing windows by key, with the values that ``windows`` counts."""

    kernel: ByKey
    windows: EarlyFiring

    def start(self, group: Grouping, tuples: pl.DataFrame) -> State:
        """The empty state."""
        state = dict(self.kernel.start(group, tuples))
        for number in self.windows.counted:
            rows = _rows(group, tuples, number).with_columns(pl.lit(0, pl.Int64).alias(_LAST))
            state |= _with_prefix(number, _new_tree(group, rows.clear()))
        return state

    def close(
        self, group: Grouping, state: State, new: pl.DataFrame, frontier: Frontier
    ) -> Results:
        """Find the new values, then run the windows."""
        first, last = self._assign(new[group.ts], new[self.windows.value])
        trees: State = {}
        for number in self.windows.counted:
            tree = _without_prefix(number, state)
            found, tree = _note(group, tree, _rows(group, new, number), first, last)
            tree = self._cleaned(tree, group, new.schema[group.ts], frontier)
            new = new.with_columns(pl.Series(new_from(number), found))
            trees = {**trees, **_with_prefix(number, tree)}
        results = self.kernel.close(group, _rest(state), new, frontier)
        return replace(results, state={**results.state, **trees})

    def share(self, group: Grouping, states: Sequence[State], owned: OwnedRows) -> State:
        """Merge the states of several instances, keeping only the keys this instance owns."""
        after = dict(self.kernel.share(group, [_rest(state) for state in states], owned))
        for number in self.windows.counted:
            rows = concat_rows([_all_rows(_without_prefix(number, state)) for state in states])
            after |= _with_prefix(number, _new_tree(group, rows.filter(owned(rows))))
        return after

    def _assign(self, times: pl.Series, values: pl.Series) -> tuple[Ints, Ints]:
        """The first and last window of each tuple, which do not depend on its key."""
        none = np.empty(0, np.int64)
        physical = times.to_physical().to_numpy()
        found = self.windows.assigner.assign(physical, values, none, none.astype(np.bool_), {})
        return found.first, found.last

    def _cleaned(
        self, tree: State, group: Grouping, time: pl.DataType, frontier: Frontier
    ) -> State:
        """Drop the values of closed windows, once as many have closed as can be open.

        A row is therefore copied a bounded number of times, and as many rows are kept as two
        windows have values.
        """
        axis = self.windows.axis
        if axis is None or frontier.value is None:
            return tree
        at = pl.Series([frontier.value], dtype=time)
        open_from, cleaned = int(self._assign(at, at)[0][0]), tree[_CLEANED].item()
        if open_from - cleaned < -(-axis.size // axis.advance):
            return tree
        rows = _all_rows(tree)
        return _new_tree(group, rows.filter(rows[_LAST] >= open_from), open_from)


def _note(
    group: Grouping, tree: State, rows: pl.DataFrame, first: Ints, last: Ints
) -> tuple[Ints, State]:
    """The first window in which the value of each tuple is new, and the tree with the values."""
    found = np.full(rows.height, _NEVER)
    counted = np.flatnonzero(rows[_VALUE].is_not_null().to_numpy() & (first <= last))
    if not len(counted):
        return found, tree
    rows, columns = take_rows(rows, counted), [*group.by, _VALUE]
    hashes = keyed_lsm.hashes_of(rows, columns)
    busy = np.unique(hashes)
    old = keyed_lsm.take(tree, [_SEEN], busy)[_SEEN]
    both = concat_rows([old.select(columns), rows])
    keys = encode_keys(
        both,
        columns,
        in_order=False,
        hashes=np.concatenate([keyed_lsm.hashes_of(old, columns), hashes]),
    )
    known = np.full(keys.number, -1)
    known[keys.codes[: old.height]] = old[_LAST].to_numpy()
    found[counted] = _new_from(keys.codes[old.height :], first[counted], last[counted], known)
    after = keys.table.with_columns(pl.Series(_LAST, known))
    return found, keyed_lsm.put(
        tree, {_SEEN: after}, {_SEEN: keyed_lsm.hashes_of(after, columns)}, busy
    )


@njit(cache=True, nogil=True)
def _new_from(codes: Ints, first: Ints, last: Ints, known: Ints) -> Ints:
    """The first window in which each value is new; ``known`` has the last window of each value."""
    found = np.empty(len(codes), np.int64)
    for i in range(len(codes)):
        found[i] = max(first[i], known[codes[i]] + 1)
        known[codes[i]] = max(last[i], known[codes[i]])
    return found


def _rows(group: Grouping, tuples: pl.DataFrame, number: int) -> pl.DataFrame:
    """The key and the value of each tuple."""
    value = tuples[argument(number, 0)]
    return pl.DataFrame({**tuples.select(group.by).to_dict(), _VALUE: value})


def _new_tree(group: Grouping, rows: pl.DataFrame, cleaned: int = 0) -> State:
    """A tree with these rows."""
    hashes = keyed_lsm.hashes_of(rows, [*group.by, _VALUE])
    tree = {**keyed_lsm.start({_SEEN: rows}), _CLEANED: pl.DataFrame({_CLEANED: [cleaned]})}
    return keyed_lsm.put(tree, {_SEEN: rows}, {_SEEN: hashes}, np.unique(hashes))


def _all_rows(tree: State) -> pl.DataFrame:
    return keyed_lsm.take(tree, [_SEEN], keyed_lsm.all_keys(tree))[_SEEN]


def _with_prefix(number: int, tree: State) -> State:
    return {f"{_PREFIX}{number}.{name}": frame for name, frame in tree.items()}


def _without_prefix(number: int, state: State) -> State:
    prefix = f"{_PREFIX}{number}."
    return {n.removeprefix(prefix): frame for n, frame in state.items() if n.startswith(prefix)}


def _rest(state: State) -> State:
    return {name: frame for name, frame in state.items() if not name.startswith(_PREFIX)}
