"""Keyed state as a log-structured merge tree: idle keys cost nothing.

The rows of a key are contiguous in one of a few immutable *tiers*. A step takes out the rows of the
busy keys, by binary search over their hashes, and puts what remains of them into a new tier, which
hides what older tiers hold for these keys. Tiers of similar size are merged, so that there are few
of them and a row is copied only a few times.

Keys are identified by their hash alone. If two keys share a hash, they are busy together; that has
no other effect.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import polars as pl
from numba import njit
from numpy.typing import NDArray

from boxcars.kernels.columns.frames import concat_rows, take_rows
from boxcars.kernels.columns.hashing import hash_columns
from boxcars.kernels.contract import State, append_rows

Hashes = NDArray[np.uint64]
Ints = NDArray[np.int64]
Rows = Mapping[str, pl.DataFrame]

_KEYS, _HASH, _DUE = "keys", "hash", "due"
_MERGE_RATIO = 4
"""Ratio of row counts; a tier is merged into the next unless that is this much larger."""


def hashes_of(frame: pl.DataFrame, by: Sequence[str]) -> Hashes:
    """The hash of the key of each row."""
    if not by:
        return np.zeros(frame.height, np.uint64)
    return hash_columns([frame[name] for name in by], frame.height).view(np.uint64)


def start(rows: Rows) -> State:
    """The empty state; ``rows`` has an empty frame for each kind of row that a key has."""
    return {name: frame.clear() for name, frame in rows.items()}


def take(state: State, names: Sequence[str], busy: Hashes) -> dict[str, pl.DataFrame]:
    """The rows of the keys with these hashes, per key in insertion order.

    ``busy`` is sorted and unique.
    """
    found: dict[str, list[pl.DataFrame]] = {name: [] for name in names}
    for tier in range(_tier_count(state)):
        if not len(busy):
            break
        keys = state[f"{_KEYS}.{tier}"]
        slot, hit = find(keys[_HASH].to_numpy(), busy)
        for name in names:
            rows = expand(keys[name].to_numpy(), slot[hit])
            found[name].append(take_rows(state[f"{name}.{tier}"], rows))
        busy = busy[~hit]  # the newest tier that has a key has all of its rows
    return {name: concat_rows(found[name] or [state[name]]) for name in names}


def put(state: State, rows: Rows, hashes: Mapping[str, Hashes], busy: Hashes) -> State:
    """Replace all rows of the busy keys; ``hashes`` has the key of each row."""
    new: dict[str, pl.DataFrame] = {}
    ends: dict[str, Ints] = {}
    for name, frame in rows.items():
        order = np.argsort(hashes[name], kind="stable")
        new[name] = take_rows(frame, order)
        ends[name] = np.searchsorted(hashes[name][order], busy, "right")
    new[_KEYS] = pl.DataFrame({_HASH: busy, **ends})
    tiers = [new, *(_tier(state, rows, tier) for tier in range(_tier_count(state)))]
    if not len(busy):
        tiers = tiers[1:]
    while len(tiers) > 1 and _MERGE_RATIO * _row_count(tiers[0]) >= _row_count(tiers[1]):
        tiers[:2] = [_merge(tiers[0], tiers[1], last=len(tiers) == 2)]
    kept = {name: frame for name, frame in state.items() if "." not in name}
    return kept | {
        f"{name}.{number}": frame
        for number, tier in enumerate(tiers)
        for name, frame in tier.items()
    }


def has_keys(state: State) -> bool:
    """Whether the state holds any key."""
    return _tier_count(state) > 0


def all_keys(state: State) -> Hashes:
    """The hashes of all keys, sorted."""
    found = [state[f"{_KEYS}.{tier}"][_HASH].to_numpy() for tier in range(_tier_count(state))]
    return np.unique(np.concatenate(found)) if found else np.empty(0, np.uint64)


def _tier_count(state: State) -> int:
    return sum(name.startswith(f"{_KEYS}.") for name in state)


def _tier(state: State, rows: Rows, number: int) -> dict[str, pl.DataFrame]:
    return {name: state[f"{name}.{number}"] for name in (*rows, _KEYS)}


def _row_count(tier: Rows) -> int:
    return sum(frame.height for frame in tier.values())


def _merge(new: Rows, old: Rows, last: bool) -> dict[str, pl.DataFrame]:
    """Merge two tiers; where both hold a key, the newer one wins.

    Keys without rows are dropped in the ``last`` tier: there is no older tier to hide.
    """
    new_keys, old_keys = new[_KEYS][_HASH].to_numpy(), old[_KEYS][_HASH].to_numpy()
    hidden = find(new_keys, old_keys)[1]
    both = np.concatenate([new_keys, old_keys[~hidden]])
    order = np.argsort(both, kind="stable")
    names = [name for name in new if name != _KEYS]
    merged: dict[str, pl.DataFrame] = {}
    sizes: dict[str, Ints] = {}
    for name in names:
        new_ends, old_ends = new[_KEYS][name].to_numpy(), old[_KEYS][name].to_numpy()
        left = _sizes(old_ends)[~hidden]
        number = len(new_ends)
        slots = np.concatenate([np.arange(number), number + np.flatnonzero(~hidden)])
        joint = np.concatenate([new_ends, old_ends + new[name].height])
        merged[name] = take_rows(concat_rows([new[name], old[name]]), expand(joint, slots[order]))
        sizes[name] = np.concatenate([_sizes(new_ends), left])[order]
    keep = np.ones(len(both), np.bool_)
    if last:
        keep = np.sum([sizes[name] for name in names], axis=0) > 0
    ends = {name: np.cumsum(sizes[name])[keep] for name in names}
    merged[_KEYS] = pl.DataFrame({_HASH: both[order][keep], **ends})
    return merged


def _sizes(ends: Ints) -> Ints:
    return np.diff(ends, prepend=0)


def find(keys: Hashes, wanted: Hashes) -> tuple[Ints, NDArray[np.bool_]]:
    """Slots of the wanted keys among sorted ones, and whether each exists."""
    if not len(keys):
        return np.zeros(len(wanted), np.int64), np.zeros(len(wanted), np.bool_)
    slot = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
    return slot, keys[slot] == wanted


@njit(cache=True, nogil=True)
def expand(ends: Ints, slots: Ints) -> Ints:
    """Row indices of the keys in these slots; key ``i`` has rows ``[ends[i-1], ends[i])``."""
    total = 0
    for slot in slots:
        total += ends[slot] - (ends[slot - 1] if slot > 0 else 0)
    rows = np.empty(total, np.int64)
    n = 0
    for slot in slots:
        for row in range(ends[slot - 1] if slot > 0 else 0, ends[slot]):
            rows[n] = row
            n += 1
    return rows


def add_timers(
    calendar: pl.DataFrame | None, due: NDArray[np.generic], busy: Hashes
) -> pl.DataFrame:
    """Add timers to a calendar: when a key becomes busy though none of its tuples arrives."""
    order = np.argsort(due, kind="stable")
    new = pl.DataFrame({_DUE: due[order], _HASH: busy[order]})
    if calendar is None or not calendar.height or not new.height:
        return new if calendar is None or not calendar.height else calendar
    timers = append_rows(calendar, new)
    in_order = calendar[_DUE][-1] <= new[_DUE][0]
    return timers if in_order else timers.sort(_DUE, maintain_order=True)


def split_due(calendar: pl.DataFrame, now: float) -> tuple[Hashes, pl.DataFrame]:
    """The keys that are due by now, and the rest of the calendar."""
    cut = int(calendar[_DUE].search_sorted(now, "right"))
    return calendar[_HASH][:cut].to_numpy(), calendar[cut:]


def merge_calendars(calendars: Sequence[pl.DataFrame], keys: Hashes) -> pl.DataFrame:
    """Merge calendars, keeping only the timers of these keys."""
    full = [calendar for calendar in calendars if calendar.height] or calendars[:1]
    timers = pl.concat(full)
    return timers.filter(np.isin(timers[_HASH].to_numpy(), keys)).sort(_DUE, maintain_order=True)
