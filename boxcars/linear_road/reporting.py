"""The reports and requests of cars in each second, compiled."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from boxcars.linear_road.chance import below, hashed, roll
from boxcars.linear_road.facts import BALANCE, DAY, DAYS, EVERY, EXPENDITURE, MILE, SEGMENTS, TRAVEL
from boxcars.linear_road.history import FIRST, NUMBERS, past_xway
from boxcars.linear_road.moving import drive, enter, wanted

REPORTED = ("time", "vid", "spd", "xway", "lane", "dir", "seg", "pos")
ASKED = ("type", "time", "vid", "xway", "qid", "s_init", "s_end", "dow", "tod", "day")
AWAY = 61
"""Minimum seconds until a car returns."""
_HALF = np.uint64(1)
_RETURN = 16
"""Percentage of exiting cars that return."""


class World(NamedTuple):
    """The state of all roads."""

    roads: NDArray[np.void]
    cars: NDArray[np.void]
    """By road and slot; a slot has the cars that report in the same second of a half minute."""
    number: NDArray[np.int64]
    """Number of cars, by road and slot."""
    load: NDArray[np.int64]
    """Number of cars, by road and segment in driving direction."""
    plan: NDArray[np.int64]
    """The accidents of each road."""
    due: NDArray[np.int32]
    back: NDArray[np.int32]
    """Return times of cars to each road, sorted, and the cars."""
    target: NDArray[np.float64]
    """Target number of reports per road, by second."""
    seed: int


class Output(NamedTuple):
    """Buffers for the output of some roads in some seconds."""

    reports: NDArray[np.int32]
    asks: NDArray[np.int32]
    leavers: NDArray[np.int32]
    """Return time, car and road of cars that will return."""
    tally: NDArray[np.int64]
    """Number of reports, requests and leavers."""
    counts: NDArray[np.int64]
    """Cumulative number of reports and requests at the end of each second."""


@njit(cache=True, nogil=True)
def simulate(world: World, out: Output, first: int, last: int, start: int, aloud: bool) -> None:
    """Simulate roads ``first`` to ``last`` for some seconds; without ``aloud``, write no output."""
    for second in range(len(out.counts)):
        for at in range(first, last):
            _second(world, out, at, start + second, aloud)
        out.counts[second, 0] = out.tally[0]
        out.counts[second, 1] = out.tally[1]


@njit(cache=True, nogil=True)
def _second(world: World, out: Output, at: int, time: int, aloud: bool) -> None:
    """Simulate one second of one road: cars that are due report, and new ones enter."""
    road, load, plan, slot = world.roads[at], world.load[at], world.plan[at], time % EVERY
    cars, number = world.cars[at, slot], world.number[at, slot]
    entering = wanted(road, world.target[time], number)
    reports, before, kept = out.reports, out.tally[0], 0
    for i in range(number + entering):
        car, exits = cars[kept], False
        if i < number:
            if kept < i:
                cars[kept] = cars[i]
            exits = drive(road, car, load, plan, time)
        else:
            enter(road, car, load, _name(road, world.due[at], world.back[at], time))
        if aloud:
            _report(road, car, time, reports, before + i)
        word = roll(road)
        if below(word, 0, 100) == 0:
            _ask(road, car, time, word, world, out, aloud)
        if exits:
            _go(road, car, time, world, out)
        else:
            kept += 1
    world.number[at, slot] = kept
    out.tally[0] += number + entering


@njit(cache=True, nogil=True)
def _name(road: Any, due: Any, back: Any, time: int) -> Any:
    """The number of a car that enters: of a returning car, or a new one."""
    own = FIRST + road.xway * NUMBERS + 2 * road.born + road.dir
    road.born += 1
    if road.waiting == 0 or due[0] > time:
        return own
    vid = np.int64(back[0])
    road.waiting -= 1
    for i in range(road.waiting):
        due[i], back[i] = due[i + 1], back[i + 1]
    return vid


@njit(cache=True, nogil=True)
def _report(road: Any, car: Any, time: int, reports: NDArray[np.int32], row: int) -> None:
    """Write a position report."""
    pos = np.int64(car.at)
    if road.dir == 1:
        pos = SEGMENTS * MILE - 1 - pos
    reports[row, 0], reports[row, 1] = time, car.vid
    reports[row, 2], reports[row, 3] = car.spd, road.xway
    reports[row, 4], reports[row, 5] = car.lane, road.dir
    reports[row, 6], reports[row, 7] = pos // MILE, pos


@njit(cache=True, nogil=True)
def _ask(road: Any, car: Any, time: int, word: Any, world: World, out: Output, aloud: bool) -> None:
    """Write a request: half for the balance, a tenth for a past day, the rest for travel times."""
    qid = road.xway * NUMBERS + 2 * road.asked + road.dir
    road.asked += 1
    if not aloud:
        return
    row = out.asks[out.tally[1]]
    out.tally[1] += 1
    row[:] = -1
    row[1], row[2], row[4] = time, car.vid, qid
    kind = below(word, 32, 10)
    more = hashed(road.asked, road.dice >> _HALF, time)
    if kind < 5:
        row[0] = BALANCE
    elif kind < 6:
        row[0], row[9] = EXPENDITURE, 1 + below(more, 0, DAYS)
        row[3] = past_xway(world.seed, car.vid, row[9], world.roads[len(world.roads) - 1].xway + 1)
    else:
        near, far = below(more, 0, SEGMENTS), below(more, 16, SEGMENTS - 1)
        if far >= near:
            far += 1
        near, far = min(near, far), max(near, far)
        row[0], row[3] = TRAVEL, road.xway
        row[5], row[6] = (far, near) if road.dir == 1 else (near, far)
        row[7], row[8] = 1 + below(more, 24, 7), 1 + below(more, 32, DAY)


@njit(cache=True, nogil=True)
def _go(road: Any, car: Any, time: int, world: World, out: Output) -> None:
    """Schedule the return of some exiting cars, on another expressway if there is one.

    This does not use the road's random generator, so that its traffic does not depend on the other
    expressways.
    """
    word = hashed(world.seed, car.vid, time)
    if below(word, 0, 100) >= _RETURN:
        return
    roads = len(world.roads)
    first, own = 2 * road.xway, min(2, roads - 2 * road.xway)
    to = first + below(word, 32, own)
    if roads > own:
        to = below(word, 32, roads - own)
        to += own if to >= first else 0
    row = out.leavers[out.tally[2]]
    row[0], row[1], row[2] = time + AWAY + below(word, 16, 1_000), car.vid, to
    out.tally[2] += 1


@njit(cache=True, nogil=True)
def expect(world: World, leavers: NDArray[np.int32]) -> None:
    """Queue returning cars, sorted by time and number."""
    for row in leavers:
        road, due, back = world.roads[row[2]], world.due[row[2]], world.back[row[2]]
        i = np.int64(road.waiting)
        while i > 0 and (due[i - 1], back[i - 1]) > (row[0], row[1]):
            due[i], back[i] = due[i - 1], back[i - 1]
            i -= 1
        due[i], back[i] = row[0], row[1]
        road.waiting += 1
