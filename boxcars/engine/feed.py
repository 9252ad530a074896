"""What an input gives, turn by turn: its tuples in order, its frontier, and who came late."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

import polars as pl

from boxcars.kernels.kernel import Frontier, split_point
from boxcars.model.entities import Input
from boxcars.model.types import Type

_LEAST = -(2**63)
_MOST = 2**64 - 1
_LONGEST = 10**12
"""More units, and more seconds, than there can be between two order values."""


@dataclass(frozen=True)
class Turn:
    """One turn of an input: tuples that are in order now, tuples that came late, the promise."""

    train: pl.DataFrame
    late: pl.DataFrame
    frontier: Frontier


def feed(tuples: pl.DataFrame, entity: Input, trains: int) -> Iterator[Turn]:
    """Cut the tuples into trains and put each in order, as far as its slack allows.

    A tuple is late if it is more than the slack behind the greatest order value before it. That
    does not depend on where the cuts are, and neither does the order in which tuples leave.
    """
    slack = _slack(entity)
    waiting = tuples.clear()
    greatest: Any = None
    for turn in range(trains):
        final = turn == trains - 1
        start, end = (len(tuples) * k // trains for k in (turn, turn + 1))
        train = tuples[start:end]
        late = train.clear()
        if not train[entity.ts].is_sorted() or _behind(train, entity.ts, greatest):
            train, late = _split_late(train, entity.ts, greatest, slack)
            train = pl.concat([waiting, train]).sort(entity.ts, maintain_order=True)
        elif waiting.height:
            train = pl.concat([waiting, train])
        if train.height:
            last: Any = train[entity.ts][-1]
            greatest = last if greatest is None else max(greatest, last)
        value = greatest if final or greatest is None else _minus(greatest, slack)
        frontier = Frontier(value, final)
        cut = split_point(train, entity.ts, frontier)
        waiting = train[cut:]
        yield Turn(train[:cut], late, frontier)


def _slack(entity: Input) -> Any:
    """The slack as something to subtract from an order value."""
    if entity.fields[entity.ts] is Type.TIMESTAMP:
        return timedelta(seconds=min(entity.slack, _LONGEST))
    if entity.fields[entity.ts] is Type.INT:
        return min(int(entity.slack), _MOST)
    return float(entity.slack)


def _minus(greatest: Any, slack: Any) -> Any:
    if isinstance(greatest, datetime):
        return greatest - min(slack, greatest - datetime.min)  # there is nothing before year 1
    return max(greatest - slack, _LEAST) if isinstance(greatest, int) else greatest - slack


def _behind(train: pl.DataFrame, ts: str, greatest: Any) -> bool:
    return greatest is not None and train.height > 0 and train[ts][0] < greatest


def _split_late(
    train: pl.DataFrame, ts: str, greatest: Any, slack: Any
) -> tuple[pl.DataFrame, pl.DataFrame]:
    """The tuples in time and those that are late, by the greatest order value before each."""
    before = pl.col(ts).cum_max().shift(1)
    if greatest is not None:
        before = pl.max_horizontal(before, pl.lit(greatest, dtype=train.schema[ts]))
    behind = before - pl.col(ts)
    if isinstance(slack, int):
        behind = behind.reinterpret(signed=False)  # may exceed what a signed int holds
    too_far = behind > slack
    if isinstance(slack, float):
        too_far = pl.col(ts) < before - slack  # rounded just like the frontier
    late = ((pl.col(ts) < before) & too_far).fill_null(value=False)
    marked = train.with_columns(late.alias("__late"))
    return (
        marked.filter(~pl.col("__late")).drop("__late"),
        marked.filter("__late").drop("__late"),
    )
