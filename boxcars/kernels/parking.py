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
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np
import polars as pl
from numpy.typing import NDArray

from boxcars.kernels.closed import (
    LAST_POSITION,
    Functions,
    Grouping,
    Kernel,
    argument,
    lift,
    no_places,
    own_blocks,
    stand,
)
from boxcars.kernels.folds import Windows
from boxcars.kernels.frames import replaced, rows_where, without
from boxcars.kernels.hidden import POSITION
from boxcars.kernels.kernel import State
from boxcars.kernels.keys import factorize
from boxcars.kernels.panes import Grouped
from boxcars.kernels.parked import Found, is_parked, put_away, take_all, take_some
from boxcars.kernels.segments import whole
from boxcars.kernels.slices import HEAD, OF, ROW, TAIL, Ints, block_ids
from boxcars.kernels.tiers import Hashes, find, hashes_of

TUPLES, HEADS = "tuples", "heads"
_AT, _NEXT, _TAILS = "__at", "__next", "__tails"
_LARGE = 32
"""The rows of a key are put away if there are at least so many."""
_WORTH = 2
"""Rows are put away when there are so many times more of them than new ones."""


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
class Hashed:
    """Rows with the hashes of their keys."""

    rows: pl.DataFrame
    hashes: Hashes

    def where(self, mask: NDArray[np.bool_]) -> Hashed:
        """Those for which the mask holds."""
        return self if mask.all() else Hashed(rows_where(self.rows, mask), self.hashes[mask])

    def beside(self, others: Hashed) -> Hashed:
        """These and others."""
        return Hashed(whole([self.rows, others.rows]), np.concatenate([self.hashes, others.hashes]))


