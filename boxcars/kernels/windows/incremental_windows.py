"""Windows of a key in small steps: most of what they hold is put away, and not looked at.

A window is the tail of one block and the head of the next (:mod:`boxcars.kernels.columns.slices`).
The *head* of a key stays at hand: one row, which stands for all of its last block. The tails of the
block before are added up once. They and the rows of the last block are put away in a log
(:mod:`boxcars.kernels.state.row_log`), and the head has where they lie. While a key stays within
its block, a step takes the tails that leave, the head and what comes, and what comes is put away
too. When it goes on to the next block, all of its rows are taken out, and put away anew.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import polars as pl
from numba import njit
from numpy.typing import NDArray

from boxcars.kernels.columns.folds import Windows
from boxcars.kernels.columns.frames import (
    gathered,
    numbers_of,
    picked,
    replaced,
    rows_where,
    values_at,
    whole,
    without,
)
from boxcars.kernels.columns.keys import encode_keys
from boxcars.kernels.columns.slices import DIRECT, HEAD, OF, ROW, TAIL, Ints, Slices
from boxcars.kernels.columns.system_columns import POSITION
from boxcars.kernels.contract import Frontier, State
from boxcars.kernels.state import keyed_lsm
from boxcars.kernels.state.keyed_lsm import Hashes, hashes_of
from boxcars.kernels.state.row_log import WHERE, Found, Log, Where
from boxcars.kernels.windows.blocks import Blocks, Slid
from boxcars.kernels.windows.busy_keys import Busy, shared_calendar
from boxcars.kernels.windows.panes import fold_rows
from boxcars.kernels.windows.window_results import (
    KEY,
    LAST_POSITION,
    TUPLES,
    Functions,
    Grouping,
    Own,
    Results,
    argument,
    finished,
    lift,
    no_places,
    stand,
)

HEADS = "heads"
_ALL = np.iinfo(np.int64).max
"""The limit of keys whose tails are all wanted."""
_PARTS = np.array([TAIL, DIRECT, HEAD], np.uint8)


@dataclass(frozen=True)
class _Numbered:
    """The heads and the new rows of the busy keys, with numbers instead of the group-by fields.

    For each number ``table`` has the fields, and ``hash_of`` the hash.
    """

    heads: pl.DataFrame
    new: pl.DataFrame
    table: pl.DataFrame
    hash_of: Hashes

    @classmethod
    def of(
        cls, group: Grouping, heads: pl.DataFrame, new: pl.DataFrame, hashes: Hashes, in_order: bool
    ) -> _Numbered:
        """Number the keys, if need be in their order; new rows have these hashes."""
        hashes = np.concatenate([hashes_of(heads, group.by), hashes])
        fields = [picked(frame, group.by) for frame in (heads, new)]
        named = whole(fields) if group.by else pl.DataFrame({KEY: hashes})
        keys = encode_keys(named, group.by, in_order, hashes)
        hash_of = np.empty(keys.number, np.uint64)
        hash_of[keys.codes] = hashes
        codes = keys.codes[: heads.height], keys.codes[heads.height :]
        heads, new = (
            replaced(without(frame, group.beside), [pl.Series(KEY, own)])
            for frame, own in zip((heads, new), codes, strict=True)
        )
        return cls(heads, new, keys.table, hash_of)

    @property
    def number(self) -> int:
        """How many keys are busy."""
        return len(self.hash_of)

    def named(self, rows: pl.DataFrame) -> pl.DataFrame:
        """Rows with the group-by fields instead of numbers."""
        bare = without(rows, (KEY,))
        if not self.table.width:
            return bare
        return replaced(bare, gathered(self.table, rows[KEY].to_numpy()).iter_columns())

    def by_key(self, name: str) -> NDArray[Any]:
        """The numbers that heads have in a column, for each key; 0 for those without a head."""
        values = numbers_of(self.heads[name])
        found = np.zeros(self.number, values.dtype)
        found[self.heads[KEY].to_numpy()] = values
        return found


@dataclass(frozen=True)
class _Taken:
    """What was taken out for a step: rows, and how many tails of each key.

    ``where`` the other rows of keys lie; nowhere if all were taken.
    """

    rows: pl.DataFrame
    where: Where
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
        return keyed_lsm.start({HEADS: replaced(rows, Where.nowhere(0).columns(no_places()))})

    def close(
        self, group: Grouping, state: State, new: pl.DataFrame, frontier: Frontier
    ) -> Results:
        """What the windows do with the busy keys."""
        new, log = self._lift(new), Log.read(state)
        hashes = hashes_of(new, group.by)
        busy = Busy.of(state, hashes, new.schema[group.ts], frontier, self.flush)
        heads = keyed_lsm.take(state, [HEADS], busy.keys)[HEADS]
        keys = _Numbered.of(group, heads, new, hashes, busy.all or self.windows.by_key)
        taken = self._take(log, keys, group.ts, frontier, busy.all)
        numbers = Grouping((KEY,), group.ts, keys.number)
        slid = self.windows.slide(numbers, taken.rows, keys.new, frontier)
        log, heads = self._put(log, taken, slid)
        rows = {HEADS: keys.named(heads)}
        known = {HEADS: keys.hash_of[heads[KEY].to_numpy()]}
        after = {**keyed_lsm.put(state, rows, known, busy.or_new(keys.hash_of)), **log.frames}
        if log.too_long:
            after = {**self._laid_out(group, [after])}
        after |= busy.calendar_with(slid.reminder, keys.hash_of)
        return replace(slid, keys=keys.table, state=after)

    def share(self, group: Grouping, states: Sequence[State], mine: Own) -> State:
        """All that is known of some keys."""
        after = self._laid_out(group, states, mine)
        return {**after, **shared_calendar(states, after)}

    def shown(self, group: Grouping, state: State) -> State:
        """What is put away of each key, and what the functions come to for each row of it.

        Where nothing is put away, the heads.
        """
        rows, found = self._all(state)
        if found is not None:
            rows = replaced(found.rows, [values_at(rows[name], found.key) for name in group.beside])
        columns = picked(rows, dict.fromkeys((*group.by, group.ts)))
        values = finished(rows, self.functions)
        return {TUPLES: columns.hstack([v.alias(f"__p{i}.0") for i, v in enumerate(values)])}

    def _lift(self, tuples: pl.DataFrame) -> pl.DataFrame:
        """Tuples as rows: partial results in place of the arguments of functions."""
        given = [argument(i, k) for i, (_, n) in enumerate(self.functions) for k in range(n)]
        rows = {**without(tuples, given).to_dict(), **lift(tuples, self.functions)}
        if POSITION in rows:
            rows[LAST_POSITION] = rows[POSITION]
        return self.windows.placed(stand(pl.DataFrame(rows), ROW))

    def _take(
        self, log: Log, keys: _Numbered, ts: str, frontier: Frontier, everything: bool
    ) -> _Taken:
        """The rows that a step needs, in order for each key."""
        windows, heads, new = self.windows, keys.heads, keys.new
        if not heads.height:
            return _Taken(new.clear(), Where.nowhere(keys.number), np.zeros(keys.number, np.int64))
        owner, of_new = heads[KEY].to_numpy(), new[KEY].to_numpy()
        place = keys.by_key(windows.at)
        reached = windows.reached(place, of_new, new)
        goes = reached // windows.block != place // windows.block
        goes |= windows.ended(keys.by_key(ts), of_new, new[ts], frontier)
        stays = ~goes[owner] & (not everything)
        where = Where.read(heads)
        limit = np.where(stays, windows.last_start(reached)[owner], _ALL)
        found = log.take(windows.at, where.tails_of(stays), limit)
        shown = stays | (not windows.overlap)
        rows = [rows_where(stand(without(heads, WHERE), HEAD), shown)]
        tails = np.zeros(keys.number, np.int64)
        if found is not None:
            key = owner[found.key]
            tails = np.bincount(key[found.of == TAIL], minlength=keys.number)
            rows.insert(0, replaced(found.rows, [pl.Series(OF, found.of), pl.Series(KEY, key)]))
        return _Taken(whole(rows), where.at(stays).spread(owner[stays], keys.number), tails)

    def _put(self, log: Log, taken: _Taken, slid: Slid) -> tuple[Log, pl.DataFrame]:
        """Put away what is still needed: the log, and the heads."""
        parted = _Parted.of(slid, self.windows.overlap)
        slices, heads = parted.slices, parted.tails + parted.rows
        folded = fold_rows(slid.tuples, Windows(slices, slid.windows.blocks), self.functions)
        places = np.where(slices.parts == HEAD, slices.hi - 1, slices.lo)
        rows = gathered(without(slid.tuples, (OF, *folded)), places)
        rows = replaced(rows, folded.values())
        where = replace(taken.where, next=taken.where.next + taken.tails - parted.left)
        key = slices.key.astype(np.int64)
        log, where = log.add(rows[:heads], key[:heads], parted.tails, where)
        own = [*where.columns(key[heads:]), pl.Series(KEY, key[heads:])]
        return log, replaced(rows[heads:], own)

    def _laid_out(self, group: Grouping, states: Sequence[State], mine: Own | None = None) -> State:
        """The keys of some states as one, and what they need as a new log."""
        all_heads: list[pl.DataFrame] = []
        all_found: list[Found] = []
        number = 0
        for state in states:
            heads, found = self._all(state, mine)
            if found is not None:
                all_found.append(replace(found, key=found.key + number))
            all_heads.append(heads)
            number += heads.height
        heads, log = whole(all_heads), Log()
        if all_found:
            log, where = Log.laid_out(Found.together(all_found), number)
            heads = replaced(heads, where.columns(np.arange(number)))
        rows, hashes = {HEADS: heads}, hashes_of(heads, group.by)
        after = keyed_lsm.put(keyed_lsm.start(rows), rows, {HEADS: hashes}, np.unique(hashes))
        return {**after, **log.frames}

    def _all(self, state: State, mine: Own | None = None) -> tuple[pl.DataFrame, Found | None]:
        """The heads of all keys, or of one's own, and what is put away of them."""
        heads = keyed_lsm.take(state, [HEADS], keyed_lsm.all_keys(state))[HEADS]
        heads = heads if mine is None else heads.filter(mine(heads))
        limit = np.full(heads.height, _ALL)
        return heads, Log.read(state).take(self.windows.at, Where.read(heads), limit)


@njit(cache=True, nogil=True)
def _last_blocks(blocks: Ints, starts: Ints) -> Ints:
    """Where the last block of each key begins."""
    begins = starts[:-1].copy()
    for key in range(len(begins)):
        for i in range(starts[key] + 1, starts[key + 1]):
            if blocks[i] != blocks[i - 1]:
                begins[key] = i
    return begins
