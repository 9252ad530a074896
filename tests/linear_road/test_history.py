"""The history is a function of its key, whether it is computed, listed or stored."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
from polars.testing import assert_frame_equal

from boxcars.linear_road.facts import day_of_week, travel
from boxcars.linear_road.history import (
    all_vids,
    past_mean,
    past_toll,
    segment_history,
    segment_means,
    toll_history,
    travel_history,
    write_segment_history,
    write_toll_history,
    write_travel_history,
)
from boxcars.linear_road.past import Seeded, Stored
from tests.linear_road.made import PAST, SEED, tuples


def test_tolls_of_some_cars_are_part_of_all() -> None:
    some, all_ = np.array([150, 7_003]), np.arange(100, 10_000)
    part = toll_history(3, 1, all_).filter(pl.col("vid").is_in(some.tolist()))
    assert_frame_equal(toll_history(3, 1, some), part)
    assert part["day"].to_list() == [*range(1, 70)] * 2
    assert not part.equals(toll_history(3, 2, some))


def test_tolls_and_expressways_are_spread_evenly() -> None:
    tolls = toll_history(2.5, 1, np.arange(100, 3_000))
    assert (tolls["toll"].min(), tolls["toll"].max()) == (0, 98)
    shares = tolls["xway"].value_counts(normalize=True)
    assert shares["xway"].sort().to_list() == [0, 1, 2]
    assert shares["proportion"].to_numpy().min() > 0.32
    assert tolls.row(0)[3] == past_toll(1, 100, 1)


def test_numbers_of_cars_in_lots() -> None:
    lots = list(all_vids(1.5, 150_000))
    assert [(lot[0], len(lot)) for lot in lots] == [
        (100, 150_000),
        (150_100, 150_000),
        (300_100, 100_000),
    ]


def test_segments_of_a_day() -> None:
    (day,) = segment_history(0.5, 1, days=[3])
    assert day.columns == ["day", "minute", "xway", "dir", "seg", "lav", "cnt", "toll"]
    assert day.height == 1_440 * 2 * 100
    assert day["lav"].to_numpy().min() > 0
    congested = (pl.col("lav") < 40) & (pl.col("cnt") > 50)
    assert_frame_equal(day.filter(pl.col("toll") > 0), day.filter(congested))
    assert 0.02 < (day["toll"] > 0).to_numpy().mean() < 0.5


def test_weekdays_have_rush_hours() -> None:
    means = segment_means(1, 0)[..., 0]
    eight, three, work, sunday = 8 * 60 - 1, 3 * 60 - 1, 2, 0
    assert means[0, 50, work, eight] < 25
    assert means[0, 50, work, three] > 55
    assert means[0, 50, sunday, eight] > 55
    assert means[0, 2, work, eight] > 50


def test_means_are_those_of_the_days() -> None:
    some = pl.col("seg").is_in([50, 99]) & pl.col("minute").is_in([1, 480, 1_440])
    weeks = segment_history(1, 1, days=[*range(2, 70, 7), *range(7, 70, 7)])
    days = pl.concat([day.filter(some) for day in weeks])
    assert days.height == (10 + 9) * 3 * 2 * 2
    dow = pl.col("day").replace_strict({day: day_of_week(day) for day in range(1, 70)})
    lav, cnt = (pl.col(name).sum() // pl.len() for name in ("lav", "cnt"))
    keys = ["xway", "dir", "seg", "dow", "tod"]
    wanted = days.with_columns(dow=dow, tod="minute").group_by(keys).agg(lav=lav, cnt=cnt)
    (means,) = travel_history(1, 1)
    assert means.height == 2 * 100 * 7 * 1_440
    found = means.join(wanted, on=keys, how="semi")
    assert_frame_equal(wanted, found, check_row_order=False, check_column_order=False)


def test_travel_times_from_tables_and_from_the_seed() -> None:
    requests = pl.concat(tuples()).filter(pl.col("type") == 4)
    vids = pl.concat(tuples())["vid"].unique().to_numpy()
    stored = Stored(toll_history(0.5, SEED, vids), pl.concat(travel_history(0.5, SEED)))
    trips = PAST.travel_times(requests)
    assert_frame_equal(stored.travel_times(requests), trips)
    assert (trips["toll"] > 0).to_numpy().mean() > 0.05
    days = pl.concat(tuples()).filter(pl.col("type") == 3)
    paid = PAST.expenditures(days)
    assert paid.null_count() == 0
    assert stored.expenditures(days).to_list() == paid.to_list()


def test_a_trip_over_midnight() -> None:
    request = {"xway": [1], "s_init": [99], "s_end": [0], "dow": [7], "tod": [1_430]}
    found = Seeded(2, 1).travel_times(pl.DataFrame(request))

    def past(direction: int, seg: int, tod: int) -> tuple[int, int]:
        assert direction == 1
        lav, cars = past_mean(1, 7, tod, 1, direction, seg)
        return lav, cars

    assert found.row(0) == travel(past, 99, 0, 1_430)
    assert found["travel_time"][0] > 5_000


def test_what_no_row_has_gets_no_answer() -> None:
    days = toll_history(2, 1, np.array([100]))
    asked = days.with_columns(xway=1 - pl.col("xway"))
    none = pl.DataFrame(
        schema=dict.fromkeys(["xway", "dir", "seg", "dow", "tod", "lav", "cnt"], pl.Int64)
    )
    for past in (Seeded(2, 1), Stored(days, none)):
        assert past.expenditures(asked).null_count() == 69
        assert past.expenditures(days).to_list() == days["toll"].to_list()
    trip = {"xway": [0], "s_init": [1], "s_end": [2], "dow": [1], "tod": [1]}
    assert Stored(days, none).travel_times(pl.DataFrame(trip)).row(0) == (None, None)


def test_files(tmp_path: Path) -> None:
    lots = [np.array([100, 101]), np.array([102])]
    assert write_toll_history(tmp_path / "tolls", 2, 1, lots) == 207
    read = pl.read_parquet(tmp_path / "tolls/*.parquet")
    assert_frame_equal(read, toll_history(2, 1, np.array([100, 101, 102])))
    assert write_segment_history(tmp_path / "segments", 1.5, 1, days=[69]) == 2 * 288_000
    read = pl.read_parquet(tmp_path / "segments/*.parquet")
    assert_frame_equal(read, pl.concat(segment_history(1.5, 1, days=[69])))
    write_travel_history(tmp_path / "means.npy", 1, 1)
    array = np.load(tmp_path / "means.npy", mmap_mode="r")
    assert array.shape == (1, 2, 100, 7, 1_440, 2)
    assert tuple(array[0, 1, 50, 2, 479]) == tuple(past_mean(1, 3, 480, 0, 1, 50))
