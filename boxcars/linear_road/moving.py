"""The movement of cars: compiled, one car at a time, when it reports.

A car drives forward from 0, whatever the direction of its road; only its reports are mirrored. It
moves 44 feet in 30 seconds for each mile per hour, so speeds and positions are exact integers.

Numba caches compiled code per file and does not see changes in other files: remove ``__pycache__``
after a change in this file.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

from boxcars.linear_road.chance import bell, below, roll
from boxcars.linear_road.facts import ENTRY, EXIT, MILE, SEGMENTS

CAR = np.dtype(
    [
        ("vid", np.int32),
        ("at", np.int32),  # feet from the start of its road
        ("goal", np.int32),
        ("spd", np.uint8),
        ("lane", np.uint8),
        ("role", np.uint8),
        ("wish", np.uint8),  # its speed on an empty road
    ],
    align=True,
)
ROAD = np.dtype(
    [
        ("dice", np.uint64),
        ("xway", np.int32),
        ("dir", np.int32),
        ("born", np.int32),  # cars that entered
        ("asked", np.int32),  # requests
        ("waiting", np.int32),  # cars that will return
        ("crash", np.int32),  # index of the current or next accident
        ("standing", np.int32),  # cars in it
        ("crash_at", np.int32),
        ("crash_lane", np.int32),
        ("crash_until", np.int32),
    ],
    align=True,
)
"""One direction of an expressway."""

DRIVES, STANDS, STOOD = 0, 1, 2
"""Roles of cars: a car is in at most one accident."""
FEET = 44
"""Feet in 30 seconds at one mile per hour."""
SLOWEST, FASTEST = 5, 100
SHORTEST, SPREAD = 6, 20
"""Miles: minimum length of a trip, and standard deviation of destinations around the middle."""
MANY = 2_000
_FREE, _SPEED, _BEND = 190, 63, 0.9
PACE = (_SPEED * np.minimum((np.arange(MANY + 1) / _FREE).clip(0.1) ** -_BEND, 1.2)).astype(
    np.int64
)
"""The speed of traffic by the number of cars in a segment.

It falls more slowly than that number rises, so that more cars leave a full segment than an empty
one, and no jam grows forever.
"""
JAM = np.array([12, 18, 26, 35], np.int64)
"""The speed of traffic before an accident, by the number of segments between."""


@njit(cache=True, nogil=True)
def enter(road: Any, car: Any, load: Any, vid: int) -> None:
    """Put a car on the ramp, with a destination near downtown."""
    start, end = 0, 0
    while end < start + SHORTEST or end >= SEGMENTS:
        start = below(roll(road), 0, SEGMENTS)
        end = int(np.floor(SEGMENTS / 2 + SPREAD * bell(roll(road))))
    word = roll(road)
    car.vid = vid
    car.at = start * MILE + below(word, 0, MILE)
    car.goal = end * MILE + FEET + below(word, 16, MILE - 2 * FEET)
    car.spd = 15 + below(word, 24, 21)
    car.lane, car.role = ENTRY, DRIVES
    car.wish = 55 + below(word, 32, 13) + below(roll(road), 0, 13)
    load[start] += 1


@njit(cache=True, nogil=True)
def drive(road: Any, car: Any, load: Any, plan: Any, time: int) -> bool:
    """Move a car by 30 seconds; return true if it exits with this report."""
    if car.role == STANDS:
        if time < road.crash_until:
            return False
        _drive_on(road, car)
    word = roll(road)
    old = car.at // MILE
    speed = _speed(road, car, load, word)
    at = car.at + FEET * speed
    if at >= car.goal:
        return _leave(car, load)
    if car.role == DRIVES and _crashes(road, car, plan, time, at):
        speed, at = 0, road.crash_at
    elif car.lane == ENTRY:
        car.lane = 1 + below(word, 8, 3)
    elif below(word, 24, 8) == 0:
        car.lane = min(max(car.lane + 2 * below(word, 4, 2) - 1, 1), 3)
    car.at, car.spd = at, speed
    if at // MILE != old:
        load[old] -= 1
        load[at // MILE] += 1
    return False


@njit(cache=True, nogil=True)
def _speed(road: Any, car: Any, load: Any, word: Any) -> Any:
    """The speed of the next 30 seconds, limited by the driver, the traffic and an accident."""
    here = car.at // MILE
    crowd = max(load[here], load[min(here + 1, SEGMENTS - 1)])
    speed = min(car.wish, PACE[min(crowd, MANY)])
    if road.standing == 2 and car.at <= road.crash_at:
        between = road.crash_at // MILE - here
        if between < 4:
            speed = min(speed, JAM[between])
    speed += below(word, 0, 9) - 4
    before = np.int64(car.spd)
    speed = min(max(speed, before - 30), before + 25)
    return min(max(speed, SLOWEST), FASTEST)


@njit(cache=True, nogil=True)
def _leave(car: Any, load: Any) -> bool:
    """Drive to the exit ramp, from which the car reports for the last time."""
    load[car.at // MILE] -= 1
    speed = max((car.goal - car.at) // FEET, 1)
    car.at += FEET * speed
    car.spd, car.lane = speed, EXIT
    return True


@njit(cache=True, nogil=True)
def _crashes(road: Any, car: Any, plan: Any, time: int, at: int) -> bool:
    """Whether a car stops in an accident: the first where it is, the second when it gets there.

    A row of the plan has the first second of an accident, its segment and its duration.
    """
    if road.standing == 2 or road.crash >= len(plan) or time < plan[road.crash, 0]:
        return False
    if car.lane == ENTRY or car.goal - at < 2 * MILE:
        return False
    if road.standing == 0:
        if at // MILE != plan[road.crash, 1]:
            return False
        road.crash_at, road.crash_lane = at, car.lane
    elif time >= road.crash_until or not car.at < road.crash_at <= at:
        return False
    road.standing += 1
    road.crash_until = time + plan[road.crash, 2]
    car.role, car.lane = STANDS, road.crash_lane
    car.spd = 0
    return True


@njit(cache=True, nogil=True)
def _drive_on(road: Any, car: Any) -> None:
    """A car leaves its accident, which is over when the last car has left."""
    car.role, car.spd = STOOD, 10
    road.standing -= 1
    if road.standing == 0:
        road.crash += 1


@njit(cache=True, nogil=True)
def wanted(road: Any, target: float, due: int) -> Any:
    """The number of cars to enter in a second so that about ``target`` cars report."""
    word = roll(road)
    missing = (target - due) * (0.5 + below(word, 0, 1_000) / 1_000)
    return max(int(np.floor(missing + below(word, 32, 1_000) / 1_000)), 0)
