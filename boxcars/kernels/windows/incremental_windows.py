"""Incremental per-key sliding windows: cold rows live in an append-only log.

A window is the tail of one block and the head of the next (:mod:`boxcars.kernels.columns.slices`).
The *head* of a key stays in keyed state: one row that covers all of its last block. The tails of
the block before it are computed once. They and the rows of the last block are stored in a log
(:mod:`boxcars.kernels.state.row_log`), and the head has the pointers to them. While a key stays
within its block, a step reads the tails that leave, the head and the new rows, and appends the new
rows to the log. When the key enters the next block, all of its rows are read and stored again.
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
    concat_rows,
    drop_columns,
    filter_rows,
    physical_numbers,
    select_columns,
    take_rows,
    take_values,
    with_columns,
)
from boxcars.kernels.columns.keys import encode_keys
from boxcars.kernels.columns.slices import COVERS, DIRECT, HEAD, ROW, TAIL, Ints, Slices
from boxcars.kernels.columns.system_columns import POSITION
from boxcars.kernels.contract import Frontier, State
from boxcars.kernels.state import keyed_lsm
from boxcars.kernels.state.keyed_lsm import Hashes, hashes_of
from boxcars.kernels.state.row_log import POINTERS, KeyedRows, Log, Pointers
from boxcars.kernels.windows.blocks import Blocks, SlideResult
from boxcars.kernels.windows.busy_keys import Busy, merged_calendar
from boxcars.kernels.windows.panes import fold_rows
from boxcars.kernels.windows.window_results import (
    KEY,
    LAST_POSITION,
    TUPLES,
    Functions,
    Grouping,
    OwnedRows,
    Results,
    argument,
    finish_rows,
    lift,
    mark_coverage,
    no_indices,
)

HEADS = "heads"
_ALL = np.iinfo(np.int64).max
"""The limit for keys whose tails are all wanted."""
_PARTS = np.array([TAIL, DIRECT, HEAD], np.uint8)


@dataclass(frozen=True)
class _EncodedKeys:
    """Heads and new rows of the busy keys, with encoded keys in place of the group-by fields.

    For each key number ``table`` has the fields, and ``hash_of`` the hash.
    """

    heads: pl.DataFrame
    new: pl.DataFrame
    table: pl.DataFrame
    hash_of: Hashes

    @classmethod
    def of(
        cls, group: Grouping, heads: pl.DataFrame, new: pl.DataFrame, hashes: Hashes, in_order: bool
    ) -> _EncodedKeys:
        """Encode the keys, optionally in sort order; ``hashes`` are those of the new rows."""
        hashes = np.concatenate([hashes_of(heads, group.by), hashes])
        fields = [select_columns(frame, group.by) for frame in (heads, new)]
        named = concat_rows(fields) if group.by else pl.DataFrame({KEY: hashes})
        keys = encode_keys(named, group.by, in_order, hashes)
        hash_of = np.empty(keys.number, np.uint64)
        hash_of[keys.codes] = hashes
        codes = keys.codes[: heads.height], keys.codes[heads.height :]
        heads, new = (
            with_columns(drop_columns(frame, group.encoded_columns), [pl.Series(KEY, own)])
            for frame, own in zip((heads, new), codes, strict=True)
        )
        return cls(heads, new, keys.table, hash_of)

    @property
    def number(self) -> int:
        """Number of busy keys."""
        return len(self.hash_of)

    def named(self, rows: pl.DataFrame) -> pl.DataFrame:
        """Replace key numbers by the group-by fields."""
        bare = drop_columns(rows, (KEY,))
        if not self.table.width:
            return bare
        return with_columns(bare, take_rows(self.table, rows[KEY].to_numpy()).iter_columns())

    def by_key(self, name: str) -> NDArray[Any]:
        """Values of a column of the heads, by key; 0 for keys without a head."""
        values = physical_numbers(self.heads[name])
        found = np.zeros(self.number, values.dtype)
        found[self.heads[KEY].to_numpy()] = values
        return found


@dataclass(frozen=True)
class _LoadedRows:
    """Rows loaded for a step, and the number of tails of each key among them.

    ``pointers`` point to the rows of keys that were not loaded; to none if all were.
    """

    rows: pl.DataFrame
    pointers: Pointers
    tails: Ints


@dataclass(frozen=True)
class _RetainedSlices:
    """Rows to store after a step, as slices: first ``tails`` tails, then ``rows`` rows, then heads.

    ``left`` is the number of loaded tails that each key still needs.
    """

    slices: Slices
    tails: int
    rows: int
    left: Ints

    @classmethod
    def of(cls, result: SlideResult, overlap: bool) -> _RetainedSlices:
        """Rows of a key's last block fold into its head; those of the block before become tails."""
        number, end = len(result.starts) - 1, result.starts[1:]
        key = np.repeat(np.arange(number), np.diff(result.starts))[result.needed]
        of = result.tuples[COVERS].to_numpy()[result.needed]
        begin = _last_blocks(result.windows.blocks, result.starts)
        alive = np.flatnonzero(np.bincount(key[of != TAIL], minlength=number))
        row = (of == ROW) & overlap
        before = result.needed < begin[key]
        tails, rows = result.needed[row & before], result.needed[row & ~before]
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
class IncrementalWindows:
    """Window kernel that visits busy keys, and of these only a few rows.

    With ``flush`` every key is busy at the end of the input.
    """

    windows: Blocks
    functions: Functions
    flush: bool

    def start(self, group: Grouping, tuples: pl.DataFrame) -> State:
        """The empty state."""
        rows = self.windows.start(group, self._lift(tuples))[TUPLES]
        return keyed_lsm.start({HEADS: with_columns(rows, Pointers.empty(0).columns(no_indices()))})

    def close(
        self, group: Grouping, state: State, new: pl.DataFrame, frontier: Frontier
    ) -> Results:
        """Run the windows of the busy keys."""
        new, log = self._lift(new), Log.read(state)
        hashes = hashes_of(new, group.by)
        busy = Busy.of(state, hashes, new.schema[group.ts], frontier, self.flush)
        heads = keyed_lsm.take(state, [HEADS], busy.keys)[HEADS]
        keys = _EncodedKeys.of(group, heads, new, hashes, busy.all or self.windows.by_key)
        loaded = self._load(log, keys, group.ts, frontier, busy.all)
        numbers = Grouping((KEY,), group.ts, keys.number)
        result = self.windows.slide(numbers, loaded.rows, keys.new, frontier)
        log, heads = self._store(log, loaded, result)
        rows = {HEADS: keys.named(heads)}
        known = {HEADS: keys.hash_of[heads[KEY].to_numpy()]}
        after = {
            **keyed_lsm.put(state, rows, known, busy.or_first_keys(keys.hash_of)),
            **log.frames,
        }
        if log.needs_compaction:
            after = {**self._compacted(group, [after])}
        after |= busy.calendar_with(result.timers, keys.hash_of)
        return replace(result, keys=keys.table, state=after)

    def share(self, group: Grouping, states: Sequence[State], owned: OwnedRows) -> State:
        """Merge the states of several instances, keeping only the keys this instance owns."""
        after = self._compacted(group, states, owned)
        return {**after, **merged_calendar(states, after)}

    def shown(self, group: Grouping, state: State) -> State:
        """The stored rows of each key, with the functions evaluated for each row.

        Where nothing is in the log, the heads.
        """
        rows, found = self._load_all(state)
        if found is not None:
            rows = with_columns(
                found.rows, [take_values(rows[name], found.key) for name in group.encoded_columns]
            )
        columns = select_columns(rows, dict.fromkeys((*group.by, group.ts)))
        values = finish_rows(rows, self.functions)
        return {TUPLES: columns.hstack([v.alias(f"__p{i}.0") for i, v in enumerate(values)])}

    def _lift(self, tuples: pl.DataFrame) -> pl.DataFrame:
        """Convert tuples to rows: partial results in place of the arguments of functions."""
        given = [argument(i, k) for i, (_, n) in enumerate(self.functions) for k in range(n)]
        rows = {**drop_columns(tuples, given).to_dict(), **lift(tuples, self.functions)}
        if POSITION in rows:
            rows[LAST_POSITION] = rows[POSITION]
        return self.windows.with_axis(mark_coverage(pl.DataFrame(rows), ROW))

    def _load(
        self, log: Log, keys: _EncodedKeys, ts: str, frontier: Frontier, everything: bool
    ) -> _LoadedRows:
        """Load the rows that a step needs, in order for each key."""
        windows, heads, new = self.windows, keys.heads, keys.new
        if not heads.height:
            return _LoadedRows(
                new.clear(), Pointers.empty(keys.number), np.zeros(keys.number, np.int64)
            )
        owner, of_new = heads[KEY].to_numpy(), new[KEY].to_numpy()
        position = keys.by_key(windows.axis_column)
        reached = windows.reached(position, of_new, new)
        leaves_block = reached // windows.block != position // windows.block
        leaves_block |= windows.ended(keys.by_key(ts), of_new, new[ts], frontier)
        # The head of a key covers its chain: while the key stays in its block, only the tails that
        # leave are read. Otherwise all of its rows are, and are stored again.
        stays = ~leaves_block[owner] & (not everything)
        pointers = Pointers.read(heads)
        limit = np.where(stays, windows.last_start(reached)[owner], _ALL)
        found = log.take(windows.axis_column, pointers.without_chains(stays), limit)
        shown = stays | (not windows.overlap)
        rows = [filter_rows(mark_coverage(drop_columns(heads, POINTERS), HEAD), shown)]
        tails = np.zeros(keys.number, np.int64)
        if found is not None:
            key = owner[found.key]
            tails = np.bincount(key[found.covers == TAIL], minlength=keys.number)
            rows.insert(
                0, with_columns(found.rows, [pl.Series(COVERS, found.covers), pl.Series(KEY, key)])
            )
        return _LoadedRows(
            concat_rows(rows), pointers.at(stays).spread(owner[stays], keys.number), tails
        )

    def _store(
        self, log: Log, loaded: _LoadedRows, result: SlideResult
    ) -> tuple[Log, pl.DataFrame]:
        """Store the rows still needed: returns the new log and the heads."""
        retained = _RetainedSlices.of(result, self.windows.overlap)
        slices, heads = retained.slices, retained.tails + retained.rows
        folded = fold_rows(result.tuples, Windows(slices, result.windows.blocks), self.functions)
        index = np.where(slices.parts == HEAD, slices.hi - 1, slices.lo)
        rows = take_rows(drop_columns(result.tuples, (COVERS, *folded)), index)
        rows = with_columns(rows, folded.values())
        pointers = replace(
            loaded.pointers, next=loaded.pointers.next + loaded.tails - retained.left
        )
        key = slices.key.astype(np.int64)
        log, pointers = log.add(rows[:heads], key[:heads], retained.tails, pointers)
        own = [*pointers.columns(key[heads:]), pl.Series(KEY, key[heads:])]
        return log, with_columns(rows[heads:], own)

    def _compacted(
        self, group: Grouping, states: Sequence[State], owned: OwnedRows | None = None
    ) -> State:
        """Merge states, and compact their logs into one."""
        all_heads: list[pl.DataFrame] = []
        all_found: list[KeyedRows] = []
        number = 0
        for state in states:
            heads, found = self._load_all(state, owned)
            if found is not None:
                all_found.append(replace(found, key=found.key + number))
            all_heads.append(heads)
            number += heads.height
        heads, log = concat_rows(all_heads), Log()
        if all_found:
            log, pointers = Log.compacted(KeyedRows.concat(all_found), number)
            heads = with_columns(heads, pointers.columns(np.arange(number)))
        rows, hashes = {HEADS: heads}, hashes_of(heads, group.by)
        after = keyed_lsm.put(keyed_lsm.start(rows), rows, {HEADS: hashes}, np.unique(hashes))
        return {**after, **log.frames}

    def _load_all(
        self, state: State, owned: OwnedRows | None = None
    ) -> tuple[pl.DataFrame, KeyedRows | None]:
        """The heads of all keys, or of those this instance owns, and their rows in the log."""
        heads = keyed_lsm.take(state, [HEADS], keyed_lsm.all_keys(state))[HEADS]
        heads = heads if owned is None else heads.filter(owned(heads))
        limit = np.full(heads.height, _ALL)
        return heads, Log.read(state).take(self.windows.axis_column, Pointers.read(heads), limit)


@njit(cache=True, nogil=True)
def _last_blocks(blocks: Ints, starts: Ints) -> Ints:
    """Start of the last block of each key."""
    begins = starts[:-1].copy()
    for key in range(len(begins)):
        for i in range(starts[key] + 1, starts[key + 1]):
            if blocks[i] != blocks[i - 1]:
                begins[key] = i
    return begins
