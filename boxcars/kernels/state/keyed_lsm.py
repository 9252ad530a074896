"""State by key, such that a key that is idle costs nothing.

The rows of a key lie together in one of a few *tiers*. A tier is never changed: a step takes out
the rows of the keys that are busy, by binary search over their hashes, and puts what is left of
them into a new tier, which hides what older tiers know of these keys. Tiers of like size are
merged, so that there are few of them and a row is copied a few times only.

Keys are told apart by their hash alone. Should two share one, they are busy together; nothing
else happens.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import polars as pl
from numba import njit
from numpy.typing import NDArray

from boxcars.kernels.columns.frames import gathered, picked, whole
from boxcars.kernels.contract import State, appended

Hashes = NDArray[np.uint64]
Ints = NDArray[np.int64]
Rows = Mapping[str, pl.DataFrame]

_KEYS, _HASH, _DUE = "keys", "hash", "due"
_RATIO = 4
"""A tier is merged into the next one unless that one is so many times larger."""


def hashes_of(frame: pl.DataFrame, by: Sequence[str]) -> Hashes:
    """The hash of the key of each row."""
    if not by:
        return np.zeros(frame.height, np.uint64)
    return picked(frame, by).hash_rows().to_numpy()


def start(rows: Rows) -> State:
    """No keys; ``rows`` are empty frames, one for each kind of row that a key has."""
    return {name: frame.clear() for name, frame in rows.items()}


def take(state: State, names: Sequence[str], busy: Hashes) -> dict[str, pl.DataFrame]:
    """The rows of the keys with these hashes, those of a key in the order in which they were put.

    ``busy`` is sorted and has each hash once.
    """
    found: dict[str, list[pl.DataFrame]] = {name: [] for name in names}
    for tier in range(_number(state)):
        if not len(busy):
            break
        keys = state[f"{_KEYS}.{tier}"]
        place, hit = find(keys[_HASH].to_numpy(), busy)
        for name in names:
            rows = expand(keys[name].to_numpy(), place[hit])
            found[name].append(gathered(state[f"{name}.{tier}"], rows))
        busy = busy[~hit]
    return {name: whole(found[name] or [state[name]]) for name in names}


def put(state: State, rows: Rows, hashes: Mapping[str, Hashes], busy: Hashes) -> State:
    """The state with these as all rows of the busy keys; ``hashes`` has the key of each row."""
    new: dict[str, pl.DataFrame] = {}
    ends: dict[str, Ints] = {}
    for name, frame in rows.items():
        order = np.argsort(hashes[name], kind="stable")
        new[name] = gathered(frame, order)
        ends[name] = np.searchsorted(hashes[name][order], busy, "right")
    new[_KEYS] = pl.DataFrame({_HASH: busy, **ends})
    tiers = [new, *(_tier(state, rows, tier) for tier in range(_number(state)))]
    if not len(busy):
        tiers = tiers[1:]
    while len(tiers) > 1 and _RATIO * _weight(tiers[0]) >= _weight(tiers[1]):
        tiers[:2] = [_merge(tiers[0], tiers[1], last=len(tiers) == 2)]
    kept = {name: frame for name, frame in state.items() if "." not in name}
    return kept | {
        f"{name}.{number}": frame
        for number, tier in enumerate(tiers)
        for name, frame in tier.items()
    }


def has_keys(state: State) -> bool:
    """Whether anything is kept."""
    return _number(state) > 0


def all_keys(state: State) -> Hashes:
    """The hashes of all keys."""
    found = [state[f"{_KEYS}.{tier}"][_HASH].to_numpy() for tier in range(_number(state))]
    return np.unique(np.concatenate(found)) if found else np.empty(0, np.uint64)


def _number(state: State) -> int:
    return sum(name.startswith(f"{_KEYS}.") for name in state)


def _tier(state: State, rows: Rows, number: int) -> dict[str, pl.DataFrame]:
    return {name: state[f"{name}.{number}"] for name in (*rows, _KEYS)}


def _weight(tier: Rows) -> int:
    return sum(frame.height for frame in tier.values())


def _merge(new: Rows, old: Rows, last: bool) -> dict[str, pl.DataFrame]:
    """Two tiers as one; where both know a key, the new one is right.

    In the ``last`` tier keys without rows are forgotten.
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
        places = np.concatenate([np.arange(number), number + np.flatnonzero(~hidden)])
        joint = np.concatenate([new_ends, old_ends + new[name].height])
        merged[name] = gathered(whole([new[name], old[name]]), expand(joint, places[order]))
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
    """Where the wanted keys are among the sorted ones, and whether they are there at all."""
    if not len(keys):
        return np.zeros(len(wanted), np.int64), np.zeros(len(wanted), np.bool_)
    place = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
    return place, keys[place] == wanted


@njit(cache=True, nogil=True)
def expand(ends: Ints, places: Ints) -> Ints:
    """The rows of the keys at these places; those of key ``i`` go from ``ends[i-1]`` on."""
    total = 0
    for place in places:
        total += ends[place] - (ends[place - 1] if place > 0 else 0)
    rows = np.empty(total, np.int64)
    n = 0
    for place in places:
        for row in range(ends[place - 1] if place > 0 else 0, ends[place]):
            rows[n] = row
            n += 1
    return rows


def remind(calendar: pl.DataFrame | None, due: NDArray[np.generic], busy: Hashes) -> pl.DataFrame:
    """A calendar with more entries: at which time a key is busy though none of its tuples comes."""
    order = np.argsort(due, kind="stable")
    new = pl.DataFrame({_DUE: due[order], _HASH: busy[order]})
    if calendar is None or not calendar.height or not new.height:
        return new if calendar is None or not calendar.height else calendar
    whole = appended(calendar, new)
    return whole if calendar[_DUE][-1] <= new[_DUE][0] else whole.sort(_DUE, maintain_order=True)


def due_by(calendar: pl.DataFrame, now: float) -> tuple[Hashes, pl.DataFrame]:
    """The keys whose time has come, and the rest of the calendar."""
    cut = int(calendar[_DUE].search_sorted(now, "right"))
    return calendar[_HASH][:cut].to_numpy(), calendar[cut:]


def share_calendar(calendars: Sequence[pl.DataFrame], keys: Hashes) -> pl.DataFrame:
    """What several calendars say of some keys."""
    full = [calendar for calendar in calendars if calendar.height] or calendars[:1]
    whole = pl.concat(full)
    return whole.filter(np.isin(whole[_HASH].to_numpy(), keys)).sort(_DUE, maintain_order=True)
