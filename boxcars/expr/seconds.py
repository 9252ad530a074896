"""Intervals as numbers of seconds."""

from __future__ import annotations

from boxcars.model.problem import Wrong, nearest

_SECONDS = {
    "microsecond": 1e-6,
    "millisecond": 1e-3,
    "second": 1,
    "minute": 60,
    "hour": 3600,
    "day": 86_400,
    "week": 604_800,
}


def interval(amount: str, unit: str) -> int | float:
    """Return the seconds of ``INTERVAL 'amount' unit``; the unit may also be in the amount.

    >>> interval("5", "MINUTE"), interval("1.5 hours", "")
    (300, 5400)
    """
    number, _, inner = amount.strip().partition(" ")
    name = (unit or inner).strip().lower()
    if name.rstrip("s") in ("month", "quarter", "year"):
        raise Wrong(f"an interval can't be in {name}: their length varies.")
    if name.removesuffix("s") not in _SECONDS:
        raise Wrong(f"unknown unit '{name}' in an interval.{nearest(name, _SECONDS)}")
    try:
        seconds = float(number) * _SECONDS[name.removesuffix("s")]
    except ValueError:
        raise Wrong(f"an interval needs a number, got '{number}'.") from None
    return int(seconds) if seconds.is_integer() else seconds
