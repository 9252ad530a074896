"""Ranks of tuples that leave boxes which do not assign ranks themselves."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import polars as pl

from boxcars.kernels.columns.ranks import RANK, prepend_rank, rank_names, ranks_of, with_ranks
from boxcars.kernels.contract import State, Stateful
from boxcars.model.arc import MAIN
from boxcars.model.box import Box
from boxcars.model.schema import Schema

_NUMBERED = "numbered"
"""The frame of a state with the number of tuples that have left each port."""


def keeps_order(box: Box, schema: Schema, after: Schema) -> bool:
    """Whether a box is known to leave the order values of its tuples unchanged."""
    return box.carries(after.ts, schema) == schema.ts


def ranked_by_time(names: Sequence[str], ts: str) -> list[pl.Expr]:
    """Columns that make the order value the first rank, before a box computes a new one."""
    return prepend_rank(pl.col(ts), names) if names else []


def box_state(state: State) -> State:
    """The part of a state that belongs to the box: all but the counts for its ranks."""
    return {name: frame for name, frame in state.items() if name != _NUMBERED}


def rank_leaving(
    box: Stateful,
    before: State,
    entering: Sequence[pl.DataFrame],
    leaving: Mapping[str, pl.DataFrame],
    schemas: tuple[Schema, ...],
) -> tuple[dict[str, pl.DataFrame], State]:
    """Assign ranks to leaving tuples; also return the counts for the next step.

    A box on a single instance numbers its results. A box on several instances ranks its main
    outputs itself; tuples on its side ports, such as late ones, keep their rank of arrival.
    """
    if not any(rank_names(train.columns) for train in entering):
        return dict(leaving), {}
    if box.spreads():
        aside = {p: t for p, t in leaving.items() if p in box.side_ports and p != MAIN}
        return {
            **leaving,
            **{p: _ranked_by_arrival(t, schemas[0].ts) for p, t in aside.items()},
        }, {}
    counts = dict(before[_NUMBERED].iter_rows()) if _NUMBERED in before else {}
    numbered = {}
    for port, train in leaving.items():
        first = counts.get(port, 0)
        counts[port] = first + train.height
        number = pl.int_range(first, counts[port], dtype=pl.Int64, eager=True)
        numbered[port] = with_ranks(train, [number])
    rows = {"port": list(counts), "number": list(counts.values())}
    return numbered, {_NUMBERED: pl.DataFrame(rows, schema_overrides={"number": pl.Int64})}


def with_tie_breaker(train: pl.DataFrame) -> pl.DataFrame:
    """Append a tie-breaker to the ranks: the row index in the train."""
    names = rank_names(train.columns)
    if not names:
        return train
    return train.with_columns(pl.int_range(pl.len(), dtype=pl.Int64).alias(f"{RANK}{len(names)}"))


def _ranked_by_arrival(train: pl.DataFrame, ts: str) -> pl.DataFrame:
    return with_ranks(train, [train[ts], *ranks_of(train)]) if ranks_of(train) else train
