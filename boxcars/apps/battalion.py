"""Battalion monitoring: units that cross the line, and the utility of each report.

The load shedding example of the Aurora papers. Two aircraft report the positions of units. Four
queries share the union of both, and each has a QoS graph with the utility of a report by the
position of its unit.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import polars as pl

from boxcars.apps.app import App, Chunk, Feed
from boxcars.model.network import Network

WIDTH, LINE = 500.0, 350.0
"""Kilometres from the west; our units are west of the line, the enemy is east of it."""
UNITS = {"friend": 200, "enemy-tank": 200, "enemy-aircraft": 100}
SLOT = 1_000
"""Milliseconds in which each unit is reported once."""
_CHUNK = 80
"""Slots per chunk."""
_START, _STOP = 0.4, 0.9
"""Start and end of the attack, as fractions of the total time."""

UTILITY: dict[str, list[list[float]]] = {
    "analysis": [[0, 0.6], [LINE, 0.4], [LINE + 1, 0.2], [WIDTH, 0.1]],
    "enemy-tanks": [[0, 1], [LINE, 1], [400, 0.5], [WIDTH, 0.2]],
    "enemy-aircraft": [[0, 1], [LINE, 1], [450, 0.6], [WIDTH, 0.4]],
    "across-the-line": [[0, 1], [LINE, 0.8]],
}
"""QoS graphs: the utility of a report for each query, by the position of the unit."""


def build() -> Network:
    """Merge the reports of both aircraft, for four queries."""
    net = Network("battalion")
    fields = {"time": "int", "unit": "str", "x": "float", "y": "float"}
    north, south = (net.input(name, ts="time", fields=fields) for name in ("north", "south"))
    reports = north.union(south).named("reports")
    queries = {
        "analysis": reports,
        "enemy-tanks": reports.filter("starts_with(unit, 'enemy-tank')").named("tanks"),
        "enemy-aircraft": reports.filter("starts_with(unit, 'enemy-air')").named("aircraft"),
        "across-the-line": reports.filter(f"starts_with(unit, 'enemy') AND x < {LINE:.0f}").named(
            "across"
        ),
    }
    for name, stream in queries.items():
        net.output(name, stream, qos={"value": UTILITY[name], "value_field": "x"})
    return net


class Battlefield:
    """The units with their initial positions, and the destinations of the attackers."""

    def __init__(self, seed: int, end: float) -> None:
        rng = np.random.default_rng(seed)
        self._rng, self._end = rng, end
        names = [f"{kind}-{n:03d}" for kind, number in UNITS.items() for n in range(number)]
        self.names, self._friends = pl.Series(names), UNITS["friend"]
        size = len(names)
        enemy = np.arange(size) >= self._friends
        self._x = np.where(enemy, rng.uniform(372, 485, size), rng.uniform(20, 330, size))
        self._y = rng.uniform(0, WIDTH, size)
        self._phase = rng.random(size) * 0.7
        chosen = self._friends + rng.permutation(size - self._friends)
        self.attackers, self._feints = chosen[:25], chosen[25:40]
        self._goal = self._x.copy()
        self._goal[self.attackers] = rng.uniform(200, 320, 25)
        self._goal[self._feints] = LINE + 0.5

    def reports(self, slot: int) -> pl.DataFrame:
        """The positions of all units in a slot."""
        times = (slot + self._phase + self._rng.random(len(self.names)) * 0.3) * SLOT
        times = times.astype(np.int64)
        units = np.argsort(times, kind="stable")
        times = times[units]
        way = np.clip((times / self._end - _START) / (_STOP - _START), 0, 1)
        swing = np.sin(times / 30_000 + units) * np.where(self._goal == self._x, 14, 0)[units]
        x = self._x[units] + (self._goal - self._x)[units] * way + swing
        y = np.clip(self._y[units] + 20 * np.cos(times / 45_000 + units), 0, WIDTH)
        columns = {"time": times, "unit": self.names.gather(units), "x": x, "y": y}
        return pl.DataFrame(columns)


def feed(rows: int, seed: int) -> Feed:
    """Positions of units, an attack across the line, and some feints."""
    field = Battlefield(seed, rows / sum(UNITS.values()) * SLOT)
    crossing = field.names.gather(np.sort(field.attackers)).to_frame("unit")
    planted = crossing if rows > 20 * len(field.names) else crossing.clear()
    return Feed(_chunks(field, rows), {"across-the-line": planted})


def _chunks(field: Battlefield, rows: int) -> Iterator[Chunk]:
    slot = 0
    while rows > 0:
        chunk = pl.concat([field.reports(slot + n) for n in range(_CHUNK)])[:rows]
        yield {
            "north": chunk.filter(pl.col("y") >= WIDTH / 2),
            "south": chunk.filter(pl.col("y") < WIDTH / 2),
        }
        rows, slot = rows - chunk.height, slot + _CHUNK


APP = App(
    name="battalion",
    family="defence",
    sentence="Reports units that cross the line to four stations, with the utility of each report.",
    unit="reports",
    build=build,
    feed=feed,
)
