"""The results of the validator."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

MISTAKES: Final = ("wrong", "missing", "unexpected", "duplicate", "late")
_SHOWN = 3
"""Number of examples for each kind of mistake."""
_BINS = 60_000
"""Latency histogram: one bin per millisecond, up to a minute."""


@dataclass
class Found:
    """The results for one kind of answers.

    Each answer is counted once: ``unexpected`` if there was no request, ``duplicate`` if it is
    not the first answer, ``wrong`` if a value is wrong or if it was emitted before its tuple,
    ``late`` if it is correct but was emitted after the deadline, and otherwise ``right``.
    """

    right: int = 0
    wrong: int = 0
    missing: int = 0
    unexpected: int = 0
    duplicate: int = 0
    late: int = 0
    examples: dict[str, list[dict[str, Any]]] = field(default_factory=dict)
    latest: float = 0.0
    """The highest latency, in seconds."""
    _latencies: NDArray[np.int64] = field(default_factory=lambda: np.zeros(_BINS, np.int64))

    @property
    def valid(self) -> bool:
        """Whether all expected answers are correct and in time, and there are no others."""
        return not any(getattr(self, mistake) for mistake in MISTAKES)

    def add(self, mistake: str, number: int, examples: list[dict[str, Any]]) -> None:
        """Count mistakes, and keep the first ones as examples."""
        setattr(self, mistake, getattr(self, mistake) + number)
        shown = self.examples.setdefault(mistake, [])
        shown.extend(examples[: _SHOWN - len(shown)])

    def time(self, latencies: NDArray[np.float64]) -> None:
        """Count the latencies of answers, in seconds."""
        latencies = latencies[np.isfinite(latencies)]
        if len(latencies):
            self.latest = max(self.latest, float(latencies.max()))
            bins = (latencies * 1_000).clip(0, _BINS - 1).astype(np.int64)
            self._latencies += np.bincount(bins, minlength=_BINS)

    def latency(self, percent: float) -> float:
        """The percentile of the latency, in seconds.

        >>> found = Found()
        >>> found.time(np.array([0.25, 0.5, 1.0, 4.0]))
        >>> found.latency(50), found.latency(100)
        (0.5, 4.0)
        """
        total = self._latencies.sum()
        if not total:
            return 0.0
        at = np.searchsorted(np.cumsum(self._latencies), total * percent / 100)
        return min(float(at) / 1_000, self.latest)


@dataclass
class Report:
    """The results for each kind of answers.

    >>> report = Report({"tolls": Found(right=3)})
    >>> report.kinds["tolls"].add("late", 1, [{"vid": 7, "time": 30, "emit": 36.5}])
    >>> print(report)
                      right     wrong   missing unexpected duplicate      late    p50    p99    max
    tolls                 3         0         0          0         0         1   0.00   0.00   0.00
    tolls late: vid 7, time 30, emit 36.5
    not valid
    """

    kinds: dict[str, Found]

    @property
    def valid(self) -> bool:
        """Whether every kind of answers is valid."""
        return all(found.valid for found in self.kinds.values())

    def __str__(self) -> str:
        names = ("right", *MISTAKES)
        lines = [" " * 13 + "".join(f" {name:>9}" for name in names) + "    p50    p99    max"]
        for kind, found in self.kinds.items():
            counts = (f" {getattr(found, name):>{max(len(name), 9)}}" for name in names)
            times = (found.latency(50), found.latency(99), found.latest)
            lines.append(f"{kind:13}" + "".join(counts) + "".join(f"{t:7.2f}" for t in times))
        for kind, found in self.kinds.items():
            for mistake, examples in found.examples.items():
                lines.extend(f"{kind} {mistake}: {_row(example)}" for example in examples)
        return "\n".join([*lines, "valid" if self.valid else "not valid"])


def _row(example: dict[str, Any]) -> str:
    return ", ".join(f"{name} {value}" for name, value in example.items())
