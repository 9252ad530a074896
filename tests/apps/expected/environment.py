"""Environmental monitoring, observation by observation."""

from collections.abc import Mapping
from typing import Any

import polars as pl

Rows = list[dict[str, Any]]
MEASURES = ("temperature", "ph", "oxygen", "conductivity")


def expected(data: Mapping[str, pl.DataFrame], _: Mapping[str, pl.DataFrame]) -> dict[str, Rows]:
    readings: dict[str, Rows] = {}
    for row in data["water"].iter_rows(named=True):
        readings.setdefault(row["tank"], []).append(row)
    well: dict[str, tuple[int, dict[str, Any]]] = {}
    alarms: Rows = []
    for seen in data["fish"].iter_rows(named=True):
        tank, now = seen["tank"], seen["time"]
        mine = [row for row in readings.get(tank, []) if now - 14_700 < row["time"] <= now]
        if not mine or now - mine[-1]["time"] >= 300:
            continue
        water = report(mine)
        if 30 <= seen["breathing"] <= 90:
            well[tank] = (now, water)
        elif tank in well and now - well[tank][0] < 14_400:
            before, then = well[tank]
            alarm = {"time": now, "tank": tank, "breathing": seen["breathing"], "well_at": before}
            alarm |= {f"{name}_now": value for name, value in water.items()}
            alarms.append(alarm | {f"{name}_well": value for name, value in then.items()})
    return {"alarms": alarms}


def report(rows: Rows) -> dict[str, float]:
    """The last reading, and its difference from the first one of the last hours."""
    last = rows[-1]
    found = {measure: last[measure] for measure in MEASURES}
    for hours in (1, 2, 4):
        first = next(row for row in rows if last["time"] - row["time"] <= 3600 * hours)
        for measure in MEASURES:
            found[f"{measure}_{hours}h"] = last[measure] - first[measure]
    return found
