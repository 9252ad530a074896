"""The answers that the rules demand, from the input alone, minute by minute."""

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
from boxcars.linear_road.following import NEVER, Found, Reports, follow, nobody, room
from boxcars.linear_road.minutes import PLACE, Accidents, Spot, Statistics, tolls
from boxcars.linear_road.past import Past

_REPORTS = ["time", "vid", "spd", "lane", "pos"]


@dataclass(frozen=True)
class Expected:
    """The right answers of a minute, by kind.

    Of balances there are all that are right, each with the time ``since`` when it was true.
    """

    minute: int
    answers: dict[str, pl.DataFrame]


class Expectation:
    """Takes the input in the order of time, and says what must be answered.

    It keeps one minute of input, five minutes of statistics and a little of each car. Vehicles are
    numbers from 0 that are not much higher than there are vehicles.
    """

    def __init__(self, past: Past) -> None:
        self._past = past
        self._minute = 0
        self._waiting: list[pl.DataFrame] = []
        self._cars = nobody(0)
        self._statistics, self._accidents = Statistics(), Accidents()
        self._places = 0
        self._charges: list[pl.DataFrame] = []
        self._asked: tuple[pl.DataFrame, Expected] | None = None

    def feed(self, tuples: pl.DataFrame) -> Iterator[Expected]:
        """Take the next tuples; gives what is expected of each minute that is complete.

        A minute is complete when the next one is over, for a balance may be newer than its
        request.
        """
        minutes = tuples.with_columns(minute=pl.col("time") // 60 + 1)
        for part in minutes.partition_by("minute", maintain_order=True, include_key=True):
            minute = int(part["minute"][0])
            if minute < self._minute:
                raise ValueError(f"the input is not in the order of time: minute {minute} is over")
            if minute > self._minute:
                yield from self._close()
                self._minute = minute
            self._waiting.append(part.drop("minute").cast(pl.Int32))

    def finish(self) -> Iterator[Expected]:
        """What is expected of the last minutes."""
        yield from self._close()
        yield from self._settle(None)

    def _close(self) -> Iterator[Expected]:
        """Work through the minute that is over."""
        if not self._waiting:
            return
        tuples = pl.concat(self._waiting)
        self._waiting = []
        reports = tuples.filter(pl.col("type") == REPORT).select(*_REPORTS, PLACE)
        answers = self._drive(reports)
        self._statistics.add(self._minute, reports.select("place", "vid", "spd"))
        answers["expenditures"] = self._expenditures(tuples.filter(pl.col("type") == EXPENDITURE))
        answers["travel_times"] = self._travel_times(tuples.filter(pl.col("type") == TRAVEL))
        asked = tuples.filter(pl.col("type") == BALANCE).select("qid", "vid", "time")
        yield from self._settle((asked.cast(pl.Int64), Expected(self._minute, answers)))

    def _drive(self, reports: pl.DataFrame) -> dict[str, pl.DataFrame]:
        """Follow all cars through the minute."""
        self._grow(reports)
        lav, cars = self._statistics.of(self._minute, self._places)
        ahead = self._accidents.ahead(self._places)
        toll = tolls(lav, cars, ahead)
        columns = (reports[name].to_numpy().astype(np.int64) for name in Reports._fields)
        arrays, found = Reports(*columns), room(reports.height)
        follow(self._cars, arrays, toll, found)
        self._crash(arrays, found)
        self._keep_charges(arrays, found)
        entered = found.entered[: found.counts[0]]
        place = arrays.place[entered]
        keys = {"vid": arrays.vid[entered], "time": arrays.time[entered]}
        told = pl.DataFrame({**keys, "lav": lav[place], "toll": toll[place]})
        warned = pl.DataFrame({**keys, "seg": ahead[place]}).filter(pl.col("seg") >= 0)
        return {"tolls": told, "accidents": warned}

    def _grow(self, reports: pl.DataFrame) -> None:
        """Make room for cars and expressways that were not seen before."""
        if not reports.height:
            return
        place, vid = reports.select(pl.col("place").max(), pl.col("vid").max()).row(0)
        self._places = max(self._places, (place // SEGMENTS + 1) * SEGMENTS)
        if vid >= len(self._cars):
            more = max(vid + 1, len(self._cars) * 3 // 2) - len(self._cars)
            self._cars = np.concatenate([self._cars, nobody(more)])

    def _crash(self, reports: Reports, found: Found) -> None:
        """See who stands and who moves; it matters from the next minute on."""
        for report, stands, *spot in found.halted[: found.counts[2]].tolist():
            change = self._accidents.stand if stands else self._accidents.move
            change(int(reports.vid[report]), Spot(*spot))

    def _keep_charges(self, reports: Reports, found: Found) -> None:
        """Remember what was charged in the last three minutes."""
        charged = found.charged[: found.counts[1]]
        report, before, since, after = charged.T
        columns = {"before": before, "since": since, "after": after}
        keys = {"vid": reports.vid[report], "at": reports.time[report]}
        first = (self._minute - 3) * 60
        kept = [c.filter(pl.col("at") >= first) for c in self._charges]
        self._charges = [*(c for c in kept if c.height), pl.DataFrame({**keys, **columns})]

    def _settle(self, asked: tuple[pl.DataFrame, Expected] | None) -> Iterator[Expected]:
        """Finish the minute before the one that was worked through."""
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
        cars = self._cars[np.where(known, vids, 0)] if len(self._cars) else nobody(len(vids))
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
    """What is expected of a whole input."""
    expectation = Expectation(past)
    for frame in tuples:
        yield from expectation.feed(frame)
    yield from expectation.finish()
