"""Compute the expected answers from the input, minute by minute."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import polars as pl

from boxcars.linear_road.facts import (
    BALANCE,
    EXPENDITURE,
    REPORT,
    SEGMENTS,
    STALE,
    TRAVEL,
)
from boxcars.linear_road.following import NEVER, Found, Reports, follow, make_buffers, unseen_cars
from boxcars.linear_road.minutes import SEGMENT, Accidents, Spot, Statistics, tolls
from boxcars.linear_road.past import Past

_REPORTS = ["time", "vid", "spd", "lane", "pos"]


@dataclass(frozen=True)
class Expected:
    """The correct answers of a minute, by kind.

    Balances include all correct values, each with the time ``since`` when it was true.
    """

    minute: int
    answers: dict[str, pl.DataFrame]


class Expectation:
    """Compute the expected answers of an input that is sorted by time.

    It stores one minute of input, five minutes of statistics and a small state per car. Vehicle
    numbers start at 0 and are nearly dense.
    """

    def __init__(self, past: Past) -> None:
        self._past = past
        self._minute = 0
        self._waiting: list[pl.DataFrame] = []
        self._cars = unseen_cars(0)
        self._statistics, self._accidents = Statistics(), Accidents()
        self._segments = 0
        self._charges: list[pl.DataFrame] = []
        self._asked: tuple[pl.DataFrame, Expected] | None = None

    def feed(self, tuples: pl.DataFrame) -> Iterator[Expected]:
        """Process the next tuples; yield the expected answers of each complete minute.

        A minute is complete when the next one is over, because a balance may be newer than its
        request.
        """
        minutes = tuples.with_columns(minute=pl.col("time") // 60 + 1)
        for part in minutes.partition_by("minute", maintain_order=True, include_key=True):
            minute = int(part["minute"][0])
            if minute < self._minute:
                raise ValueError(f"the input is not sorted by time: minute {minute} is over")
            if minute > self._minute:
                yield from self._close()
                self._minute = minute
            self._waiting.append(part.drop("minute").cast(pl.Int32))

    def finish(self) -> Iterator[Expected]:
        """Yield the expected answers of the last minutes."""
        yield from self._close()
        yield from self._settle(None)

    def _close(self) -> Iterator[Expected]:
        """Process the minute that is over."""
        if not self._waiting:
            return
        tuples = pl.concat(self._waiting)
        self._waiting = []
        reports = tuples.filter(pl.col("type") == REPORT).select(*_REPORTS, SEGMENT)
        answers = self._drive(reports)
        self._statistics.add(self._minute, reports.select("segment", "vid", "spd"))
        answers["expenditures"] = self._expenditures(tuples.filter(pl.col("type") == EXPENDITURE))
        answers["travel_times"] = self._travel_times(tuples.filter(pl.col("type") == TRAVEL))
        asked = tuples.filter(pl.col("type") == BALANCE).select("qid", "vid", "time")
        yield from self._settle((asked.cast(pl.Int64), Expected(self._minute, answers)))

    def _drive(self, reports: pl.DataFrame) -> dict[str, pl.DataFrame]:
        """Update all cars; return the expected notifications of the minute."""
        self._grow(reports)
        lav, cars = self._statistics.of(self._minute, self._segments)
        ahead = self._accidents.ahead(self._segments)
        toll = tolls(lav, cars, ahead)
        columns = (reports[name].to_numpy().astype(np.int64) for name in Reports._fields)
        arrays, found = Reports(*columns), make_buffers(reports.height)
        follow(self._cars, arrays, toll, found)
        self._crash(arrays, found)
        self._keep_charges(arrays, found)
        entered = found.entered[: found.counts[0]]
        segment = arrays.segment[entered]
        keys = {"vid": arrays.vid[entered], "time": arrays.time[entered]}
        notified = pl.DataFrame({**keys, "lav": lav[segment], "toll": toll[segment]})
        warned = pl.DataFrame({**keys, "seg": ahead[segment]}).filter(pl.col("seg") >= 0)
        return {"tolls": notified, "accidents": warned}

    def _grow(self, reports: pl.DataFrame) -> None:
        """Grow the state for new cars and expressways."""
        if not reports.height:
            return
        segment, vid = reports.select(pl.col("segment").max(), pl.col("vid").max()).row(0)
        self._segments = max(self._segments, (segment // SEGMENTS + 1) * SEGMENTS)
        if vid >= len(self._cars):
            more = max(vid + 1, len(self._cars) * 3 // 2) - len(self._cars)
            self._cars = np.concatenate([self._cars, unseen_cars(more)])

    def _crash(self, reports: Reports, found: Found) -> None:
        """Record stopped and moving cars; it takes effect in the next minute."""
        for report, stands, *spot in found.halted[: found.counts[2]].tolist():
            change = self._accidents.stand if stands else self._accidents.move
            change(int(reports.vid[report]), Spot(*spot))

    def _keep_charges(self, reports: Reports, found: Found) -> None:
        """Store the charges of the last three minutes."""
        charged = found.charged[: found.counts[1]]
        report, before, since, after = charged.T
        columns = {"before": before, "since": since, "after": after}
        keys = {"vid": reports.vid[report], "at": reports.time[report]}
        first = (self._minute - 3) * 60
        kept = [c.filter(pl.col("at") >= first) for c in self._charges]
        self._charges = [*(c for c in kept if c.height), pl.DataFrame({**keys, **columns})]

    def _settle(self, asked: tuple[pl.DataFrame, Expected] | None) -> Iterator[Expected]:
        """Yield the minute before the one that was just processed."""
        if self._asked is not None:
            requests, expected = self._asked
            yield Expected(
                expected.minute, {**expected.answers, "balances": self._balances(requests)}
            )
        self._asked = asked

    def _balances(self, requests: pl.DataFrame) -> pl.DataFrame:
        """All balances that were true from a minute before a request until now."""
        charges = pl.concat(self._charges) if self._charges else None
        vids = requests["vid"].to_numpy()
        known = np.zeros(len(vids), bool) | (vids < len(self._cars))
        cars = self._cars[np.where(known, vids, 0)] if len(self._cars) else unseen_cars(len(vids))
        since, balance = cars["since"].astype(np.int64), cars["balance"]
        now = requests.with_columns(
            since=pl.Series(np.where(known, since, NEVER)),
            balance=pl.Series(np.where(known, balance, 0)),
        )
        if charges is None or not charges.height:
            return now
        recent = requests.join(charges, on="vid").filter(pl.col("at") >= pl.col("time") - STALE)
        before = recent.select("qid", "vid", "time", "since", balance="before")
        after = recent.select("qid", "vid", "time", since="at", balance="after")
        return pl.concat([now, before, after]).unique()

    def _expenditures(self, requests: pl.DataFrame) -> pl.DataFrame:
        requests = requests.cast(pl.Int64)
        answers = requests.select("qid", "time", self._past.expenditures(requests))
        return answers.drop_nulls()

    def _travel_times(self, requests: pl.DataFrame) -> pl.DataFrame:
        requests = requests.cast(pl.Int64)
        trips = self._past.travel_times(requests)
        return requests.select("qid", "time").hstack(trips).drop_nulls()


def expect_all(tuples: Iterator[pl.DataFrame], past: Past) -> Iterator[Expected]:
    """Yield the expected answers of a whole input."""
    expectation = Expectation(past)
    for frame in tuples:
        yield from expectation.feed(frame)
    yield from expectation.finish()