@dataclass(frozen=True)
class Put:
    """The tuples and heads that stay at hand, and the frames of what is put away."""

    tuples: Hashed
    heads: Hashed
    away: State


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
        rows = {**without(tuples, given).to_dict(), **lift(tuples, self.functions)}
        if POSITION in rows:
            rows[LAST_POSITION] = rows[POSITION]
        return stand(pl.DataFrame(rows), ROW)

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
        which, coming = which[comes], rows_where(new, comes)
        reached = self.windows.reached(place, which, coming)
        stays = self._blocks(reached) == self._blocks(place)
        stays &= not everything
        stays[which[~_same_keys(coming, heads, which, group.by)]] = False
        stay, out = hashes[stays], hashes[~stays]
        limit = self.windows.last_start(reached)[stays]
        some = take_some(state, stay, _AT, next_[stays], tails[stays], limit)
        whole_keys = take_all(state, out)
        counts = np.bincount(some.key if some else no_places(), minlength=len(stay))
        staying = rows_where(heads, stays)
        parts = [
            *([_with_keys(some, staying, group.by)] if some else []),
            staying,
            *([_with_keys(whole_keys, rows_where(heads, ~stays), group.by)] if whole_keys else []),
        ]
        beside = [without(part, (_AT, _NEXT, _TAILS)) for part in parts]
        return Taken(whole([*beside, rows]), staying, stay, counts, out)

    def put(self, state: State, group: Grouping, taken: Taken, kept: pl.DataFrame, new: int) -> Put:
        """Part the rows that are left when so many new ones came: at hand, and put away."""
        rows = Hashed(kept, hashes_of(kept, group.by))
        at, staying = find(taken.stay, rows.hashes)
        rest = rows.where(~staying)
        large = self._large(group, rest)
        if np.count_nonzero(large) < _WORTH * new:
            large[:] = False
        if not (len(taken.stay) or len(taken.out) or large.any()):
            away: State = {name: frame for name, frame in state.items() if is_parked(name)}
            return Put(rows, Hashed(taken.heads, taken.stay), away)
        all_heads, leaving = self._go_on(taken, rows.where(staying), at[staying])
        if large.any():
            new_heads, parked = self._park(group, rest.where(large))
            all_heads, leaving = all_heads.beside(new_heads), leaving.beside(parked)
        before = np.concatenate([taken.stay, taken.out])
        forgotten = before[~find(np.sort(all_heads.hashes), before)[1]]
        keys = np.unique(np.concatenate([leaving.hashes, forgotten]))
        hides = ~find(taken.stay, keys)[1] | find(np.sort(forgotten), keys)[1]
        rows_away = without(leaving.rows, group.beside)
        away = put_away(state, rows_away, leaving.hashes, keys, hides)
        return Put(rest.where(~large), all_heads, away)

    def share(self, group: Grouping, states: Sequence[State], heads: pl.DataFrame) -> State:
        """What several places have put away of the keys with these heads."""
        keys = np.sort(hashes_of(heads, group.by))
        found = [some for state in states if (some := take_all(state, keys)) is not None]
        if not found:
            return {}
        rows = whole([some.rows for some in found])
        hashes = keys[np.concatenate([some.key for some in found])]
        return put_away({}, rows, hashes, keys, hides=np.ones(len(keys), np.bool_))

    def _go_on(self, taken: Taken, kept: Hashed, at: Ints) -> tuple[Hashed, Hashed]:
        """The heads of keys that stayed in their blocks, and the rows that are to be put away."""
        of = kept.rows[OF].to_numpy()
        came = kept.where(of == ROW)
        came = replace(came, rows=self._placed(came.rows))
        number = taken.heads.height
        if not number:
            return Hashed(taken.heads, taken.stay), came
        gone = taken.tails - np.bincount(at[of == TAIL], minlength=number)
        alive = np.bincount(at[of != TAIL], minlength=number) > 0
        heads = rows_where(taken.heads, alive)
        next_ = (taken.heads[_NEXT].to_numpy() + gone)[alive]
        rows = whole([without(heads, (_NEXT, _TAILS)), came.rows])
        number_of = np.cumsum(alive) - 1
        codes = np.concatenate([np.arange(heads.height), number_of[at[of == ROW]]])
        grouped = Grouped.by_codes(rows, codes, heads.height)
        lo, hi = grouped.starts[:-1], grouped.starts[1:]
        windows = Windows(grouped.slices(lo, hi, HEAD), grouped.key)
        partials = grouped.partials(windows, self.functions)
        last = rows[grouped.order[hi - 1]]
        heads = self._heads(last, partials, next_, heads[_TAILS].to_numpy())
        return Hashed(heads, taken.stay[alive]), came

    def _large(self, group: Grouping, some: Hashed) -> NDArray[np.bool_]:
        """Which rows belong to keys that have many.

        Not of two keys with one hash, nor where the next tuple is one of the next block.
        """
        codes, firsts = factorize(some.hashes)
        large = np.bincount(codes, minlength=len(firsts)) >= _LARGE
        if not large.any() or self.windows.places(some.rows[:0]) is None:
            return np.zeros(len(codes), np.bool_)
        large[codes[~_same_keys(some.rows, some.rows[firsts], codes, group.by)]] = False
        last = np.zeros(len(firsts), np.int64)
        last[codes] = self._placed(some.rows)[_AT].to_numpy()
        reached = self.windows.reached(last, no_places(), some.rows[:0])
        large &= self._blocks(reached) == self._blocks(last)
        return np.asarray(large[codes])

    def _park(self, group: Grouping, some: Hashed) -> tuple[Hashed, Hashed]:
        """The heads of keys, and their tails and rows, which are to be put away."""
        rows = self._placed(some.rows)
        grouped = Grouped.of(rows, rows[_AT].to_numpy(), group, by_key=False)
        rows, hashes = rows[grouped.order], some.hashes[grouped.order]
        key, starts, end = grouped.key, grouped.starts[:-1], grouped.starts[1:]
        ids = block_ids(own_blocks(grouped.pane // self.windows.block, rows), grouped.starts)
        ends = np.searchsorted(ids, ids, "right")
        last = ends == end[key]
        tails = np.flatnonzero(~last)
        windows = Windows(grouped.slices(tails, ends[tails], TAIL), ids)
        added = replaced(rows[tails], grouped.partials(windows, self.functions).values())
        number = np.bincount(key[tails], minlength=len(starts))
        windows = Windows(grouped.slices(starts + number, end, HEAD), ids)
        partials = grouped.partials(windows, self.functions)
        heads = self._heads(rows[end - 1], partials, np.zeros_like(number), number)
        of_tails = Hashed(stand(added, TAIL), hashes[tails])
        return Hashed(heads, hashes[end - 1]), of_tails.beside(Hashed(rows, hashes).where(last))

    def _heads(
        self, last: pl.DataFrame, partials: Mapping[str, pl.Series], next_: Ints, tails: Ints
    ) -> pl.DataFrame:
        """Heads up to the last rows of keys, with which of so many tails is next."""
        counts = [pl.Series(_NEXT, next_), pl.Series(_TAILS, tails)]
        return replaced(self._placed(stand(last, HEAD)), [*partials.values(), *counts])

    def _blocks(self, place: Ints) -> Ints:
        return place // self.windows.block

    def _placed(self, rows: pl.DataFrame) -> pl.DataFrame:
        place = self.windows.places(rows)
        return replaced(rows, [pl.Series(_AT, place, dtype=pl.Int64)])


def _with_keys(found: Found, heads: pl.DataFrame, by: Sequence[str]) -> pl.DataFrame:
    """Rows with the keys of their heads, which were not put away with them."""
    return replaced(found.rows, [heads[name].gather(found.key) for name in by])


def _same_keys(
    rows: pl.DataFrame, keys: pl.DataFrame, which: Ints, by: Sequence[str]
) -> NDArray[np.bool_]:
    """Whether rows have the keys that they are thought to have."""
    same = np.ones(rows.height, np.bool_)
    for name in by:
        same &= rows[name].eq_missing(keys[name].gather(which)).to_numpy()
    return same


def _no_keys() -> Hashes:
    return np.empty(0, np.uint64)
