"""The loops of join and product: encode the keys, probe the windows, list the pairs.

The tuples of both streams are processed in order. Each *purges* the window of the other stream, is
*matched* with what is left there, and is *added* to its own window (thesis, 2.1.1). Tuples are
sorted by key first, so a window is a slice of tuples for each key, and so are the matches of one
tuple.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

Words = NDArray[np.uint64]
Flags = NDArray[np.bool_]
Codes = NDArray[np.int32]
Rows = NDArray[np.uint32]
Indices = NDArray[np.int64]
Orders = NDArray[Any]
"""Order values such that a later one minus an earlier one is exact: uint64 or float64."""

NO_KEY = -1
_FIRST_TABLE = 1 << 10
_SPREAD = 0x9E3779B97F4A7C15


class Keys(NamedTuple):
    """The keys of tuples as 64-bit words; ``known`` is False for a tuple without a key."""

    word: Words
    known: Flags


class Table(NamedTuple):
    """Hash table of keys: ``slots`` maps a word to its number, ``words`` maps back."""

    slots: Codes
    words: Words
    size: int


class Side(NamedTuple):
    """The tuples of one stream that take part in a step: those of its window, then new ones.

    A tuple leaves the window when its mark is less than the current one by more than ``reach``. The
    mark is the order value or, in a tuple window, the number of the tuple in its stream; there is
    one mark more than there are tuples, that of the next one.
    """

    code: Codes
    order: Orders
    mark: Orders
    reach: Any
    timed: bool
    held: int
    """Number of leading tuples that are in the window already."""


class Window(NamedTuple):
    """The window of a stream: for each key the slice ``[first, last)`` of its tuples."""

    rows: Rows
    mark: Orders
    first: Indices
    last: Indices


class Matches(NamedTuple):
    """Matches: for each matching tuple, a slice of the rows of the other side.

    ``ends`` is the running total of pairs.
    """

    row: Rows
    is_left: Flags
    slot: Indices
    ends: Indices
    left_rows: Rows
    right_rows: Rows


@njit(cache=True, nogil=True)
def number_keys(keys: Keys) -> tuple[Codes, Table]:
    """Number the keys by first appearance."""
    slots = np.full(_FIRST_TABLE, NO_KEY, np.int32)
    words = np.empty(len(keys.word), np.uint64)
    codes = np.full(len(keys.word), NO_KEY, np.int32)
    size = 0
    for i in range(len(codes)):
        if keys.known[i]:
            slot = _slot(keys.word[i], slots, words)
            if slots[slot] == NO_KEY:
                slots[slot] = size
                words[size] = keys.word[i]
                size += 1
            codes[i] = slots[slot]
            if 2 * size > len(slots):
                slots = _grow(slots, words, size)
    return codes, Table(slots, words, size)


@njit(cache=True, nogil=True)
def look_up(keys: Keys, table: Table) -> Codes:
    """The numbers of keys; ``NO_KEY`` for those without one."""
    codes = np.full(len(keys.word), NO_KEY, np.int32)
    for i in range(len(codes)):
        if keys.known[i]:
            codes[i] = table.slots[_slot(keys.word[i], table.slots, table.words)]
    return codes


@njit(cache=True, nogil=True)
def find_slots(ordered: Words, words: Words) -> tuple[Indices, Codes]:
    """Slots of words among sorted ones, which may repeat; and the number of each word."""
    first = np.searchsorted(ordered, words, "left")
    last = np.searchsorted(ordered, words, "right")
    slots = np.empty((last - first).sum(), np.int64)
    codes = np.empty(len(slots), np.int32)
    found = 0
    for number in range(len(words)):
        for slot in range(first[number], last[number]):
            slots[found], codes[found] = slot, number
            found += 1
    return slots, codes


@njit(cache=True, nogil=True)
def _slot(word: Any, slots: Codes, words: Words) -> Any:
    """The slot of a word, used or free."""
    mask = np.uint64(len(slots) - 1)
    slot = (word * np.uint64(_SPREAD)) >> np.uint64(32) & mask
    while slots[slot] != NO_KEY and words[slots[slot]] != word:
        slot = (slot + np.uint64(1)) & mask
    return slot


@njit(cache=True, nogil=True)
def _grow(slots: Codes, words: Words, size: int) -> Codes:
    larger = np.full(4 * len(slots), NO_KEY, np.int32)
    for code in range(size):
        larger[_slot(words[code], larger, words)] = code
    return larger


@njit(cache=True, nogil=True)
def find_matches(left: Side, right: Side, codes: int) -> Matches:
    """Match the new tuples of both sides in order; at equal order values the left comes first.

    Tuples are unpacked first: numba would count references to the arrays in them at every use.
    """
    left_code, left_order, left_mark, left_reach, left_timed, i = left
    right_code, right_order, right_mark, right_reach, right_timed, j = right
    left_rows, left_marks, left_first, left_last = _open(left, codes)
    right_rows, right_marks, right_first, right_last = _open(right, codes)
    lefts_end, rights_end = len(left_code), len(right_code)
    room = lefts_end - i + rights_end - j
    row, is_left = np.empty(room, np.uint32), np.empty(room, np.bool_)
    slot, ends = np.empty(room, np.int64), np.empty(room, np.int64)
    met, pairs = 0, 0
    while i < lefts_end or j < rights_end:
        from_left = j == rights_end or (i < lefts_end and left_order[i] <= right_order[j])
        if from_left:
            code, arrival = left_code[i], i
            now = left_order[i] if right_timed else right_mark[j]
            i += 1
        else:
            code, arrival = right_code[j], j
            now = right_order[j] if left_timed else left_mark[i]
            j += 1
        if code == NO_KEY:
            continue
        if from_left:
            first, last = _purge(right_first, right_last, right_marks, code, now, right_reach)
            left_last[code] += 1
        else:
            first, last = _purge(left_first, left_last, left_marks, code, now, left_reach)
            right_last[code] += 1
        if first < last:
            pairs += last - first
            row[met], is_left[met], slot[met], ends[met] = arrival, from_left, first, pairs
            met += 1
    return Matches(row[:met], is_left[:met], slot[:met], ends[:met], left_rows, right_rows)


@njit(cache=True, nogil=True)
def _purge(first: Indices, last: Indices, mark: Orders, code: int, now: Any, reach: Any) -> Any:
    """Drop expired tuples of a key; returns the slice of the remaining ones.

    ``inf - inf`` is NaN and exceeds nothing: tuples of equal order value never expire.
    """
    begin, end = first[code], last[code]
    while begin < end and now - mark[begin] > reach:
        begin += 1
    first[code] = begin
    return begin, end


@njit(cache=True, nogil=True)
def _open(side: Side, codes: int) -> Window:
    """Sort the tuples by key; the window starts with the tuples it held before this step."""
    code, mark = side.code, side.mark
    first, held = np.zeros(codes + 1, np.int64), np.zeros(codes, np.int64)
    for i in range(len(code)):
        if code[i] != NO_KEY:
            first[code[i] + 1] += 1
            held[code[i]] += i < side.held
    for key in range(codes):
        first[key + 1] += first[key]
    rows, marks = np.empty(first[codes], np.uint32), np.empty(first[codes], mark.dtype)
    end = first.copy()
    for i in range(len(code)):
        if code[i] != NO_KEY:
            rows[end[code[i]]], marks[end[code[i]]] = i, mark[i]
            end[code[i]] += 1
    return Window(rows, marks, first[:-1].copy(), first[:-1] + held)


@njit(cache=True, nogil=True)
def list_pairs(matches: Matches, begin: int, end: int) -> tuple[Rows, Rows]:
    """The rows, left and right, of the pairs ``begin`` up to ``end``."""
    row, is_left, slot, ends, left_rows, right_rows = matches
    left, right = np.empty(end - begin, np.uint32), np.empty(end - begin, np.uint32)
    met, pair = np.searchsorted(ends, begin, "right"), 0
    while pair < end - begin:
        before = ends[met - 1] if met > 0 else 0
        partner = slot[met] + begin + pair - before
        until = min(end, ends[met]) - begin
        for at in range(pair, until):  # not by slices: numba would compile their error messages
            other = partner + at - pair
            left[at] = row[met] if is_left[met] else left_rows[other]
            right[at] = right_rows[other] if is_left[met] else row[met]
        pair = until
        met += 1
    return left, right
