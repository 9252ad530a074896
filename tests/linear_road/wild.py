"""Small random traffic: crowded roads, many accidents of any length, cars that return soon."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass

import polars as pl

from boxcars.linear_road.facts import COLUMNS, SCHEMA

ROADS = ((0, 0), (0, 1), (1, 1))
FIRST, LAST = 20, 26
CARS, REPORTS = 800, 22


@dataclass
class Car:
    vid: int
    phase: int
    road: tuple[int, int]
    seg: int
    lane: int = 0
    pos: int = 0
    held: int = 0
    """Number of reports while it is stopped."""
    away: int = 0
    """Number of skipped reports."""


def wild(seed: int) -> pl.DataFrame:
    """Generate a quarter of an hour."""
    dice = random.Random(seed)
    cars = [
        Car(vid, dice.randrange(30), dice.choice(ROADS), dice.randint(FIRST, LAST))
        for vid in range(CARS)
    ]
    rows = [row for turn in range(REPORTS) for row in _turn(dice, cars, turn)]
    rows.sort(key=lambda row: (row["time"], row["type"]))
    for qid, row in enumerate(row for row in rows if row["type"] == 2):
        row["qid"] = qid
    return pl.DataFrame(rows, schema=SCHEMA)


def _turn(dice: random.Random, cars: list[Car], turn: int) -> Iterator[dict[str, int]]:
    """All cars report once, and some send a request shortly after; two may have an accident."""
    for _ in range(12):
        _crash(dice, cars)
    for car in cars:
        if car.away:
            car.away -= 1
            if not car.away:
                car.road, car.seg, car.lane = dice.choice(ROADS), dice.randint(FIRST, LAST), 0
                car.pos = car.seg * 5_280 + dice.randrange(5_280)
        elif car.held:
            car.held -= 1
        else:
            _drive(dice, car, turn)
        if car.away:
            continue
        time = turn * 30 + car.phase
        yield _row(
            type=0, time=time, vid=car.vid, spd=0 if car.held else dice.randint(25, 54),
            xway=car.road[0], lane=car.lane, dir=car.road[1], seg=car.seg, pos=car.pos,
        )  # fmt: skip
        if car.lane == 4:
            car.away = dice.randint(3, 6)
        if dice.random() < 0.15:
            yield _row(type=2, time=time + dice.randrange(25), vid=car.vid)


def _drive(dice: random.Random, car: Car, turn: int) -> None:
    forward = 1 if car.road[1] == 0 else -1
    if turn and dice.random() < 0.2:
        car.seg += forward
    car.lane = dice.randint(1, 3) if turn else 0
    if not FIRST < car.seg < LAST or dice.random() < 0.01:
        car.seg = min(max(car.seg, FIRST), LAST)
        car.lane = 4 if turn else 0
    car.pos = car.seg * 5_280 + dice.randrange(5_280)


def _crash(dice: random.Random, cars: list[Car]) -> None:
    """Put two cars at the same position, for some reports each."""
    one, two = dice.sample(cars, 2)
    if all(car.lane in {1, 2, 3} and not car.held and not car.away for car in (one, two)):
        two.road, two.seg, two.lane, two.pos = one.road, one.seg, one.lane, one.pos
        one.held, two.held = dice.randint(2, 9), dice.randint(2, 9)


def _row(**values: int) -> dict[str, int]:
    return {**dict.fromkeys(COLUMNS, -1), **values}
