"""What the validator knows of each car: compiled, a report at a time.

This has nothing to do with the engine: it is written a second time on purpose.
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
        ("place", np.int32),
        ("pos", np.int32),
        ("toll", np.int32),  # announced for the segment it is in
        ("lane", np.int8),
        ("same", np.int8),  # reports from where it is, up to STANDING
    ],
    align=True,
)
NEVER = -1
"""The place of a car that was not seen, and the time of a balance that never changed."""


class Reports(NamedTuple):
    """Reports in the order of time; a place is a segment of one direction of an expressway."""

    time: Ints
    vid: Ints
    place: Ints
    lane: Ints
    pos: Ints


class Found(NamedTuple):
    """What follows from reports; each has as many rows as there are reports, most are unused."""

    entered: Ints
    """The reports that enter a segment and are told the toll."""
    charged: NDArray[np.int64]
    """A report, the balance before it and since when, and the balance after it."""
    halted: NDArray[np.int64]
    """A report, 1 if the car stands from now on and 0 if no more, and where it was."""
    counts: Ints


def nobody(cars: int) -> NDArray[np.void]:
    """So many cars that were never seen."""
    seen = np.zeros(cars, SEEN)
    seen["place"] = seen["since"] = NEVER
    return seen


def room(reports: int) -> Found:
    """Room for what may follow from so many reports."""
    entered = np.empty(reports, np.int64)
    charged = np.empty((reports, 4), np.int64)
    return Found(entered, charged, np.empty((reports, 5), np.int64), np.zeros(3, np.int64))


@njit(cache=True, nogil=True)
def follow(cars: NDArray[np.void], reports: Reports, tolls: Ints, found: Found) -> None:
    """Go on with each car; ``tolls`` are those of the minute, by place."""
    vids, places, lanes = reports.vid, reports.place, reports.lane
    entered, halted, counts = found.entered, found.halted, found.counts
    for i in range(len(vids)):
        car, place, lane = cars[vids[i]], places[i], lanes[i]
        starts = car.place == NEVER or lane == ENTRY
        if starts or car.place != place:
            if not starts and car.toll > 0:
                _charge(car, reports.time[i], i, found.charged[counts[1]])
                counts[1] += 1
            car.toll = 0
            if lane != EXIT:
                car.toll = tolls[place]
                entered[counts[0]] = i
                counts[0] += 1
        still = car.place == place and car.lane == lane and car.pos == reports.pos[i]
        if still != (car.same >= STANDING) and _halts(car, lane, still, i, halted[counts[2]]):
            counts[2] += 1
        car.same = min(car.same + 1, STANDING) if still else 1
        car.place, car.lane, car.pos = place, lane, reports.pos[i]


@njit(cache=True, nogil=True)
def _charge(car: Any, time: int, report: int, row: Any) -> None:
    """The car pays for the segment that it left."""
    row[0], row[1], row[2] = report, car.balance, car.since
    car.balance += car.toll
    car.since = time
    row[3] = car.balance


@njit(cache=True, nogil=True)
def _halts(car: Any, lane: int, still: bool, report: int, row: Any) -> bool:
    """Whether a car in a travel lane comes to stand, or stood and moves."""
    if still and (car.same != STANDING - 1 or lane in {ENTRY, EXIT}):
        return False
    if not still and car.lane in {ENTRY, EXIT}:
        return False
    row[0], row[1] = report, still
    row[2], row[3], row[4] = car.place, car.lane, car.pos
    return True
