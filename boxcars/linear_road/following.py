"""The validator's state of each car: compiled, processed report by report.

It shares no code with the engine, on purpose: it is an independent implementation.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from boxcars.linear_road.facts import ENTRY, EXIT, STANDING

Ints = NDArray[np.int64]

SEEN = np.dtype(
    [
        ("balance", np.int64),
        ("since", np.int32),  # when the balance changed
        ("segment", np.int32),
        ("pos", np.int32),
        ("toll", np.int32),  # announced for the segment it is in
        ("lane", np.int8),
        ("same", np.int8),  # consecutive reports from this position, up to STANDING
    ],
    align=True,
)
NEVER = -1
"""The segment of an unseen car, and the time of a balance that never changed."""


class Reports(NamedTuple):
    """Reports sorted by time; ``segment`` includes expressway and direction."""

    time: Ints
    vid: Ints
    segment: Ints
    lane: Ints
    pos: Ints


class Found(NamedTuple):
    """Events derived from reports; buffers with a row per report, of which most are unused."""

    entered: Ints
    """Reports that enter a segment and get a toll notification."""
    charged: NDArray[np.int64]
    """Report, balance before it and since when, balance after it."""
    halted: NDArray[np.int64]
    """Report, 1 if the car stops and 0 if it moves again, and its spot."""
    counts: Ints


def unseen_cars(cars: int) -> NDArray[np.void]:
    """The state of ``cars`` unseen cars."""
    seen = np.zeros(cars, SEEN)
    seen["segment"] = seen["since"] = NEVER
    return seen


def make_buffers(reports: int) -> Found:
    """Buffers for the events of ``reports`` reports."""
    entered = np.empty(reports, np.int64)
    charged = np.empty((reports, 4), np.int64)
    return Found(entered, charged, np.empty((reports, 5), np.int64), np.zeros(3, np.int64))


@njit(cache=True, nogil=True)
def follow(cars: NDArray[np.void], reports: Reports, tolls: Ints, found: Found) -> None:
    """Update each car with its reports; ``tolls`` are those of the minute, by segment."""
    vids, segments, lanes = reports.vid, reports.segment, reports.lane
    entered, halted, counts = found.entered, found.halted, found.counts
    for i in range(len(vids)):
        car, segment, lane = cars[vids[i]], segments[i], lanes[i]
        starts = car.segment == NEVER or lane == ENTRY
        if starts or car.segment != segment:
            if not starts and car.toll > 0:
                _charge(car, reports.time[i], i, found.charged[counts[1]])
                counts[1] += 1
            car.toll = 0
            if lane != EXIT:
                car.toll = tolls[segment]
                entered[counts[0]] = i
                counts[0] += 1
        still = car.segment == segment and car.lane == lane and car.pos == reports.pos[i]
        if still != (car.same >= STANDING) and _halts(car, lane, still, i, halted[counts[2]]):
            counts[2] += 1
        car.same = min(car.same + 1, STANDING) if still else 1
        car.segment, car.lane, car.pos = segment, lane, reports.pos[i]


@njit(cache=True, nogil=True)
def _charge(car: Any, time: int, report: int, row: Any) -> None:
    """Charge the car for the segment that it left."""
    row[0], row[1], row[2] = report, car.balance, car.since
    car.balance += car.toll
    car.since = time
    row[3] = car.balance


@njit(cache=True, nogil=True)
def _halts(car: Any, lane: int, still: bool, report: int, row: Any) -> bool:
    """Whether a car in a travel lane stops, or was stopped and moves."""
    if still and (car.same != STANDING - 1 or lane in {ENTRY, EXIT}):
        return False
    if not still and car.lane in {ENTRY, EXIT}:
        return False
    row[0], row[1] = report, still
    row[2], row[3], row[4] = car.segment, car.lane, car.pos
    return True
