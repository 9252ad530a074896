"""What an input gives, turn by turn: its tuples in order, its frontier, and who came late."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import polars as pl

from boxcars.kernels.kernel import Frontier
from boxcars.kernels.reorder import GREATEST, Slack
from boxcars.model.entities import Input


@dataclass(frozen=True)
class Turn:
    """One turn of an input: tuples that are in order now, tuples that came late, the promise.

    ``late_at`` has, for each late tuple, the greatest order value that came before it.
    """

    train: pl.DataFrame
    late: pl.DataFrame
    late_at: pl.Series
    frontier: Frontier


def feed(tuples: pl.DataFrame, entity: Input, trains: int) -> Iterator[Turn]:
    """Cut the tuples into trains and put each in order, as far as its slack allows.

    A tuple is late if it is more than the slack behind the greatest order value before it. That
    does not depend on where the cuts are, and neither does the order in which tuples leave.
    """
    slack = Slack.of(entity.ts, entity.fields[entity.ts], entity.slack)
    state = slack.start(tuples.clear())
    for turn in range(trains):
        start, end = (len(tuples) * k // trains for k in (turn, turn + 1))
        train = tuples[start:end]
        ordered = slack.order(state, train, final=turn == trains - 1)
        late, late_at = train[:0], train[entity.ts][:0]
        if ordered.late.any():
            late = train.filter(ordered.late)
            seen = pl.concat([state[GREATEST][entity.ts], train[entity.ts]]).cum_max()
            late_at = seen[-train.height :].filter(ordered.late)
        state = ordered.state
        yield Turn(ordered.train, late, late_at, ordered.frontier)
