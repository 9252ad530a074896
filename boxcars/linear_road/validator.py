"""The validator of Linear Road: all answers must be correct and in time, with no others.

It computes all answers from the input, independently of the engine, and compares them with the
answers of the engine.
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
    """Validate the answers to an input, with ``span`` minutes in memory at any time.

    Latencies are measured for tuples from the second ``timed_from`` on.

    ``tuples`` are frames sorted by time, as from :func:`boxcars.linear_road.traffic.generate`.
    ``answers`` are as from :func:`read_answers`; a kind without answers may be omitted.
    """
    validator = Validator(answers, past, span, timed_from)
    for frame in tuples:
        validator.feed(frame)
    return validator.finish()


def read_answers(folder: Path) -> dict[str, pl.LazyFrame]:
    """Read answers from Parquet files: a folder for each kind, or one file."""
    found = {}
    for kind in ANSWERS:
        files = sorted((folder / kind).rglob("*.parquet"))
        if (folder / f"{kind}.parquet").exists():
            files.append(folder / f"{kind}.parquet")
        if files:
            found[kind] = pl.scan_parquet(files)
    return found


class Validator:
    """Validate answers while the input is processed."""

    def __init__(
        self,
        answers: Mapping[str, pl.LazyFrame],
        past: Past,
        span: int = 5,
        timed_from: int = 0,
    ) -> None:
        self._expectation, self._judge = Expectation(past), Judge(answers, span, timed_from)

    def feed(self, tuples: pl.DataFrame) -> None:
        """Process the next tuples of the input."""
        for expected in self._expectation.feed(tuples):
            self._judge.take(expected)

    def finish(self) -> Report:
        """The input has ended: judge the remaining answers."""
        for expected in self._expectation.finish():
            self._judge.take(expected)
        return self._judge.finish()
