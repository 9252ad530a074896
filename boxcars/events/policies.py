"""Which happenings are worth an event: pure policies, without a clock."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import median

EPOCHS = 20
"""Epochs to which an epoch is compared."""
_FEWEST = 5
"""Epochs before the first comparison: the first ones compile kernels and fill caches."""
_TIMES = 4.0
"""An epoch is slow if it takes this many times the median."""
_SHORTEST = 1.0
"""Seconds; a shorter epoch is never slow."""


def usual_if_slow(seconds: float, before: Sequence[float]) -> float | None:
    """The median of the last epochs, if an epoch was slow compared to it; else None.

    >>> usual_if_slow(5.0, [0.5] * 20), usual_if_slow(1.9, [0.5] * 20), usual_if_slow(5.0, [])
    (0.5, None, None)
    """
    last = before[-EPOCHS:]
    if len(last) < _FEWEST or seconds <= _SHORTEST:
        return None
    usual = median(last)
    return usual if seconds > _TIMES * usual else None
