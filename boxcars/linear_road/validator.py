"""The judge of Linear Road: all answers must be there, right and in time, and nothing else.

It computes all answers from the input, independently of the engine, and compares them with those
that the engine gave.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

import polars as pl

from boxcars.linear_road.expectation import Expectation
from boxcars.linear_road.facts import ANSWERS
from boxcars.linear_road.judging import Judge
from boxcars.linear_road.past import Past
from boxcars.linear_road.report import Report


def validate(
    tuples: Iterable[pl.DataFrame],
    answers: Mapping[str, pl.LazyFrame],
    past: Past,
    span: int = 5,
    timed_from: int = 0,
) -> Report:
    """Judge the answers to an input; at any time it holds those of ``span`` minutes.

    Latencies are those of answers to tuples from the second ``timed_from`` on.

    ``tuples`` are frames in the order of time, as :func:`boxcars.linear_road.traffic.generate`
    makes them. ``answers`` are as :func:`read_answers` gives them; a kind may be left out if there
    are none.
    """
    validator = Validator(answers, past, span, timed_from)
    for frame in tuples:
        validator.feed(frame)
    return validator.finish()


def read_answers(folder: Path) -> dict[str, pl.LazyFrame]:
    """The answers in Parquet files: a folder for each kind, or one file."""
    found = {}
    for kind in ANSWERS:
        files = sorted((folder / kind).rglob("*.parquet"))
        if (folder / f"{kind}.parquet").exists():
            files.append(folder / f"{kind}.parquet")
        if files:
            found[kind] = pl.scan_parquet(files)
    return found


class Validator:
    """Judges answers while the input goes by."""

    def __init__(
        self,
        answers: Mapping[str, pl.LazyFrame],
        past: Past,
        span: int = 5,
        timed_from: int = 0,
    ) -> None:
        self._expectation, self._judge = Expectation(past), Judge(answers, span, timed_from)

    def feed(self, tuples: pl.DataFrame) -> None:
        """Take the next tuples of the input."""
        for expected in self._expectation.feed(tuples):
            self._judge.take(expected)

    def finish(self) -> Report:
        """The input is over: judge what is left."""
        for expected in self._expectation.finish():
            self._judge.take(expected)
        return self._judge.finish()
