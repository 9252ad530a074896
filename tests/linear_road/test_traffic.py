"""The traffic meets the benchmark's rules, and is reproducible by seed."""

from __future__ import annotations

from functools import cache

import numpy as np
import polars as pl
import pytest
from polars.testing import assert_frame_equal

from boxcars.linear_road.facts import COLUMNS, SCHEMA
from boxcars.linear_road.history import toll_history
from boxcars.linear_road.traffic import Traffic, generate, rates
from tests.linear_road import made

SEED = 3


@cache
def city() -> pl.DataFrame:
    """Five half expressways for half an hour, with the growth of two hours."""
    return pl.concat(generate(1.5, SEED, stop=1_800, step=60, density=4))


@cache
def trips() -> pl.DataFrame:
    """The reports, with the number of the trip and the previous report."""
    reports = city().filter(pl.col("type") == 0).sort("vid", "time", maintain_order=True)
    trip = (pl.col("lane") == 0).cum_sum().over("vid")
    reports = reports.with_columns(trip=trip)
    before = pl.col("time", "pos", "seg", "lane", "spd").shift().over("vid", "trip")
    return reports.with_columns(before.name.prefix("last_"))


def moving() -> pl.DataFrame:
    """The reports that are not the first of their trip."""
    return trips().filter(pl.col("last_time").is_not_null())


def holds(frame: pl.DataFrame, rule: pl.Expr) -> bool:
    broken = frame.filter(~rule | rule.is_null())
    assert broken.height == 0, broken
    return frame.height > 1_000


