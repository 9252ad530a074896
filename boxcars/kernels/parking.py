"""Windows of a key in small steps: most of what large ones hold is put away, and not looked at.

A window is the tail of one block and the head of the next (:mod:`boxcars.kernels.slices`). Of a key
with many rows, its *head* stays at hand: one row, which stands for all of its last block. The tails
of the block before are added up once. They and the rows of the last block are put away
(:mod:`boxcars.kernels.parked`). While a key stays within its block, a step takes the tails that
leave, the head and what comes, and what comes is put away too. When it goes on to the next block,
all of its rows are taken out, and put away anew.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import polars as pl
from numpy.typing import NDArray

from boxcars.kernels.closed import (
    LAST_POSITION,
    Functions,
    Grouping,
    Kernel,
    Own,
    argument,
    lift,
    no_places,
    own_blocks,
)
from boxcars.kernels.folds import Windows
from boxcars.kernels.hidden import POSITION
from boxcars.kernels.kernel import State
from boxcars.kernels.keys import factorize
from boxcars.kernels.panes import Grouped
from boxcars.kernels.parked import all_parked, put_away, take_all, take_some
from boxcars.kernels.segments import whole
from boxcars.kernels.slices import HEAD, OF, ROW, TAIL, Ints, block_ids
from boxcars.kernels.tiers import Hashes, find, hashes_of

TUPLES, HEADS = "tuples", "heads"
_AT, _NEXT, _TAILS = "__at", "__next", "__tails"
_LARGE = 32
"""The rows of a key are put away if there are at least so many."""


class Blocks(Kernel, Protocol):
    """A kind of window over rows that lie in blocks, which may stand for more than themselves."""

    @property
    def block(self) -> int:
        """How long a block is, and a window."""

    def places(self, rows: pl.DataFrame) -> Ints | None:
        """Where rows lie; None if that is in no block."""

    def reached(self, place: Ints, key: Ints, new: pl.DataFrame) -> Ints:
        """Where keys get to from their places; ``key`` has the number of each new tuple's."""

    def last_start(self, reached: Ints) -> Ints:
        """Where the last windows start that close when keys get there."""


@dataclass(frozen=True)
class Taken:
    """What was taken out for a step.

    Keys that ``stay`` within their blocks, by hash, have ``heads`` and gave so many ``tails``. All
    that keys in ``out`` had was taken.
    """

    rows: pl.DataFrame
    heads: pl.DataFrame
    stay: Hashes
    tails: Ints
    out: Hashes


