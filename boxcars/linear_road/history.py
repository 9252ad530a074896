"""The history of the past ten weeks: a function of its key, so that parts can be generated alone.

All numbers are integers. Day 1 is yesterday, day 69 is almost ten weeks ago.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from math import ceil
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numba import njit
from numpy.typing import NDArray

from boxcars.linear_road.chance import below, hashed
from boxcars.linear_road.facts import DAY, DAYS, FAST, FEW, SEGMENTS, WEEK

FIRST, NUMBERS = 100, 200_000
"""The first vehicle number, and the numbers of vehicles and requests per expressway."""
_TOLL, _SEGMENT = 1, 2
_MOST = 99
"""Historical tolls are below this."""
_RUSH = 600
"""Cars in a downtown segment in the rush hour."""
_FREE, _SPEED = 190, 63
"""Up to ``_FREE`` cars in a segment drive at ``_SPEED`` mph."""


def toll_history(expressways: float, seed: int, vids: NDArray[np.int64]) -> pl.DataFrame:
    """The tolls of some cars on each day: ``vid, day, xway, toll``.

    >>> toll_history(2, 7, np.array([101, 205])).shape
    (138, 4)
    """
    columns = _tolls(seed, np.asarray(vids, np.int64), ceil(expressways))
    return pl.DataFrame(dict(zip(("vid", "day", "xway", "toll"), columns, strict=True)))


def write_toll_history(
    folder: Path, expressways: float, seed: int, vids: Iterable[NDArray[np.int64]]
) -> int:
    """Write a file for each batch of cars; return the number of rows."""
    folder.mkdir(parents=True, exist_ok=True)
    rows = 0
    for number, lot in enumerate(vids):
        frame = toll_history(expressways, seed, lot)
        frame.write_parquet(folder / f"tolls-{number:05d}.parquet")
        rows += frame.height
    return rows


def all_vids(expressways: float, lot: int = 100_000) -> Iterator[NDArray[np.int64]]:
    """Yield the possible vehicle numbers of a run in batches; not every number has a car."""
    last = FIRST + ceil(expressways) * NUMBERS
    for first in range(FIRST, last, lot):
        yield np.arange(first, min(first + lot, last))


def segment_history(
    expressways: float, seed: int, days: Iterable[int] = range(1, DAYS + 1)
) -> Iterator[pl.DataFrame]:
    """Yield all minutes of all segments, a frame for each expressway and day.

    The columns are ``day, minute, xway, dir, seg, lav, cnt, toll``.
    """
    for xway in range(ceil(expressways)):
        for day in days:
            yield _with_toll(_keys(xway, day), _day(seed, xway, day).reshape(-1, 2))


def write_segment_history(
    folder: Path, expressways: float, seed: int, days: Iterable[int] = range(1, DAYS + 1)
) -> int:
    """Write a file for each expressway and day; return the number of rows."""
    folder.mkdir(parents=True, exist_ok=True)
    rows = 0
    for frame in segment_history(expressways, seed, days):
        frame.write_parquet(
            folder / f"xway-{frame['xway'][0]:03d}-day-{frame['day'][0]:02d}.parquet"
        )
        rows += frame.height
    return rows


def segment_means(seed: int, xway: int) -> NDArray[np.int16]:
    """Mean LAV and mean number of cars, by dir, seg, dow - 1 and tod - 1, both truncated.

    >>> segment_means(7, 0).shape
    (2, 100, 7, 1440, 2)
    """
    means: NDArray[np.int16] = _means(seed, xway)
    return means


def travel_history(expressways: float, seed: int) -> Iterator[pl.DataFrame]:
    """Yield the inputs of travel times, a frame for each expressway.

    The columns are ``xway, dir, seg, dow, tod, lav, cnt``.
    """
    for xway in range(ceil(expressways)):
        keys = np.indices((2, SEGMENTS, WEEK, DAY)).reshape(4, -1)
        means = segment_means(seed, xway).reshape(-1, 2).astype(np.int64)
        columns = {"dir": keys[0], "seg": keys[1], "dow": keys[2] + 1, "tod": keys[3] + 1}
        frame = pl.DataFrame({**columns, "lav": means[:, 0], "cnt": means[:, 1]})
        yield frame.select(pl.lit(xway, pl.Int64).alias("xway"), pl.all())


def write_travel_history(file: Path, expressways: float, seed: int) -> None:
    """Write the means of all expressways as one NumPy array, which can be memory-mapped."""
    shape = (ceil(expressways), 2, SEGMENTS, WEEK, DAY, 2)
    array = np.lib.format.open_memmap(file, "w+", np.int16, shape)
    for xway in range(len(array)):
        array[xway] = segment_means(seed, xway)
    array.flush()


@njit(cache=True, nogil=True)
def past_toll(seed: int, vid: int, day: int) -> Any:
    """The toll of a car on a day."""
    return below(hashed(seed, vid, day, _TOLL), 0, _MOST)


@njit(cache=True, nogil=True)
def past_xway(seed: int, vid: int, day: int, xways: int) -> Any:
    """The expressway of a car on a day."""
    return below(hashed(seed, vid, day, _TOLL), 32, xways)


@njit(cache=True, nogil=True)
def past_segment(seed: int, day: int, minute: int, xway: int, direction: int, seg: int) -> Any:
    """The LAV and the number of cars of a segment in a minute of a day, 1 .. 1440."""
    word = hashed(seed, day * 2_048 + minute, (xway * 2 + direction) * 128 + seg, _SEGMENT)
    downtown = 100 - abs(seg - SEGMENTS // 2) * 8 // 5
    cars = _RUSH * _busy(day, minute) * downtown // 10_000 + below(word, 0, 40)
    speed = _SPEED if cars <= _FREE else _SPEED * _FREE // cars
    return speed + below(word, 32, 9) - 4, cars


@njit(cache=True, nogil=True)
def _busy(day: int, minute: int) -> Any:
    """The intensity of the rush hour, in percent.

    It peaks at 8:00 and 17:30, with a smaller peak at 14:00 on weekends. The first and the last
    day of the week are the weekend.
    """
    light = 25 if 360 <= minute < 1_320 else 5
    if day % WEEK in {0, 6}:
        return max(light, 60 - abs(minute - 840) // 6)
    return max(light, 100 - abs(minute - 480) * 2 // 3, 100 - abs(minute - 1_050) * 5 // 9)


@njit(cache=True, nogil=True)
def _tolls(seed: int, vids: NDArray[np.int64], xways: int) -> NDArray[np.int64]:
    columns = np.empty((4, len(vids) * DAYS), np.int64)
    for i in range(columns.shape[1]):
        vid, day = vids[i // DAYS], 1 + i % DAYS
        columns[0, i], columns[1, i] = vid, day
        columns[2, i], columns[3, i] = past_xway(seed, vid, day, xways), past_toll(seed, vid, day)
    return columns


@njit(cache=True, nogil=True)
def _day(seed: int, xway: int, day: int) -> NDArray[np.int64]:
    """The LAV and the number of cars by minute, dir and seg."""
    found = np.empty((DAY, 2, SEGMENTS, 2), np.int64)
    for minute in range(DAY):
        for direction in range(2):
            for seg in range(SEGMENTS):
                lav, cars = past_segment(seed, day, minute + 1, xway, direction, seg)
                found[minute, direction, seg, 0] = lav
                found[minute, direction, seg, 1] = cars
    return found


@njit(cache=True, nogil=True)
def past_mean(seed: int, dow: int, minute: int, xway: int, direction: int, seg: int) -> Any:
    """The mean LAV and the mean number of cars over all such days of the week, truncated."""
    lavs, cars, days = 0, 0, 0
    for day in range(dow - 1 if dow > 1 else WEEK, DAYS + 1, WEEK):
        lav, number = past_segment(seed, day, minute, xway, direction, seg)
        lavs, cars, days = lavs + lav, cars + number, days + 1
    return lavs // days, cars // days


@njit(cache=True, nogil=True)
def _means(seed: int, xway: int) -> NDArray[np.int16]:
    means = np.empty((2, SEGMENTS, WEEK, DAY, 2), np.int16)
    for direction in range(2):
        for seg in range(SEGMENTS):
            for dow in range(WEEK):
                for tod in range(DAY):
                    lav, cars = past_mean(seed, dow + 1, tod + 1, xway, direction, seg)
                    means[direction, seg, dow, tod, 0] = lav
                    means[direction, seg, dow, tod, 1] = cars
    return means


def _keys(xway: int, day: int) -> pl.DataFrame:
    minute, direction, seg = np.indices((DAY, 2, SEGMENTS)).reshape(3, -1)
    frame = pl.DataFrame({"minute": minute + 1, "dir": direction, "seg": seg})
    day_, xway_ = pl.lit(day, pl.Int64).alias("day"), pl.lit(xway, pl.Int64).alias("xway")
    return frame.select(day_, "minute", xway_, "dir", "seg")


def _with_toll(keys: pl.DataFrame, values: NDArray[np.int64]) -> pl.DataFrame:
    lav, cnt = pl.col("lav"), pl.col("cnt")
    toll = pl.when((lav < FAST) & (cnt > FEW)).then(2 * (cnt - FEW) ** 2).otherwise(0)
    frame = keys.with_columns(lav=pl.Series(values[:, 0]), cnt=pl.Series(values[:, 1]))
    return frame.with_columns(toll=toll.cast(pl.Int64))
