"""Rows by key that are put away: added to now and then, read from a place on, seldom read whole.

They lie in a few tiers, like :mod:`boxcars.kernels.tiers`, and a tier is never changed. What is put
away for a key is added to what older tiers have of it, or *hides* that.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl
from numba import njit
from numpy.typing import NDArray

from boxcars.kernels.frames import gathered
from boxcars.kernels.kernel import State
from boxcars.kernels.segments import whole
from boxcars.kernels.slices import places_up_to
from boxcars.kernels.tiers import Hashes, Ints, expand, find

_ROWS, _KEYS = "parked", "parked_keys"
_HASH, _END, _HIDES = "hash", "end", "hides"
_MANY = 6
"""So many tiers of like size are merged: a row is seldom copied, and all tiers seldom looked at."""


@dataclass(frozen=True)
class _Tier:
    """Rows by key; those of key ``i`` end at ``end``."""

    keys: pl.DataFrame
    rows: pl.DataFrame

    @property
    def hash(self) -> Hashes:
        return self.keys[_HASH].to_numpy()

    @property
    def end(self) -> Ints:
        return self.keys[_END].to_numpy()

    @property
    def hides(self) -> NDArray[np.bool_]:
        return self.keys[_HIDES].to_numpy()

    @property
    def weight(self) -> int:
        return self.keys.height + self.rows.height


@dataclass(frozen=True)
class Found:
    """Rows, and which of the keys that were asked for each of them belongs to."""

    rows: pl.DataFrame
    key: Ints


def is_parked(name: str) -> bool:
    """Whether a frame of a state has rows that are put away, or their keys."""
    return name.startswith((f"{_ROWS}.", f"{_KEYS}."))


def put_away(
    state: State, rows: pl.DataFrame, hashes: Hashes, keys: Hashes, hides: NDArray[np.bool_]
) -> State:
    """The frames of what is put away, with more of it.

    ``hashes`` has the key of each row, ``keys`` each key once, in order; a key without rows that
    hides the older ones is forgotten.
    """
    tiers = _read(state)
    if len(keys):
        order = np.argsort(hashes, kind="stable")
        end = np.searchsorted(hashes[order], keys, "right")
        index = pl.DataFrame({_HASH: keys, _END: end, _HIDES: hides})
        tiers = [_Tier(index, rows[order]), *tiers]
    while (alike := _alike(tiers)) >= _MANY:
        tiers[:alike] = [_merge(tiers[:alike], last=alike == len(tiers))]
    return {
        name: frame
        for number, tier in enumerate(tiers)
        for name, frame in ((f"{_ROWS}.{number}", tier.rows), (f"{_KEYS}.{number}", tier.keys))
    }


def take_all(state: State, keys: Hashes) -> Found | None:
    """All rows of some keys, those of a key in the order in which they were put away."""
    found: list[Found] = []
    left = np.arange(len(keys))
    for tier in _read(state):
        place, hit = find(tier.hash, keys[left])
        if hit.any():
            number = np.diff(tier.end, prepend=0)[place[hit]]
            rows = tier.rows[expand(tier.end, place[hit])]
            found.append(Found(rows, np.repeat(left[hit], number)))
            left = left[~(hit & tier.hides[place])]
    return _together(found[::-1])


def take_some(
    state: State, keys: Hashes, column: str, since: Ints, until: Ints, limit: Ints
) -> Found | None:
    """The rows ``[since, until)`` of keys, up to the first whose column has the limit or more.

    They must have been put away at once.
    """
    found: list[Found] = []
    left = np.arange(len(keys))
    for tier in _read(state):
        place, hit = find(tier.hash, keys[left])
        hit[hit] = tier.hides[place[hit]]
        if not hit.any():
            continue
        here, at = left[hit], place[hit]
        begin = np.where(at > 0, tier.end[at - 1], 0)
        values = tier.rows[column].to_numpy()
        rows, number = places_up_to(values, begin + since[here], begin + until[here], limit[here])
        found.append(Found(tier.rows[rows], np.repeat(here, number)))
        left = left[~hit]
    return _together(found)


def _together(found: Sequence[Found]) -> Found | None:
    if not found:
        return None
    return Found(whole([f.rows for f in found]), np.concatenate([f.key for f in found]))


def _read(state: State) -> list[_Tier]:
    found: list[_Tier] = []
    while (keys := state.get(f"{_KEYS}.{len(found)}")) is not None:
        found.append(_Tier(keys, state[f"{_ROWS}.{len(found)}"]))
    return found


def _alike(tiers: Sequence[_Tier]) -> int:
    """How many of the newest tiers are not much larger than the newest one of all."""
    limit = _MANY * tiers[0].weight if tiers else 0
    return next((n for n, tier in enumerate(tiers) if tier.weight > limit), len(tiers))


def _merge(tiers: Sequence[_Tier], last: bool) -> _Tier:
    """Tiers as one, the newest first; in the ``last`` one keys without rows are forgotten."""
    old_first = tiers[::-1]
    hashes = np.concatenate([tier.hash for tier in old_first])
    order = np.argsort(hashes, kind="stable")
    hashes = hashes[order]
    hides = np.concatenate([tier.hides for tier in old_first])[order]
    behind = np.cumsum([0, *(tier.rows.height for tier in old_first)])
    ends = np.concatenate([tier.end + n for tier, n in zip(old_first, behind[:-1], strict=True)])
    seen, firsts = _visible(hashes, hides)
    entries = order[seen]
    rows = gathered(whole([tier.rows for tier in old_first]), expand(ends, entries))
    number = np.cumsum(np.diff(ends, prepend=0)[entries])
    end = number[np.append(firsts[1:], len(entries)) - 1]
    keys = pl.DataFrame({_HASH: hashes[seen][firsts], _END: end, _HIDES: hides[seen][firsts]})
    if last:
        keys = keys.filter(np.diff(end, prepend=0) > 0).with_columns(pl.lit(True).alias(_HIDES))
    return _Tier(keys, rows)


@njit(cache=True, nogil=True)
def _visible(hashes: Hashes, hides: NDArray[np.bool_]) -> tuple[Ints, Ints]:
    """The entries that no newer one of their key hides; and the first of each key among these."""
    seen, firsts = np.empty(len(hashes), np.int64), np.empty(len(hashes), np.int64)
    n = keys = 0
    for i in range(len(hashes)):
        if i == 0 or hashes[i] != hashes[i - 1]:
            firsts[keys] = n
            keys += 1
        elif hides[i]:
            n = firsts[keys - 1]
        seen[n] = i
        n += 1
    return seen[:n], firsts[:keys]
