"""Traffic for tests: a quarter of an hour with congestion, two accidents and cars that return."""

from __future__ import annotations

from functools import cache

import polars as pl

from boxcars.linear_road.expectation import Expected, expect_all
from boxcars.linear_road.facts import ANSWERS
from boxcars.linear_road.past import Seeded
from boxcars.linear_road.traffic import generate

SEED, STOP, DENSITY = 45, 960, 6.0
PAST = Seeded(0.5, SEED)


@cache
def tuples() -> list[pl.DataFrame]:
    return list(generate(0.5, SEED, stop=STOP, step=60, density=DENSITY))


@cache
def expected() -> list[Expected]:
    return list(expect_all(iter(tuples()), PAST))


def expected_of(kind: str) -> pl.DataFrame:
    return pl.concat([minute.answers[kind] for minute in expected()])


@cache
def perfect() -> dict[str, pl.DataFrame]:
    return answers_of(expected())


def answers_of(minutes: list[Expected]) -> dict[str, pl.DataFrame]:
    """All answers, correct and half a second after their tuples."""
    answers = {}
    for kind, schema in ANSWERS.items():
        frame = pl.concat([minute.answers[kind] for minute in minutes])
        if kind == "balances":
            frame = (
                frame.filter(pl.col("since") <= pl.col("time"))
                .sort("since")
                .unique("qid", keep="last")
                .with_columns(result_time=pl.col("since").clip(0))
            )
        frame = frame.with_columns(emit=pl.col("time") + 0.5)
        answers[kind] = frame.select(list(schema)).sort("time", *schema)
    return answers
