"""What an input gives, turn by turn: its tuples in order, its frontier, and who came late."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import polars as pl

from boxcars.kernels.contract import Frontier, State
from boxcars.kernels.ordering.sorting import GREATEST, Slack
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


def ordered_turns(tuples: pl.DataFrame, entity: Input, trains: int) -> Iterator[Turn]:
    """Cut the tuples into trains and put each in order, as far as its slack allows."""
    state: State | None = None
    for number in range(trains):
        start, end = (len(tuples) * k // trains for k in (number, number + 1))
        turn, state = take_turn(tuples[start:end], entity, state, final=number == trains - 1)
        yield turn


def take_turn(
    train: pl.DataFrame,
    entity: Input,
    state: State | None,
    final: bool,
    ahead: int | float | None = None,
) -> tuple[Turn, State]:
    """Put a train in order, as far as its slack allows; and what waits for the next.

    An input that is idle follows the others: ``ahead`` is how far they are, as a number, and it is
    as if a tuple with that order value had come.

    A tuple is late if it is more than the slack behind the greatest order value before it. That
    does not depend on where the cuts are, and neither does the order in which tuples leave.
    """
    slack = Slack.of(entity.ts, entity.fields[entity.ts], entity.slack)
    before = state or slack.start(train.clear())
    if ahead is not None:
        reached = pl.Series(entity.ts, [ahead]).cast(train.schema[entity.ts])
        seen = pl.concat([before[GREATEST][entity.ts], reached])
        before = {**before, GREATEST: seen.sort()[-1:].to_frame()}
    ordered = slack.order(before, train, final)
    late, late_at = train[:0], train[entity.ts][:0]
    if ordered.late.any():
        late = train.filter(ordered.late)
        seen = pl.concat([before[GREATEST][entity.ts], train[entity.ts]]).cum_max()
        late_at = seen[-train.height :].filter(ordered.late)
    return Turn(ordered.train, late, late_at, ordered.frontier), ordered.state