@dataclass(frozen=True)
class Parking:
    """Puts away and takes out the rows of a kind of window."""

    windows: Blocks
    functions: Functions

    def start(self, group: Grouping, tuples: pl.DataFrame) -> State:
        """No rows."""
        state = self.windows.start(group, self.lift(tuples))
        nothing = [pl.lit(0, dtype=pl.Int64).alias(name) for name in (_AT, _NEXT, _TAILS)]
        return {**state, HEADS: state[TUPLES].with_columns(nothing)}

    def lift(self, tuples: pl.DataFrame) -> pl.DataFrame:
        """Tuples as rows: partial results in place of the arguments of functions."""
        given = [argument(i, k) for i, (_, n) in enumerate(self.functions) for k in range(n)]
        rows = {**tuples.drop(given).to_dict(), **lift(tuples, self.functions)}
        if POSITION in rows:
            rows[LAST_POSITION] = rows[POSITION]
        return _standing(pl.DataFrame(rows), ROW)

    def take(
        self, state: State, group: Grouping, old: State, new: pl.DataFrame, everything: bool
    ) -> Taken:
        """The rows of busy keys that a step needs, in order for each key."""
        rows, heads = old[TUPLES], old[HEADS]
        if not heads.height:
            return Taken(rows, heads, _no_keys(), no_places(), _no_keys())
        hashes = hashes_of(heads, group.by)
        order = np.argsort(hashes)
        heads, hashes = heads[order], hashes[order]
        place, next_, tails = (heads[name].to_numpy() for name in (_AT, _NEXT, _TAILS))
        which, comes = find(hashes, hashes_of(new, group.by))
        which, coming = which[comes], new.filter(comes)
        reached = self.windows.reached(place, which, coming)
        stays = reached // self.windows.block == place // self.windows.block
        stays &= not everything
        stays[which[~_same_keys(coming, heads[which], group.by)]] = False
        stay, out = hashes[stays], hashes[~stays]
        limit = self.windows.last_start(reached)[stays]
        some, counts = take_some(state, stay, _AT, next_[stays], tails[stays], limit)
        heads = heads.filter(stays)
        parts = (*some, heads, *take_all(state, out))
        beside = [part.drop(_AT, _NEXT, _TAILS, strict=False) for part in parts]
        return Taken(whole([*beside, rows]), heads, stay, counts, out)

    def put(
        self, state: State, group: Grouping, taken: Taken, kept: pl.DataFrame
    ) -> tuple[Mapping[str, pl.DataFrame], State]:
        """The rows at hand, and what is put away, when these rows are left."""
        hashes = hashes_of(kept, group.by)
        at, staying = find(taken.stay, hashes)
        heads, came = self._go_on(group, taken, kept.filter(staying), at[staying])
        rest, hashes = kept.filter(~staying), hashes[~staying]
        large = self._large(group, rest, hashes)
        new_heads, away = self._park(group, rest.filter(large))
        added, parked = (hashes_of(some, group.by) for some in (came, new_heads))
        known = np.concatenate([hashes_of(heads, group.by), parked])
        forgotten = np.setdiff1d(np.concatenate([taken.stay, taken.out]), known)
        keys = np.unique(np.concatenate([added, parked, forgotten]))
        rows = whole([came, away])
        after = put_away(state, rows, hashes_of(rows, group.by), keys, hides=~np.isin(keys, added))
        return {TUPLES: rest.filter(~large), HEADS: whole([heads, new_heads])}, after

    def share(self, group: Grouping, states: Sequence[State], mine: Own) -> State:
        """What is put away of the keys that are one's own."""
        parts = [take_all(state, all_parked(state)) for state in states]
        own = [some.filter(mine(some)) for some in map(whole, filter(None, parts))]
        if not own:
            return {}
        rows = whole(own)
        hashes = hashes_of(rows, group.by)
        keys = np.unique(hashes)
        return put_away({}, rows, hashes, keys, hides=np.ones(len(keys), np.bool_))

    def _go_on(
        self, group: Grouping, taken: Taken, kept: pl.DataFrame, at: Ints
    ) -> tuple[pl.DataFrame, pl.DataFrame]:
        """The heads of keys that stayed in their blocks, and the rows that are to be put away."""
        of = kept[OF].to_numpy()
        number = taken.heads.height
        if not number:
            return taken.heads, self._placed(kept)
        gone = taken.tails - np.bincount(at[of == TAIL], minlength=number)
        alive = np.bincount(at[of != TAIL], minlength=number) > 0
        heads = taken.heads.with_columns(pl.col(_NEXT) + pl.Series(gone)).filter(alive)
        came = self._placed(kept.filter(of == ROW))
        rows = whole([heads.select(kept.columns), came.select(kept.columns)])
        grouped = Grouped.of(rows, np.arange(rows.height), group, by_key=False)
        lo, hi = grouped.starts[:-1], grouped.starts[1:]
        windows = Windows(grouped.slices(lo, hi, HEAD), grouped.key)
        old = heads.select(_NEXT, _TAILS)[grouped.order[lo]]
        last = rows[grouped.order[hi - 1]].with_columns(**grouped.partials(windows, self.functions))
        return _standing(self._placed(last), HEAD).hstack(old), came

    def _large(self, group: Grouping, rows: pl.DataFrame, hashes: Hashes) -> NDArray[np.bool_]:
        """Which rows belong to keys that have many; not of two keys with one hash."""
        codes, firsts = factorize(hashes)
        large = np.bincount(codes, minlength=len(firsts)) >= _LARGE
        if not large.any() or self.windows.places(rows) is None:
            return np.zeros(rows.height, np.bool_)
        large[codes[~_same_keys(rows, rows[firsts[codes]], group.by)]] = False
        return np.asarray(large[codes])

    def _park(self, group: Grouping, rows: pl.DataFrame) -> tuple[pl.DataFrame, pl.DataFrame]:
        """The heads of keys, and their tails and rows, which are to be put away."""
        rows = self._placed(rows)
        grouped = Grouped.of(rows, rows[_AT].to_numpy(), group, by_key=False)
        rows, key, starts = rows[grouped.order], grouped.key, grouped.starts
        ids = block_ids(own_blocks(grouped.pane // self.windows.block, rows), starts)
        ends = np.searchsorted(ids, ids, "right")
        last = ends == starts[1:][key]
        tails = np.flatnonzero(~last)
        windows = Windows(grouped.slices(tails, ends[tails], TAIL), ids)
        added = rows[tails].with_columns(**grouped.partials(windows, self.functions))
        number = np.bincount(key[tails], minlength=len(starts) - 1)
        windows = Windows(grouped.slices(starts[:-1] + number, starts[1:], HEAD), ids)
        heads = rows[starts[1:] - 1].with_columns(**grouped.partials(windows, self.functions))
        counts = [pl.Series(_NEXT, np.zeros_like(number)), pl.Series(_TAILS, number)]
        return (
            _standing(heads, HEAD).hstack(counts),
            whole([_standing(added, TAIL), rows.filter(last)]),
        )

    def _placed(self, rows: pl.DataFrame) -> pl.DataFrame:
        place = self.windows.places(rows)
        return rows.with_columns(pl.Series(_AT, place, dtype=pl.Int64))


def _standing(rows: pl.DataFrame, what: int) -> pl.DataFrame:
    """Rows that stand for tails, for heads, or for themselves."""
    return rows.with_columns(pl.lit(what, dtype=pl.Int8).alias(OF))


def _same_keys(some: pl.DataFrame, others: pl.DataFrame, by: Sequence[str]) -> NDArray[np.bool_]:
    """Whether rows have the same keys as others, one by one."""
    same = np.ones(some.height, np.bool_)
    for name in by:
        same &= some[name].eq_missing(others[name]).to_numpy()
    return same


def _no_keys() -> Hashes:
    return np.empty(0, np.uint64)
