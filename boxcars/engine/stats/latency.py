"""Latency of tuples: from the source to an output, and through one box."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, pairwise

from boxcars.engine.measure.counters import BoxTotals, Counts

Turn = tuple[float, int]
"""Seconds that a piece of a box took for the train of an epoch, and the tuples in the train."""


@dataclass(frozen=True)
class Latency:
    """Latency percentiles of the tuples of an output, in seconds.

    The latency of a tuple is the time from the start of its epoch, when the rows were taken from
    the sources, to the commit of the epoch, when the tuple is in its sink. It is weighted by
    tuples. It does not include the time of rows in the source, or the time that tuples waited in
    earlier epochs for their window to close.
    """

    p50: float
    p95: float
    p99: float


def latency_of(epochs: Sequence[tuple[float, Mapping[str, int]]], output: str) -> Latency | None:
    """Percentiles over the epochs of an output, weighted by their tuples; None if it has none."""
    weighted = sorted((took, rows[output]) for took, rows in epochs if rows.get(output))
    if not weighted:
        return None
    return Latency(*(_percentile(weighted, percent) for percent in (50, 95, 99)))


def _percentile(weighted: Sequence[tuple[float, int]], percent: int) -> float:
    """The least value that ``percent`` % of the weighted values do not exceed.

    >>> _percentile([(0.1, 90), (0.5, 9), (2.0, 1)], 95)
    0.5
    """
    wanted = sum(weight for _, weight in weighted) * percent
    reached = 0
    for value, weight in weighted:
        reached += 100 * weight
        if reached >= wanted:
            return value
    raise AssertionError("percentiles are of at least one value")


def times_in(totals: Sequence[BoxTotals]) -> tuple[float | None, tuple[float | None, ...]]:
    """The mean time of a tuple in a box and in each of its pieces, from the totals of each epoch.

    A train passes a piece as a whole, so each of its tuples takes as long as the whole train.

    >>> slow, fast = Counts(tuples_in=10, seconds=0.5), Counts(tuples_in=30, seconds=0.1)
    >>> times_in([BoxTotals(), BoxTotals(pieces=(slow, fast))])
    (0.2, (0.5, 0.1))
    """
    turns = [
        list(_turns(box.pieces[piece] if piece < len(box.pieces) else Counts() for box in totals))
        for piece in range(len(totals[-1].pieces))
    ]
    return _mean(list(chain(*turns))), tuple(map(_mean, turns))


def _turns(counts: Iterable[Counts]) -> Iterator[Turn]:
    for before, after in pairwise(counts):
        yield after.seconds - before.seconds, after.tuples_in - before.tuples_in


def _mean(turns: Sequence[Turn]) -> float | None:
    """The mean, weighted by tuples; None if there were none."""
    tuples = sum(number for _, number in turns)
    return sum(took * number for took, number in turns) / tuples if tuples else None
