"""Reproducible randomness: a generator for the traffic, and a hash for the history."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

_STEP = np.uint64(0x9E3779B97F4A7C15)
_ONE, _TWO = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)
_30, _27, _31 = np.uint64(30), np.uint64(27), np.uint64(31)
_MANY = np.uint64(32)
_LOW = np.uint64(0xFFFFFFFF)


@njit(cache=True, nogil=True, inline="always")
def mix(word: Any) -> Any:
    """The mixing function of SplitMix64."""
    word = (word ^ (word >> _30)) * _ONE
    word = (word ^ (word >> _27)) * _TWO
    return word ^ (word >> _31)


@njit(cache=True, nogil=True)
def hashed(seed: int, one: int, two: int, three: int = 0) -> Any:
    """A random word that is a function of these numbers."""
    word = mix(np.uint64(seed) + _STEP)
    word = mix(word * _31 + np.uint64(one) + _STEP)
    word = mix(word * _31 + np.uint64(two) + _STEP)
    return mix(word * _31 + np.uint64(three) + _STEP)


@njit(cache=True, nogil=True)
def roll(road: Any) -> Any:
    """The next random word of a road."""
    road.dice += _STEP
    return mix(road.dice)


@njit(cache=True, nogil=True, inline="always")
def below(word: Any, shift: int, limit: int) -> Any:
    """A number in ``[0, limit)``, from 32 bits of a word after a shift."""
    bits = (word >> np.uint64(shift)) & _LOW
    return np.int64((bits * np.uint64(limit)) >> _MANY)


@njit(cache=True, nogil=True)
def bell(word: Any) -> Any:
    """An approximately standard normal number: the sum of four uniform ones."""
    total = 0.0
    for shift in (0, 16, 32, 48):
        total += np.float64((word >> np.uint64(shift)) & np.uint64(0xFFFF))
    return (total / 65_536 - 2) * 3**0.5
