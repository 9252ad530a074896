"""Compare answers with expected answers, in both directions.

A balance may be one of several correct values; everything else must match exactly.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import polars as pl

from boxcars.linear_road.expectation import Expected
from boxcars.linear_road.facts import ANSWERS, DEADLINES, STALE
from boxcars.linear_road.report import Found, Report

_KEYS = {kind: ["vid", "time"] for kind in ("tolls", "accidents")} | {
    kind: ["qid", "time"] for kind in ("balances", "expenditures", "travel_times")
}
_TAG = "expected_"


class Judge:
    """Compare expected answers, given minute by minute, with answers, ``span`` minutes at once."""

    def __init__(
        self, answers: Mapping[str, pl.LazyFrame], span: int = 5, timed_from: int = 0
    ) -> None:
        empty = {kind: pl.LazyFrame(schema=schema) for kind, schema in ANSWERS.items()}
        self._answers = {
            kind: frame.select(list(ANSWERS[kind])).cast(pl.Schema(ANSWERS[kind]))
            for kind, frame in {**empty, **answers}.items()
        }
        self._span, self._timed_from = span, timed_from
        self._waiting: list[Expected] = []
        self._judged: tuple[int, int] | None = None
        self._report = Report({kind: Found() for kind in ANSWERS})

    def take(self, expected: Expected) -> None:
        """Add the expected answers of the next minute."""
        self._waiting.append(expected)
        if expected.minute - self._waiting[0].minute + 1 >= self._span:
            self._judge()

    def finish(self) -> Report:
        """Judge the remaining minutes, and answers with times outside the run."""
        self._judge()
        first, last = self._judged or (0, 0)
        for kind, frame in self._answers.items():
            outside = pl.col("time").is_null() | ~pl.col("time").is_between(first, last, "left")
            self._unexpected(kind, frame.filter(outside).collect(engine="streaming"))
        return self._report

    def _judge(self) -> None:
        """Compare the answers of the pending minutes; minutes in between have no tuples."""
        if not self._waiting:
            return
        start, stop = (self._waiting[0].minute - 1) * 60, self._waiting[-1].minute * 60
        if self._judged is not None:
            start = self._judged[1]
        for kind, frame in self._answers.items():
            there = pl.col("time").is_between(start, stop, "left")
            expected = pl.concat([minute.answers[kind] for minute in self._waiting])
            given = frame.filter(there).collect(engine="streaming")
            self._compare(kind, expected, given.sort("emit", maintain_order=True))
        self._judged = (self._judged[0] if self._judged else start, stop)
        self._waiting = []

    def _compare(self, kind: str, expected: pl.DataFrame, given: pl.DataFrame) -> None:
        """Every expected answer must be given, and every given answer must be expected."""
        keys, found = _KEYS[kind], self._report.kinds[kind]
        timed = given.filter(pl.col("time") >= self._timed_from)
        found.time((timed["emit"] - timed["time"]).drop_nulls().to_numpy())
        missing = expected.select(keys).unique().join(given, on=keys, how="anti")
        found.add("missing", missing.height, missing.sort(keys).head().to_dicts())
        self._unexpected(kind, given.join(expected, on=keys, how="anti"))
        given = given.join(expected, on=keys, how="semi", maintain_order="left")
        first = pl.struct(keys).is_first_distinct()
        doubled = given.filter(~first)
        found.add("duplicate", doubled.height, doubled.head().to_dicts())
        judged = _right(kind, given.filter(first), expected)
        in_time = pl.col("emit") - pl.col("time") <= DEADLINES[kind]
        wrong, late = judged.filter(~pl.col("right")), judged.filter("right", ~in_time)
        found.add("wrong", wrong.height, _with_expected(wrong.drop("right"), kind, expected))
        found.add("late", late.height, late.drop("right").head().to_dicts())
        found.right += judged.height - wrong.height - late.height

    def _unexpected(self, kind: str, given: pl.DataFrame) -> None:
        self._report.kinds[kind].add("unexpected", given.height, given.head().to_dicts())


def _right(kind: str, given: pl.DataFrame, expected: pl.DataFrame) -> pl.DataFrame:
    """Mark correct answers; lateness is not checked here, but early emission is."""
    keys = _KEYS[kind]
    values = [name for name in ANSWERS[kind] if name not in {*keys, "emit", "result_time"}]
    both = given.with_row_index("row").join(expected, on=keys, suffix="_expected")
    same = [pl.col(name) == pl.col(f"{name}_expected") for name in values]
    if kind == "balances":
        stale = pl.col("time") - STALE
        oldest = pl.min_horizontal("since", stale)
        same += [
            pl.col("since") <= pl.col("emit"),
            pl.col("result_time").is_between(oldest, pl.col("emit")),
        ]
    right = pl.all_horizontal(*same, pl.col("emit") >= pl.col("time")).fill_null(False)
    mask = np.zeros(given.height, bool)
    mask[both.filter(right)["row"].to_numpy()] = True
    return given.with_columns(right=pl.Series(mask))


def _with_expected(
    wrong: pl.DataFrame, kind: str, expected: pl.DataFrame
) -> list[dict[str, object]]:
    """Some wrong answers, each with a correct one."""
    keys, wrong = _KEYS[kind], wrong.head()
    there = expected.join(wrong, on=keys, how="semi").unique(keys, keep="last", maintain_order=True)
    names = {name: _TAG + name for name in there.columns if name not in keys}
    return wrong.join(there.rename(names), on=keys, how="left", maintain_order="left").to_dicts()
