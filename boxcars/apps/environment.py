"""Environmental monitoring: abnormal behaviour of fish, and the water quality at that time.

An application of the Aurora papers: fish are observed as sensors for toxins in the water. An alarm
has the water quality at that time and when the fish were last well, each measurement with its
change over 1, 2 and 4 hours.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from boxcars.apps.app import App
from boxcars.apps.tanks import MEASURES, WATER_EVERY, feed
from boxcars.model.network import Network
from boxcars.model.stream import Stream
from boxcars.model.window import landmark, time

HOURS = (1, 2, 4)
ODD = "breathing < 30 OR breathing > 90"
"""Breaths per minute."""
_SAME = "left.tank = right.tank AND left.time = right.time"
_MEMORY = 4 * 3600
"""Seconds for which the last normal observation is kept."""


def build() -> Network:
    """Join observations of the fish with water reports, and alarms with the last normal report."""
    net = Network("environment")
    net.superbox(deltas(), measure=None)
    fields = {"time": "int", "tank": "str", **dict.fromkeys(MEASURES, "float")}
    water = net.input("water", ts="time", fields=fields)
    fish = net.input("fish", ts="time", fields={"time": "int", "tank": "str", "breathing": "float"})
    quality = _quality(water)
    watched = fish.aggregate(
        landmark(emit="change"),
        by="tank",
        breathing="last(breathing)",
        normal=f"count(CASE WHEN {ODD} THEN NULL ELSE 1 END)",
    ).named("watched")
    observed = watched.join(
        quality, on="left.tank = right.tank AND left.time >= right.time", window=time(WATER_EVERY)
    ).named("beside")
    kept = ["tank", "breathing", "normal"]
    seen = observed.map(time="time", **_from("left", kept), **_from("right", _reported())).named(
        "observed"
    )
    odd, well = seen.filter(ODD, otherwise=True).named("behaviour")
    both = odd.join(
        well,
        on="left.tank = right.tank AND left.normal = right.normal",
        window=time(1),
        right=time(_MEMORY),
    ).named("since")
    alarm = both.map(
        time="time",
        tank="left_tank",
        breathing="left_breathing",
        well_at="right_time",
        **_from("left", _reported(), "_now"),
        **_from("right", _reported(), "_well"),
    )
    net.output("alarms", alarm.named("alarm"))
    return net


def deltas() -> Network:
    """A superbox for one measurement: its value, and its change over 1, 2 and 4 hours."""
    body = Network("deltas")
    fields = {"time": "int", "tank": "str", **dict.fromkeys(MEASURES, "float")}
    water = body.input("water", ts="time", fields=fields)
    one, two, four = (
        water.aggregate(
            time(hours * 3600 + 1, advance=0),
            by="tank",
            now="last($measure)",
            delta="delta($measure)",
        ).named(f"hours-{hours}")
        for hours in HOURS
    )
    some = one.join(two, on=_SAME, window=time(1)).named("join-1-2")
    some = some.map(
        time="time", tank="left_tank", now="left_now", d1="left_delta", d2="right_delta"
    ).named("deltas-1-2")
    every = some.join(four, on=_SAME, window=time(1)).named("join-4")
    body.output(
        "deltas",
        every.map(
            time="time",
            tank="left_tank",
            now="left_now",
            d1="left_d1",
            d2="left_d2",
            d4="right_delta",
        ).named("deltas-1-2-4"),
    )
    return body


def _reported() -> list[str]:
    """The fields of a water report."""
    return [name for measure in MEASURES for name in _own(measure)]


def _from(side: str, names: list[str], ending: str = "") -> dict[str, Any]:
    """Fields of one side of a join, with an optional suffix."""
    return {f"{name}{ending}": f"{side}_{name}" for name in names}


def _quality(water: Stream) -> Stream:
    """Combine all measurements and their changes into one report, by a tree of joins."""
    parts = [_Part(water.use("deltas", measure=m).named(m), _own(m)) for m in MEASURES]
    first, second = _both(*parts[:2], name="warm-ph"), _both(*parts[2:], name="oxygen-salt")
    return _both(first, second, name="quality").stream


@dataclass(frozen=True)
class _Part:
    """A stream with a part of the report, and its field for each field of the report."""

    stream: Stream
    fields: dict[str, str]


def _own(measure: str) -> dict[str, str]:
    return {measure: "now"} | {f"{measure}_{hours}h": f"d{hours}" for hours in HOURS}


def _both(left: _Part, right: _Part, *, name: str) -> _Part:
    """Join two parts of the report with the same time."""
    fields: dict[str, Any] = {"tank": "left_tank"}
    fields |= {new: f"left_{old}" for new, old in left.fields.items()}
    fields |= {new: f"right_{old}" for new, old in right.fields.items()}
    joined = left.stream.join(right.stream, on=_SAME, window=time(1)).named(f"join-{name}")
    names = {new: new for new in (*left.fields, *right.fields)}
    return _Part(joined.map(time="time", **fields).named(name), names)


APP = App(
    name="environment",
    family="environment",
    sentence="Reports abnormal behaviour of fish, with the water quality now and before.",
    unit="observations",
    build=build,
    feed=feed,
)
