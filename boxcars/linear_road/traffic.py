"""The traffic of Linear City: position reports and requests of any number of expressways.

Each direction of each expressway is a road with its own random generator. A car that exits may
return on another road, under its own number, instead of a new car there; it is away for more than
a minute. So all roads can be simulated independently for a minute at a time, by several threads,
and the data is the same for any number of threads.
"""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from math import ceil

import numpy as np
import polars as pl
from numpy.typing import NDArray

from boxcars.linear_road.chance import below, hashed
from boxcars.linear_road.facts import COLUMNS, DURATION, EVERY, REPORT, SEGMENTS
from boxcars.linear_road.history import NUMBERS
from boxcars.linear_road.moving import CAR, ROAD
from boxcars.linear_road.reporting import (
    ASKED,
    AWAY,
    REPORTED,
    Output,
    World,
    expect,
    simulate,
)

QUIET, PEAK = 13, 1_700
"""Tuples per second and expressway, at the start and at the end."""
_BEND = 2.0
"""Exponent of the growth curve: the traffic grows faster at the start than at the end."""
_SPARE = 1.5
"""Buffer size per second, relative to the target number of reports."""


def generate(
    expressways: float,
    seed: int,
    *,
    start: int = 0,
    stop: int = DURATION,
    step: int = 1,
    workers: int = 1,
    density: float = 1.0,
) -> Iterator[pl.DataFrame]:
    """Yield the tuples of ``expressways`` expressways, a frame for each ``step`` seconds.

    ``expressways`` may be a multiple of 0.5: a half is direction 1 of the last one. Before
    ``start`` the cars move without output. With a ``density`` of ten the traffic grows ten times
    as fast.

    >>> [frame["time"].max() for frame in generate(0.5, seed=7, stop=60, step=30)]
    [29, 59]
    """
    traffic = Traffic(expressways, seed, workers=workers, density=density)
    traffic.skip(start)
    while traffic.time < stop:
        yield traffic.next(min(step, stop - traffic.time))


def rates(density: float = 1.0) -> NDArray[np.float64]:
    """The target number of tuples per expressway, by second."""
    grown = np.minimum(np.arange(DURATION) * density / DURATION, 1)
    curve: NDArray[np.float64] = np.expm1(-_BEND * grown) / np.expm1(-_BEND)
    return QUIET + (PEAK - QUIET) * curve


class Traffic:
    """The state of all roads and cars at a time."""

    def __init__(
        self, expressways: float, seed: int, *, workers: int = 1, density: float = 1.0
    ) -> None:
        roads = round(expressways * 2)
        if roads < 1 or roads != expressways * 2:
            raise ValueError(f"expressways must be a multiple of 0.5, got {expressways}")
        self.time = 0
        self._world = _world(roads, seed, density)
        borders = np.linspace(0, roads, min(workers, roads) + 1).astype(int).tolist()
        self._shares = list(pairwise(borders))
        self._pool = ThreadPoolExecutor(len(self._shares))

    def skip(self, time: int) -> None:
        """Simulate until a time, without output."""
        while self.time < time:
            self._drive(min(AWAY - 1, time - self.time), aloud=False)

    def next(self, seconds: int = 1) -> pl.DataFrame:
        """The tuples of the next seconds."""
        stop, frames = self.time + seconds, []
        while self.time < stop:
            frames.append(_frame(self._drive(min(AWAY - 1, stop - self.time), aloud=True)))
        return frames[0] if len(frames) == 1 else pl.concat(frames)

    def _drive(self, seconds: int, aloud: bool) -> list[Output]:
        """Simulate all roads, each thread its share; then exchange returning cars."""
        world, start = self._world, self.time
        if start + seconds > DURATION:
            raise ValueError(f"a run ends after {DURATION} seconds")

        def share(roads: tuple[int, int]) -> Output:
            out = _buffers(world.target[start : start + seconds], roads[1] - roads[0], aloud)
            simulate(world, out, *roads, start, aloud)
            return out

        every = list(self._pool.map(share, self._shares))
        for out in every:
            expect(world, out.leavers[: out.tally[2]])
        if max(world.roads["born"].max(), world.roads["asked"].max()) * 2 >= NUMBERS - EVERY:
            raise ValueError("there are more cars or requests than numbers; lower the density")
        self.time += seconds
        return every


def _world(roads: int, seed: int, density: float) -> World:
    """Empty roads. A half expressway is the last one, westbound."""
    state = np.zeros(roads, ROAD)
    state["xway"], state["dir"] = np.arange(roads) // 2, np.arange(roads) % 2
    if roads % 2:
        state["dir"][-1] = 1
    target = rates(density) / 2
    most = ceil(target.max() * _SPARE) + 8
    for road in state:
        road["dice"] = hashed(seed, road["xway"], road["dir"], 1)
    waiting = ceil(PEAK * density)
    return World(
        roads=state,
        cars=np.zeros((roads, EVERY, most), CAR),
        number=np.zeros((roads, EVERY), np.int64),
        load=np.zeros((roads, SEGMENTS), np.int64),
        plan=np.stack([_plan(seed, int(r["xway"]), int(r["dir"]), density) for r in state]),
        due=np.zeros((roads, waiting), np.int32),
        back=np.zeros((roads, waiting), np.int32),
        target=target,
        seed=seed,
    )


def _plan(seed: int, xway: int, direction: int, density: float) -> NDArray[np.int64]:
    """The accidents of a road; an expressway has one accident at a time, in either direction.

    Each lasts 10 to 20 minutes and the next one follows 1 to 9 minutes later. Unused rows have
    the time ``DURATION``, which never comes.
    """
    plan, time = [], 0.0
    for number in range(DURATION // 600):
        word = np.uint64(hashed(seed, xway, number, 2))
        time += (60 + below(word, 0, 480)) / density
        lasting = 600 + below(word, 16, 600)
        if below(word, 24, 2) == direction:
            plan.append((int(time), 10 + below(word, 32, SEGMENTS - 25), lasting))
        time += lasting
    plan += [(DURATION, 0, 0)] * (DURATION // 600 - len(plan))
    return np.array(plan, np.int64)


def _buffers(target: NDArray[np.float64], roads: int, aloud: bool) -> Output:
    """Buffers for the output of ``roads`` roads in some seconds."""
    most = int(np.ceil(target * _SPARE + 8).sum()) * roads
    rows = most if aloud else 0
    return Output(
        reports=np.empty((rows, len(REPORTED)), np.int32),
        asks=np.empty((rows // 10 + 100, len(ASKED)), np.int32),
        leavers=np.empty((most // 4 + 100, 3), np.int32),
        tally=np.zeros(3, np.int64),
        counts=np.zeros((len(target), 2), np.int64),
    )


def _frame(every: list[Output]) -> pl.DataFrame:
    """One frame: for each second the reports of all roads, then the requests."""
    rows = int(sum(out.tally[0] + out.tally[1] for out in every))
    columns = {name: np.full(rows, -1, np.int64) for name in COLUMNS}
    at = 0
    for second in range(len(every[0].counts)):
        for kind, names in enumerate((REPORTED, ASKED)):
            for out in every:
                first = out.counts[second - 1, kind] if second else 0
                last = out.counts[second, kind]
                part = slice(at, at + last - first)
                if kind == 0:
                    columns["type"][part] = REPORT
                for name, values in zip(names, out[kind][first:last].T, strict=True):
                    columns[name][part] = values
                at += last - first
    return pl.DataFrame(columns)
