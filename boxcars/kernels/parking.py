"""Windows of a key in small steps: most of what they hold is put away, and not looked at.

A window is the tail of one block and the head of the next (:mod:`boxcars.kernels.slices`). The
*head* of a key stays at hand: one row, which stands for all of its last block. The tails of the
block before are added up once. They and the rows of the last block are put away in a log
(:mod:`boxcars.kernels.log`), and the head has where they lie. While a key stays within its block, a
step takes the tails that leave, the head and what comes, and what comes is put away too. When it
goes on to the next block, all of its rows are taken out, and put away anew.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import polars as pl
from numba import njit

from boxcars.kernels import tiers
from boxcars.kernels.blocks import Blocks, Slid
from boxcars.kernels.by_key import Busy, shared_calendar
from boxcars.kernels.closed import (
    KEY,
    LAST_POSITION,
    TUPLES,
    Functions,
    Grouping,
    Own,
    Results,
    argument,
    lift,
    stand,
)
from boxcars.kernels.folds import Windows
from boxcars.kernels.frames import (
    gathered,
    numbers_of,
    picked,
    replaced,
    rows_where,
    whole,
    without,
)
from boxcars.kernels.hidden import POSITION
from boxcars.kernels.kernel import Frontier, State
from boxcars.kernels.keys import encode_keys, group_order
from boxcars.kernels.log import ALL, NOWHERE, Found, Log, Wanted
from boxcars.kernels.panes import fold_rows
from boxcars.kernels.slices import DIRECT, HEAD, OF, ROW, TAIL, Ints, Places, Slices
from boxcars.kernels.tiers import hashes_of

HEADS = "heads"
_NEXT, _UNTIL, _LAST = _WHERE = "__next", "__until", "__last"
"""Where the rows of a key lie: the next of its tails, the end of them, and its last row."""
_PARTS = np.array([TAIL, DIRECT, HEAD], np.uint8)


@dataclass(frozen=True)
class _Taken:
    """What was taken out for a step.

    For each key by number: where its rows lie that were left, which are none if all were taken, and
    how many tails it gave.
    """

    rows: pl.DataFrame
    where: Wanted
    tails: Ints


@dataclass(frozen=True)
class _Parted:
    """What becomes of rows that are needed, as slices: so many tails, so many rows, then heads.

    Also how many of the tails that were taken out each key still needs.
    """

    slices: Slices
    tails: int
    rows: int
    left: Ints

    @classmethod
    def of(cls, slid: Slid, overlap: bool) -> _Parted:
        """The rows of the last block of a key make its head; those of the one before are tails."""
        number, end = len(slid.starts) - 1, slid.starts[1:]
        key = np.repeat(np.arange(number), np.diff(slid.starts))[slid.needed]
        of = slid.tuples[OF].to_numpy()[slid.needed]
        begin = _last_blocks(slid.windows.blocks, slid.starts)
        alive = np.flatnonzero(np.bincount(key[of != TAIL], minlength=number))
        row = (of == ROW) & overlap
        before = slid.needed < begin[key]
        tails, rows = slid.needed[row & before], slid.needed[row & ~before]
        owner = key[row & before]
        return cls(
            Slices(
                np.concatenate([owner, key[row & ~before], alive]).astype(np.uint32),
                np.concatenate([tails, rows, begin[alive]]).astype(np.uint32),
                np.concatenate([begin[owner], rows + 1, end[alive]]).astype(np.uint32),
                np.repeat(_PARTS, [len(tails), len(rows), len(alive)]),
            ),
            len(tails),
            len(rows),
            left=np.bincount(key[of == TAIL], minlength=number),
        )


@dataclass(frozen=True)
class Parking:
    """A kernel that sees the rows of busy keys, and of these only a few.

    With ``flush`` all keys are busy at the end of the input.
    """

    windows: Blocks
    functions: Functions
    flush: bool

    def start(self, group: Grouping, tuples: pl.DataFrame) -> State:
        """No keys."""
        rows = self.windows.start(group, self._lift(tuples))[TUPLES]
        where = [pl.Series(name, [], dtype=pl.Int64) for name in _WHERE]
        return tiers.start({HEADS: replaced(rows, where)})

    def close(
        self, group: Grouping, state: State, new: pl.DataFrame, frontier: Frontier
    ) -> Results:
        """What the windows do with the busy keys."""
        new = self._lift(new)
        hashes = hashes_of(new, group.by)
        busy = Busy.of(state, hashes, new.schema[group.ts], frontier, self.flush)
        heads = tiers.take(state, [HEADS], busy.keys)[HEADS]
        hashes = np.concatenate([hashes_of(heads, group.by), hashes])
        fields = [picked(frame, group.by) for frame in (heads, new)]
        named = whole(fields) if group.by else pl.DataFrame({KEY: hashes})
        keys = encode_keys(named, group.by, in_order=busy.all, hashes=hashes)
        hash_of = np.empty(keys.number, np.uint64)
        hash_of[keys.codes] = hashes
        of_head, of_new = keys.codes[: heads.height], keys.codes[heads.height :]
        new = replaced(without(new, group.beside), [pl.Series(KEY, of_new)])
        heads = without(heads, group.beside)
        log = Log.read(state)
        taken = self._take(log, heads, of_head, new, keys.number, busy.all)
        numbered = replace(group, by=(KEY,), number=keys.number)
        results = self.windows.slide(numbered, taken.rows, new, frontier)
        log, heads, of_head = self._put(log, taken, results)
        heads = replaced(gathered(keys.table, of_head) if group.by else heads, heads.iter_columns())
        after = tiers.put(state, {HEADS: heads}, {HEADS: hash_of[of_head]}, busy.or_new(hash_of))
        after = {**after, **log.frames}
        if log.too_long:
            after = self._laid_out(group, [after])
        after = {**after, **busy.calendar_with(results.reminder, hash_of)}
        return replace(results, keys=keys.table, state=after)

    def share(self, group: Grouping, states: Sequence[State], mine: Own) -> State:
        """All that is known of some keys."""
        after = self._laid_out(group, states, mine)
        return {**after, **shared_calendar(states, after)}

    def _lift(self, tuples: pl.DataFrame) -> pl.DataFrame:
        """Tuples as rows: partial results in place of the arguments of functions."""
        given = [argument(i, k) for i, (_, n) in enumerate(self.functions) for k in range(n)]
        rows = {**without(tuples, given).to_dict(), **lift(tuples, self.functions)}
        if POSITION in rows:
            rows[LAST_POSITION] = rows[POSITION]
        return self.windows.placed(stand(pl.DataFrame(rows), ROW))

    def _take(
        self,
        log: Log,
        heads: pl.DataFrame,
        of_head: Ints,
        new: pl.DataFrame,
        number: int,
        everything: bool,
    ) -> _Taken:
        """The rows that a step needs, in order for each key."""
        nowhere = Wanted(*(np.full(number, NOWHERE) for _ in range(4)))
        tails = np.zeros(number, np.int64)
        if not heads.height:
            return _Taken(new.clear(), nowhere, tails)
        place = np.zeros(number, np.int64)
        place[of_head] = numbers_of(heads[self.windows.at])
        reached = self.windows.reached(place, new[KEY].to_numpy(), new)
        stays = ((reached // self.windows.block == place // self.windows.block) & (not everything))[
            of_head
        ]
        next_, until, last = (heads[name].to_numpy() for name in _WHERE)
        limit = np.where(stays, self.windows.last_start(reached)[of_head], ALL)
        found = log.take(
            self.windows.at, Wanted(next_, until, limit, np.where(stays, NOWHERE, last))
        )
        staying = of_head[stays]
        nowhere.next[staying], nowhere.until[staying] = next_[stays], until[stays]
        nowhere.last[staying] = last[stays]
        shown = stays if self.windows.overlap else np.ones(len(stays), np.bool_)
        at_hand = stand(without(heads, _WHERE), HEAD)
        rows = [replaced(rows_where(at_hand, shown), [pl.Series(KEY, of_head[shown])])]
        if found is not None:
            key = of_head[found.key]
            tails = np.bincount(key[found.of == TAIL], minlength=number)
            rows.insert(0, replaced(found.rows, [pl.Series(OF, found.of), pl.Series(KEY, key)]))
        return _Taken(whole(rows), nowhere, tails)

    def _put(self, log: Log, taken: _Taken, slid: Slid) -> tuple[Log, pl.DataFrame, Ints]:
        """Put away what is still needed: the log, and the heads with the numbers of their keys."""
        parted = _Parted.of(slid, self.windows.overlap)
        slices = parted.slices
        folded = fold_rows(slid.tuples, Windows(slices, slid.windows.blocks), self.functions)
        places = np.where(slices.parts == HEAD, slices.hi - 1, slices.lo)
        rows = gathered(without(slid.tuples, (OF, *folded)), places)
        rows = replaced(rows, folded.values())
        where, heads = taken.where, parted.tails + parted.rows
        where.next[:] += taken.tails - parted.left
        pointers = where.next, where.until, where.last
        before = _linked(log.height, slices.key[:heads], parted.tails, *pointers)
        log = log.add(rows[:heads], before)
        alive = slices.key[heads:].astype(np.int64)
        own = [pl.Series(name, p[alive]) for name, p in zip(_WHERE, pointers, strict=True)]
        return log, replaced(rows[heads:], own), alive

    def _laid_out(self, group: Grouping, states: Sequence[State], mine: Own | None = None) -> State:
        """The keys of some states as one, and what they need as a new log."""
        all_heads, all_found = [], []
        known = 0
        for state in states:
            heads = tiers.take(state, [HEADS], tiers.all_keys(state))[HEADS]
            if mine is not None:
                heads = heads.filter(mine(heads))
            next_, until, last = (heads[name].to_numpy() for name in _WHERE)
            limit = np.full(heads.height, ALL)
            found = Log.read(state).take(self.windows.at, Wanted(next_, until, limit, last))
            if found is not None:
                all_found.append(replace(found, key=found.key + known))
            all_heads.append(heads)
            known += heads.height
        heads = whole(all_heads)
        log = Log()
        if all_found:
            log, where = _in_order(Found.together(all_found), known)
            heads = replaced(heads, where)
        hashes = hashes_of(heads, group.by)
        after = tiers.put(
            tiers.start({HEADS: heads}), {HEADS: heads}, {HEADS: hashes}, np.unique(hashes)
        )
        return {**after, **log.frames}


def _in_order(found: Found, number: int) -> tuple[Log, list[pl.Series]]:
    """A log of rows key by key, and where those of each key lie."""
    order, starts = group_order(found.key, number)
    rows = gathered(found.rows, order)
    next_, last = starts[:-1], starts[1:] - 1
    until = next_ + np.bincount(found.key[found.of == TAIL], minlength=number)
    chained = until <= last
    before = np.arange(len(order)) - 1
    before[until[chained]] = NOWHERE
    last = np.where(chained, last, NOWHERE)
    pointers = zip(_WHERE, (next_, until, last), strict=True)
    return Log.laid_out(rows, before), [pl.Series(name, where) for name, where in pointers]


@njit(cache=True, nogil=True)
def _last_blocks(blocks: Ints, starts: Ints) -> Ints:
    """Where the last block of each key begins."""
    begins = starts[:-1].copy()
    for key in range(len(begins)):
        for i in range(starts[key] + 1, starts[key + 1]):
            if blocks[i] != blocks[i - 1]:
                begins[key] = i
    return begins


@njit(cache=True, nogil=True)
def _linked(height: int, key: Places, tails: int, next_: Ints, until: Ints, last: Ints) -> Ints:
    """Where the rows lie before those that are added behind ``height`` others, by their keys.

    So many are tails. Where the rows of keys lie goes on to them.
    """
    before = np.full(len(key), NOWHERE)
    for i in range(tails):
        if i == 0 or key[i] != key[i - 1]:
            next_[key[i]] = height + i
        until[key[i]] = height + i + 1
    for i in range(tails, len(key)):
        before[i] = last[key[i]]
        last[key[i]] = height + i
    return before
