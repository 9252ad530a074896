"""Puts an input in order, turn by turn: its tuples, its late tuples and its frontier."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import polars as pl

from boxcars.kernels.contract import Frontier, State
from boxcars.kernels.ordering.sorting import GREATEST, Slack
from boxcars.model.entities import Input


@dataclass(frozen=True)
class Turn:
    """One turn of an input: its ordered tuples, its late tuples, and its frontier (watermark).

    ``late_at`` has, for each late tuple, the greatest order value that arrived before it.
    """

    train: pl.DataFrame
    late: pl.DataFrame
    late_at: pl.Series
    frontier: Frontier


def ordered_turns(tuples: pl.DataFrame, entity: Input, trains: int) -> Iterator[Turn]:
    """Split the tuples into trains, and sort each as far as the slack of the input allows."""
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
    """Sort a train as far as the slack of its input allows; also return the tuples still waiting.

    A silent input may follow the others or the wall clock: ``ahead`` is their greatest order value
    or the time, as a number, and counts as if a tuple with it had arrived.

    A tuple is late if it is more than the slack below the greatest order value that arrived before
    it. Neither lateness nor the order of the output depends on how the input is split into trains.
    """
    slack = Slack.of(entity.ts, entity.order_type, entity.slack)
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
