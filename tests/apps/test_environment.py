"""Environmental monitoring on the vector of the Aurora papers."""

import boxcars as bx
from boxcars.apps.environment import build
from tests.test_golden import VECTORS


def test_the_water_then_and_before() -> None:
    vector = VECTORS["aur-12-env-monitoring-delta"]
    temperatures, given = vector["input"]["hourly_temp"], vector["input"]
    hours = range(len(temperatures))
    water = [
        {"time": 3600 * h, "tank": "a", "temperature": float(t), "ph": 7.0}
        | {"oxygen": 9.0, "conductivity": 300.0}
        for h, t in enumerate(temperatures)
    ]
    breathing = [120.0 if h == given["fish_abnormal_at_h"] else 60.0 for h in hours]
    fish = [{"time": 3600 * h, "tank": "a", "breathing": breathing[h]} for h in hours]
    (alarm,) = bx.preview(build(), {"water": water, "fish": fish})["alarms"].to_pylist()
    assert alarm["time"] == 3600 * given["fish_abnormal_at_h"]
    assert alarm["well_at"] == 3600 * given["last_normal_h"]
    assert alarm["temperature_4h_now"] == vector["expected"]["delta_at_5"]
    assert alarm["temperature_4h_well"] == vector["expected"]["delta_at_4"]
