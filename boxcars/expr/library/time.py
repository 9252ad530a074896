"""Time functions. Timestamps are in UTC; formats are those of strftime: ``%Y-%m-%d %H:%M:%S``."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import datetime

import polars as pl

from boxcars.expr.cast import micros, parse_iso, to_seconds
from boxcars.expr.functions import Group
from boxcars.model.problem import Wrong, nearest
from boxcars.model.timestamps import bounded

add = Group("time")

_PARTS: dict[str, tuple[str, Callable[[pl.Expr], pl.Expr], int]] = {
    "year": ("The year.", lambda t: t.dt.year(), 2024),
    "month": ("The month, 1 to 12.", lambda t: t.dt.month(), 5),
    "day": ("The day of the month.", lambda t: t.dt.day(), 19),
    "hour": ("The hour, 0 to 23.", lambda t: t.dt.hour(), 10),
    "minute": ("The minute, 0 to 59.", lambda t: t.dt.minute(), 20),
    "second": ("The whole second, 0 to 59.", lambda t: t.dt.second(), 30),
    "dow": ("The day of the week: 0 is Sunday.", lambda t: t.dt.weekday() % 7, 0),
    "doy": ("The day of the year, from 1.", lambda t: t.dt.ordinal_day(), 140),
    "week": ("The week of the year by ISO 8601.", lambda t: t.dt.week(), 20),
    "quarter": ("The quarter, 1 to 4.", lambda t: t.dt.quarter(), 2),
}
_UNITS = {
    "second": "1s",
    "minute": "1m",
    "hour": "1h",
    "day": "1d",
    "week": "1w",
    "month": "1mo",
    "quarter": "1q",
    "year": "1y",
}


def _part(part: str, time: pl.Expr) -> pl.Expr:
    if part.lower() not in _PARTS:
        raise Wrong(f"unknown part '{part}' of a timestamp.{nearest(part, _PARTS)}")
    return _PARTS[part.lower()][1](time)


def _truncate(unit: str, time: pl.Expr) -> pl.Expr:
    if unit.lower() not in _UNITS:
        raise Wrong(f"unknown unit '{unit}' of time.{nearest(unit, _UNITS)}")
    return bounded(time.dt.truncate(_UNITS[unit.lower()]).cast(pl.Int64))


_SPELLED = """
yyyy=%Y uuuu=%Y yy=%y MMMM=%B MMM=%b MM=%m M=%-m dd=%d d=%-d DDD=%j EEEE=%A EEE=%a E=%a
HH=%H H=%-H hh=%I h=%-I mm=%M ss=%S SSS=%3f SSSSSS=%6f a=%p XXX=%:z Z=%z
"""
_JAVA = dict(pair.split("=") for pair in _SPELLED.split())
"""Java (and Spark) pattern letters and their strftime directives."""


def _from_java(pattern: str) -> str | None:
    """Convert a Java pattern to a strftime format; None if it is not one.

    >>> _from_java("yyyy-MM-dd'T'HH:mm")
    '%Y-%m-%dT%H:%M'
    """
    written = []
    for part in re.finditer(r"'(?P<quoted>[^']*)'|(?P<letters>([A-Za-z])\3*)|[^A-Za-z']+", pattern):
        if part["letters"] and part["letters"] not in _JAVA:
            return None
        written.append(part["quoted"] or _JAVA.get(part[0], part[0]))
    found = "".join(written)
    return found if "%" in found else None


def _checked(layout: str) -> str:
    if not re.search("%[^%]", layout):
        better = _from_java(layout) or "%Y-%m-%d %H:%M:%S"
        raise Wrong(
            f"'{layout}' gives the same text for every timestamp: a format needs strftime "
            f"directives with %. Write '{better}'."
        )
    sample = pl.lit(datetime(2024, 1, 2, 3, 4, 5))
    zoned = sample.dt.replace_time_zone("UTC") if "%z" in layout else sample
    try:
        pl.select(zoned.dt.strftime(layout))
    except pl.exceptions.PolarsError:
        raise Wrong(f"'{layout}' is not a timestamp format.") from None
    return layout


def _fraction(layout: str, instead: str) -> str:
    """Translate %f as in Python: microseconds, after a point; elsewhere it has no width."""
    found = re.sub(r"(?<!%)((?:%%)*)\.%f", rf"\1{instead}", layout)
    if re.search(r"(?<!%)(?:%%)*%f", found):
        raise Wrong(f"'{layout}': %f is the fraction of a second, after a point: write '%S.%f'.")
    return found


def _strftime(time: pl.Expr, layout: str) -> pl.Expr:
    return time.dt.replace_time_zone("UTC").dt.strftime(_checked(_fraction(layout, "%.6f")))


def _strptime(text: pl.Expr, layout: str | None = None) -> pl.Expr:
    if layout is None:
        return parse_iso(text)
    layout = _checked(_fraction(layout, "%.f"))
    parsed = text.str.to_datetime(layout, time_unit="us", strict=False)
    return bounded(parsed.cast(pl.Int64))


_HALF = datetime(2024, 5, 19, 10, 20, 30, 500_000)

for _name, (_doc, _build, _example) in _PARTS.items():
    add(
        f"{_name}(time: timestamp) -> int",
        _doc,
        _build,
        (f"{_name}(TIMESTAMP '2024-05-19 10:20:30')", _example),
    )
add(
    "extract(part: const str, time: timestamp) -> int",
    f"A part of a timestamp: {', '.join(_PARTS)}.",
    _part,
    ("EXTRACT(hour FROM TIMESTAMP '2024-05-19 10:20:30')", 10),
    ("date_part('year', TIMESTAMP '2024-05-19')", 2024),
    aliases=("date_part",),
)
add(
    "date_trunc(unit: const str, time: timestamp) -> timestamp",
    f"Rounded down to a unit: {', '.join(_UNITS)}; a week starts on Monday.",
    _truncate,
    ("date_trunc('hour', TIMESTAMP '2024-05-19 10:20:30')", datetime(2024, 5, 19, 10)),
    ("date_trunc('week', TIMESTAMP '2024-05-19')", datetime(2024, 5, 13)),
)
add(
    "strftime(time: timestamp, format: const str) -> str",
    "A timestamp as text, by a strftime format such as '%Y-%m-%d %H:%M:%S'; Java and Spark "
    "patterns ('yyyy-MM-dd') are an error, which shows the strftime format.",
    _strftime,
    ("strftime(TIMESTAMP '2024-05-19', '%d.%m.%Y')", "19.05.2024"),
    ("strftime(TIMESTAMP '2024-05-19 10:20:30.5', '%S.%f')", "30.500000"),
    aliases=("date_format",),
)
add(
    "strptime(text: str, format?: const str) -> timestamp",
    "A text as a timestamp, by a strftime format, by default ISO 8601; null if it does not match.",
    _strptime,
    ("strptime('19.05.2024', '%d.%m.%Y')", datetime(2024, 5, 19)),
    ("strptime('10:20:30.5 2024-05-19', '%H:%M:%S.%f %Y-%m-%d')", _HALF),
    ("to_timestamp('2024-05-19T12:00:00+02:00')", datetime(2024, 5, 19, 10)),
    ("to_timestamp('yesterday')", None),
    aliases=("to_timestamp",),
)
add(
    "epoch(time: timestamp) -> float",
    "The seconds since 1970.",
    to_seconds,
    ("epoch(TIMESTAMP '1970-01-01 00:01:00.5')", 60.5),
)
add(
    "from_epoch(seconds: number) -> timestamp",
    "The timestamp a number of seconds after 1970.",
    lambda seconds: bounded(micros(seconds)),
    ("from_epoch(60)", datetime(1970, 1, 1, 0, 1)),
)
