"""A reference implementation of Linear Road: slow and simple, per tuple, with exact fractions."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass, field
from fractions import Fraction
from math import floor

import polars as pl

from boxcars.linear_road.facts import travel

Segment = tuple[int, int, int]
"""xway, dir, seg"""


@dataclass
class Car:
    segment: Segment
    spots: list[tuple[int, int, int, int]]
    """xway, dir, lane and pos of all of its reports"""
    toll: int = 0
    charges: list[tuple[int, int]] = field(default_factory=list)
    """time and toll"""


@dataclass
class Accident:
    cars: tuple[int, int]
    segment: Segment
    spot: tuple[int, int, int, int]
    found: int
    gone: int | None = None


@dataclass
class Reference:
    expenditure: Callable[[int, int, int], int]
    """of a vid, a day and an xway"""
    past: Callable[[int, int, int, int, int], tuple[int, int]]
    """lav and cars of an xway, dir, seg, dow and tod"""
    cars: dict[int, Car] = field(default_factory=dict)
    accidents: list[Accident] = field(default_factory=list)
    speeds: dict[tuple[int, Segment], dict[int, list[int]]] = field(
        default_factory=lambda: defaultdict(lambda: defaultdict(list))
    )
    """by minute and segment: the speeds of each car"""
    lavs: dict[tuple[int, Segment], int] = field(default_factory=dict)
    tolls: list[dict[str, int]] = field(default_factory=list)
    warnings: list[dict[str, int]] = field(default_factory=list)
    expenditures: list[dict[str, int]] = field(default_factory=list)
    travel_times: list[dict[str, int]] = field(default_factory=list)
    balance_requests: list[dict[str, int]] = field(default_factory=list)

    def run(self, tuples: pl.DataFrame) -> None:
        for row in tuples.iter_rows(named=True):
            if row["type"] == 0:
                self.report(row)
            elif row["type"] == 2:
                self.balance_requests.append({name: row[name] for name in ("qid", "vid", "time")})
            elif row["type"] == 3:
                toll = self.expenditure(row["vid"], row["day"], row["xway"])
                answer = {"qid": row["qid"], "time": row["time"], "expenditure": toll}
                self.expenditures.append(answer)
            elif row["type"] == 4:
                self.travel(row)

    def report(self, row: dict[str, int]) -> None:
        vid, minute = row["vid"], row["time"] // 60 + 1
        segment = (row["xway"], row["dir"], row["seg"])
        spot = (row["xway"], row["dir"], row["lane"], row["pos"])
        self.speeds[minute, segment][vid].append(row["spd"])
        car = self.cars.get(vid)
        starts = car is None or row["lane"] == 0
        if car is None:
            car = self.cars[vid] = Car(segment, [])
        if starts or car.segment != segment:
            if not starts:
                car.charges.append((row["time"], car.toll))
            car.toll = 0
            if row["lane"] != 4:
                car.toll = self.notify(row, segment, minute)
        car.segment = segment
        car.spots.append(spot)
        self.look_for_accidents(vid, car, segment, minute)

    def notify(self, row: dict[str, int], segment: Segment, minute: int) -> int:
        lav = self.lav(minute, segment)
        number = len(self.speeds.get((minute - 1, segment), {}))
        seg = self.accident_ahead(segment, minute)
        toll = 2 * (number - 50) ** 2 if lav < 40 and number > 50 and seg is None else 0
        key = {"vid": row["vid"], "time": row["time"]}
        self.tolls.append({**key, "lav": lav, "toll": toll})
        if seg is not None:
            self.warnings.append({**key, "seg": seg})
        return toll

    def lav(self, minute: int, segment: Segment) -> int:
        if (minute, segment) not in self.lavs:
            means = []
            for before in range(minute - 5, minute):
                if (before, segment) in self.speeds:
                    cars = self.speeds[before, segment].values()
                    means.append(sum(Fraction(sum(car), len(car)) for car in cars) / len(cars))
            self.lavs[minute, segment] = floor(sum(means) / len(means)) if means else -1
        return self.lavs[minute, segment]

    def accident_ahead(self, segment: Segment, minute: int) -> int | None:
        xway, direction, seg = segment
        for far in range(5):
            there = (xway, direction, seg - far if direction else seg + far)
            for accident in self.accidents:
                over = accident.gone is not None and minute > accident.gone
                if accident.segment == there and minute > accident.found and not over:
                    return there[2]
        return None

    def stands(self, car: Car) -> bool:
        last = car.spots[-4:]
        return len(last) == 4 and len(set(last)) == 1 and last[0][2] in {1, 2, 3}

    def look_for_accidents(self, vid: int, car: Car, segment: Segment, minute: int) -> None:
        for accident in self.accidents:
            if vid in accident.cars and accident.gone is None and car.spots[-1] != accident.spot:
                accident.gone = minute
        if not self.stands(car):
            return
        spot = car.spots[-1]
        if any(a.spot == spot and a.gone is None for a in self.accidents):
            return
        if len(car.spots) > 4 and car.spots[-5] == spot:
            return
        for other, there in self.cars.items():
            if other != vid and there.spots[-1] == spot and self.stands(there):
                self.accidents.append(Accident((other, vid), segment, spot, minute))
                return

    def travel(self, row: dict[str, int]) -> None:
        def past(direction: int, seg: int, tod: int) -> tuple[int, int]:
            return self.past(row["xway"], direction, seg, row["dow"], tod)

        seconds, toll = travel(past, row["s_init"], row["s_end"], row["tod"])
        answer = {"qid": row["qid"], "time": row["time"], "travel_time": seconds, "toll": toll}
        self.travel_times.append(answer)

    def balances(self, request: dict[str, int], emit: float) -> set[int]:
        """All balances that were true at some instant since a minute before the request."""
        car = self.cars.get(request["vid"])
        charges = car.charges if car else []
        found = {sum(toll for time, toll in charges if time < request["time"] - 60)}
        for at, _ in charges:
            if request["time"] - 60 <= at <= emit:
                found.add(sum(toll for time, toll in charges if time <= at))
        return found
