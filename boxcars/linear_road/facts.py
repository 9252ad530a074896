"""The rules of Linear Road as we interpret them; see ``docs/explanation/linear-road.md``.

**Minute.** ``minute = time // 60 + 1``. All statistics are of whole minutes.

**Trip.** The first report of a car starts a trip, and so does each report in lane 0. A report
*enters* a segment if it starts a trip or if its xway, dir or seg differ from the car's last report.

**Cars.** ``n`` of a report in minute M: the distinct cars that reported from the segment (same
xway, dir, seg; all lanes) in minute M - 1.

**LAV** of a report in minute M, see :func:`lav_of`: for each of the minutes M - 5 .. M - 1 take the
mean speed of each car in the segment, then the mean over the cars; then the mean over those of the
five minutes that have reports, truncated. -1 if none has.

**Accident.** A car is stopped if its last four reports have the same xway, dir, lane and pos, in a
travel lane. Two cars stopped at the same position are an accident. It is detected by the fourth
report of the second car, in minute F, and cleared by the first report with which one of the two
has moved, in minute G. It is in effect for the reports of the minutes F + 1 .. G.

**Ahead.** For a report in segment s, the segments s .. s + 4 (dir 0) or s .. s - 4 (dir 1) that
exist. If several accidents are in effect ahead, the nearest counts.

**Toll notification** ``(vid, time, emit, lav, toll)``: for each report that enters a segment,
except in lane 4. The toll is :func:`toll_of`, and 0 if an accident is in effect ahead.

**Accident notification** ``(vid, time, emit, seg)``: for each report that enters a segment, except
in lane 4, with an accident in effect ahead; ``seg`` is that of the accident.

**Charge.** A report that enters a segment and does not start a trip charges the toll that was
announced for the previous segment (0 if none was), also in lane 4. The last segment of a trip is
free.

**Balance** ``(qid, vid, time, emit, result_time, balance)``: the sum of all charges to the car
so far, over all expressways. ``result_time``: when it last changed (0: never). A balance that
was true at any instant of ``[time - 60, emit]`` is correct.

**Expenditure** ``(qid, time, emit, expenditure)``: the toll of the row (vid, day, xway) of the toll
history. There always is such a row.

**Travel time** ``(qid, time, emit, travel_time, toll)``: :func:`travel` over the segments s_init ..
s_end, both included, in direction 1 if ``s_init > s_end`` and else 0. All numbers are integers, and
``travel_time`` is in seconds.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import polars as pl

REPORT, BALANCE, EXPENDITURE, TRAVEL = 0, 2, 3, 4
"""Types of input tuples."""

COLUMNS: Final = (
    "type", "time", "vid", "spd", "xway", "lane", "dir", "seg", "pos",
    "qid", "s_init", "s_end", "dow", "tod", "day",
)  # fmt: skip
SCHEMA: Final = dict.fromkeys(COLUMNS, pl.Int64)
"""Input tuples. Fields that a type does not use are -1."""

SEGMENTS, MILE = 100, 5_280
"""Segments per expressway, each one mile long; feet per mile."""
ENTRY, EXIT = 0, 4
"""The lanes of the ramps; 1, 2 and 3 are travel lanes."""
DURATION = 10_800
"""Seconds of a run."""
EVERY = 30
"""Seconds between two reports of a car."""
DAYS, WEEK, DAY = 69, 7, 1_440
"""Days of history, days of a week, minutes of a day."""

LAV_MINUTES = 5
FAST = 40
"""Mph; with this LAV or a higher one there is no toll."""
FEW = 50
"""Cars; up to this number there is no toll."""
STANDING = 4
"""Consecutive reports from one position after which a car is stopped."""
AHEAD = 4
"""Segments ahead in which an accident counts."""
STALE = 60
"""Seconds; maximum age of a balance."""

DEADLINES: Final = {
    "tolls": 5.0,
    "accidents": 5.0,
    "balances": 5.0,
    "expenditures": 10.0,
    "travel_times": 30.0,
}
"""Maximum seconds from the time of a tuple to the emission of its answer."""

ANSWERS: Final[dict[str, dict[str, type[pl.DataType]]]] = {
    "tolls": {
        "vid": pl.Int64, "time": pl.Int64, "emit": pl.Float64, "lav": pl.Int64, "toll": pl.Int64,
    },
    "accidents": {"vid": pl.Int64, "time": pl.Int64, "emit": pl.Float64, "seg": pl.Int64},
    "balances": {
        "qid": pl.Int64, "vid": pl.Int64, "time": pl.Int64, "emit": pl.Float64,
        "result_time": pl.Int64, "balance": pl.Int64,
    },
    "expenditures": {
        "qid": pl.Int64, "time": pl.Int64, "emit": pl.Float64, "expenditure": pl.Int64,
    },
    "travel_times": {
        "qid": pl.Int64, "time": pl.Int64, "emit": pl.Float64,
        "travel_time": pl.Int64, "toll": pl.Int64,
    },
}  # fmt: skip
"""The answers of each kind and their columns."""

NUDGE = 1e-9
"""Added to the mean of means before it is truncated."""


def minute_of(time: int) -> int:
    """The minute of a time, counted from 1.

    >>> minute_of(0), minute_of(59), minute_of(60)
    (1, 1, 2)
    """
    return time // 60 + 1


def lav_of(means: list[float]) -> int:
    """The latest average velocity from the mean speeds of up to five minutes.

    A mean that is a whole number may be slightly less in floating point, depending on the order
    of summation. ``NUDGE`` is added so that it is not truncated to the next lower integer.

    >>> lav_of([39.9, 40.0]), lav_of([]), lav_of([91 / 3, 89 / 3])
    (39, -1, 30)
    """
    return int(sum(means) / len(means) + NUDGE) if means else -1


def toll_of(lav: int, cars: int) -> int:
    """The toll if no accident is ahead.

    >>> toll_of(39, 60), toll_of(40, 60), toll_of(39, 50)
    (200, 0, 0)
    """
    return 2 * (cars - FEW) ** 2 if lav < FAST and cars > FEW else 0


def day_of_week(day: int) -> int:
    """The day of the week, 1 .. 7, of the day ``day`` days ago.

    >>> day_of_week(1), day_of_week(6), day_of_week(7), day_of_week(69)
    (2, 7, 1, 7)
    """
    return day % WEEK + 1


def travel(
    past: Callable[[int, int, int], tuple[int, int]], s_init: int, s_end: int, tod: int
) -> tuple[int, int]:
    """The seconds and the toll from the start of one segment to the end of another.

    ``past(dir, seg, tod)`` returns the mean LAV and the mean number of cars, both truncated, of the
    segment in that minute of the day (1 .. 1440), over all such days of the week. The day of the
    week does not change at midnight.

    >>> travel(lambda dir, seg, tod: (50, 0), 3, 5, 1440)
    (216, 0)
    >>> travel(lambda dir, seg, tod: (seg, tod), 40, 39, 60)  # 90 s, then 92 s from minute 61 on
    (182, 242)
    """
    direction, step = (1, -1) if s_init > s_end else (0, 1)
    seconds = toll = 0
    for seg in range(s_init, s_end + step, step):
        minute = (tod - 1 + seconds // 60) % DAY + 1
        lav, cars = past(direction, seg, minute)
        seconds += 3_600 // max(lav, 1)
        toll += toll_of(lav, cars)
    return seconds, toll