def test_schema_and_ranges() -> None:
    assert city().schema == pl.Schema(SCHEMA)
    assert tuple(city().columns) == COLUMNS
    reports = city().filter(pl.col("type") == 0)
    assert holds(reports, pl.col("pos").is_between(0, 527_999))
    assert holds(reports, pl.col("seg") == pl.col("pos") // 5_280)
    assert holds(reports, pl.col("spd").is_between(0, 100) & pl.col("lane").is_between(0, 4))
    unused = pl.all_horizontal(pl.col(COLUMNS[9:]) == -1)
    assert holds(reports, unused)


def test_reports_of_a_second_come_before_its_requests() -> None:
    order = city().select(key=pl.col("time") * 2 + (pl.col("type") > 0))["key"]
    assert order.is_sorted()
    assert city()["time"].unique().to_list() == list(range(1_800))


def test_a_car_reports_every_30_seconds() -> None:
    assert holds(moving(), pl.col("time") - pl.col("last_time") == 30)


def test_a_trip_begins_in_lane_0_and_ends_in_lane_4() -> None:
    assert holds(trips(), (pl.col("lane") == 0) == pl.col("last_time").is_null())
    assert holds(moving(), pl.col("last_lane") != 4)
    ends = trips().group_by("vid", "trip").agg(pl.col("time", "lane").last(), pl.len())
    over = ends.filter(pl.col("time") < 1_770)
    assert holds(over, (pl.col("lane") == 4) & (pl.col("len") >= 3))


def test_speed_and_position_go_together() -> None:
    forward = pl.col("pos") - pl.col("last_pos")
    feet = pl.when(pl.col("dir") == 1).then(-forward).otherwise(forward)
    stops = (pl.col("spd") == 0) & (pl.col("last_spd") > 0)
    assert holds(moving(), stops | (feet == pl.col("spd") * 44))
    assert moving().filter(stops).height < 20
    assert holds(moving(), (pl.col("seg") - pl.col("last_seg")).abs() <= 1)
    one_way = trips().group_by("vid", "trip").agg(pl.col("dir", "xway").n_unique())
    assert holds(one_way, (pl.col("dir") == 1) & (pl.col("xway") == 1))


def test_cars_come_back_after_a_minute_and_elsewhere() -> None:
    ends = (
        trips()
        .group_by("vid", "trip")
        .agg(start=pl.col("time").first(), stop=pl.col("time").last(), xway=pl.col("xway").first())
    )
    again = ends.join(ends.with_columns(pl.col("trip") + 1), on=["vid", "trip"], suffix="_last")
    assert again.height > 50
    assert again.filter(pl.col("start") - pl.col("stop_last") < 61).height == 0
    assert again.filter(pl.col("start") - pl.col("stop_last") > 1_200).height == 0
    assert again.filter(pl.col("xway") == pl.col("xway_last")).height == 0


def test_requests_and_their_shares() -> None:
    counts = dict(city()["type"].value_counts().iter_rows())
    asked = counts[2] + counts[3] + counts[4]
    assert asked / counts[0] == pytest.approx(0.01, rel=0.05)
    shares = [counts[kind] / asked for kind in (2, 3, 4)]
    assert shares == pytest.approx([0.5, 0.1, 0.4], abs=0.02)
    requests = city().filter(pl.col("type") > 0)
    assert requests["qid"].is_unique().all()
    reports = city().filter(pl.col("type") == 0)
    assert requests.join(reports, on=["vid", "time"], how="anti").height == 0


def test_each_request_has_its_fields_and_no_more() -> None:
    used = {
        2: {"qid"},
        3: {"qid", "xway", "day"},
        4: {"qid", "xway", "s_init", "s_end", "dow", "tod"},
    }
    for kind, names in used.items():
        rows = city().filter(pl.col("type") == kind)
        for name in COLUMNS[3:]:
            assert (rows[name] >= 0).all() if name in names else (rows[name] == -1).all()


def test_days_that_are_asked_for_are_in_the_history() -> None:
    asked = city().filter(pl.col("type") == 3)
    history = toll_history(1.5, SEED, asked["vid"].unique().to_numpy())
    assert asked.join(history, on=["vid", "day", "xway"], how="anti").height == 0
    assert asked["day"].min() == 1
    assert asked["day"].max() == 69
    assert set(asked["xway"]) == {0, 1}


def test_travel_is_asked_for_in_the_direction_of_the_car() -> None:
    asked = city().filter(pl.col("type") == 4)
    assert asked.filter(pl.col("s_init") == pl.col("s_end")).height == 0
    half = asked.filter((pl.col("xway") == 1) & (pl.col("s_init") < pl.col("s_end")))
    assert half.height == 0
    for name, first, last in [("s_init", 0, 99), ("s_end", 0, 99), ("dow", 1, 7)]:
        assert (asked[name].min(), asked[name].max()) == (first, last)
    assert asked["tod"].is_between(1, 1_440).all()


def test_accidents_are_two_cars_in_one_spot_for_ten_minutes() -> None:
    still = pl.concat(made.tuples()).filter((pl.col("type") == 0) & (pl.col("spd") == 0))
    spots = still.group_by("xway", "dir", "lane", "pos").agg(
        cars=pl.col("vid").n_unique(),
        lasting=pl.col("time").max() - pl.col("time").min(),
        first=pl.col("time").min(),
    )
    assert spots["cars"].to_list() == [2, 2]
    assert spots["lane"].is_between(1, 3).all()
    lasting = spots.sort("first")["lasting"][0]
    assert 590 <= lasting <= 1_300


def test_traffic_is_slow_before_an_accident() -> None:
    reports = pl.concat(made.tuples()).filter(pl.col("type") == 0)
    crash = reports.filter(pl.col("spd") == 0).sort("time").row(0, named=True)
    later = reports.filter(pl.col("time").is_between(crash["time"] + 120, crash["time"] + 500))
    behind = later.filter((pl.col("seg") == crash["seg"]) & (pl.col("pos") > crash["pos"]))
    past = later.filter(pl.col("seg") == crash["seg"] - 2)
    assert behind["spd"].to_numpy().mean() < 25
    assert past["spd"].to_numpy().mean() > 35


@pytest.mark.parametrize(
    ("expressways", "roads"),
    [(0.5, {(0, 1)}), (1, {(0, 0), (0, 1)}), (1.5, {(0, 0), (0, 1), (1, 1)})],
)
def test_half_an_expressway_has_one_direction(
    expressways: float, roads: set[tuple[int, int]]
) -> None:
    (frame,) = generate(expressways, 1, stop=60, step=60)
    reports = frame.filter(pl.col("type") == 0)
    assert set(reports.select("xway", "dir").iter_rows()) == roads


@pytest.mark.parametrize("expressways", [0.7, 0, -1])
def test_other_parts_of_an_expressway_are_refused(expressways: float) -> None:
    with pytest.raises(ValueError, match="multiple of 0.5"):
        Traffic(expressways, 1)


def test_a_run_ends() -> None:
    with pytest.raises(ValueError, match="ends after 10800"):
        Traffic(0.5, 1).skip(10_801)


def test_same_seed_same_data_in_any_steps_and_with_any_workers() -> None:
    whole = pl.concat(generate(2.5, 9, stop=700, step=300, density=5))
    for step, workers in [(7, 1), (60, 2), (1, 3)]:
        frames = generate(2.5, 9, stop=700, step=step, workers=workers, density=5)
        assert_frame_equal(whole, pl.concat(frames))
    assert not whole.equals(pl.concat(generate(2.5, 10, stop=700, step=300, density=5)))


def test_skipping_gives_the_same_data() -> None:
    tail = pl.concat(generate(1.5, SEED, start=1_234, stop=1_800, step=60, density=4))
    assert_frame_equal(tail, city().filter(pl.col("time") >= 1_234))


def test_expressways_are_independent_but_for_the_numbers_of_cars() -> None:
    rest = [name for name in COLUMNS if name != "vid"]
    alone = pl.concat(generate(1, SEED, stop=1_800, step=60, density=4))
    for kinds in (0, 4):
        mine = alone.filter(pl.col("type") == kinds).select(rest)
        same = city().filter((pl.col("type") == kinds) & (pl.col("xway") == 0)).select(rest)
        assert_frame_equal(mine, same)


def test_the_rate_rises() -> None:
    curve = rates()
    assert (np.diff(curve) > 0).all()
    assert curve[0] == 13
    assert curve[-1] == pytest.approx(1_700, abs=1)
    first = pl.concat(generate(1, SEED, stop=20))
    assert 9 * 20 < first.height < 18 * 20
    assert set(first.filter(pl.col("type") == 0)["lane"]) == {0}


def test_three_hours() -> None:
    """As many tuples and cars as the original; roads are free at first and congested at the end."""
    rows, entered, slow, accidents = [], [], [], set()
    for frame in generate(1, SEED, step=60):
        reports = frame.filter(pl.col("type") == 0)
        rows.append(frame.height)
        entered.append(reports.filter(pl.col("lane") == 0)["vid"])
        segments = reports.group_by("dir", "seg").agg(
            pl.col("spd").mean(), pl.col("vid").n_unique()
        )
        slow.append(segments.filter((pl.col("spd") < 40) & (pl.col("vid") > 50)).height / 200)
        halted = reports.filter(pl.col("spd") == 0).group_by("dir", "lane", "pos").len()
        accidents |= set(halted.filter(pl.col("len") > 2).drop("len").iter_rows())
    cars = pl.concat(entered)
    assert 11.5e6 < sum(rows) < 13e6
    assert (np.diff(np.convolve(rows, np.ones(10), "valid")) > 0).all()
    assert 75_000 < cars.n_unique() < 140_000
    assert cars.filter(cars.is_duplicated()).n_unique() / cars.n_unique() == pytest.approx(
        0.1, abs=0.02
    )
    assert np.mean(slow[:50]) < 0.06
    assert np.mean(slow[120:]) > 0.25
    assert 6 <= len(accidents) <= 12
