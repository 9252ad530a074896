"""Ranks where a box does not see to them itself: numbers, and an order attribute computed anew."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import polars as pl

from boxcars.kernels.columns.ranks import RANK, behind, rank_names, ranks_of, with_ranks
from boxcars.kernels.contract import State, Stateful
from boxcars.model.arc import MAIN
from boxcars.model.box import Box
from boxcars.model.schema import Schema

_NUMBERED = "numbered"
"""The frame of a state that says how many tuples have left each output."""


def keeps_order(box: Box, schema: Schema, after: Schema) -> bool:
    """Whether the tuples that leave are known to have the order values with which they came."""
    return box.carries(after.ts, schema) == schema.ts


def ranked_by_time(names: Sequence[str], ts: str) -> list[pl.Expr]:
    """The columns that make the order value the first rank, before it is computed anew."""
    return behind(pl.col(ts), names) if names else []


def box_state(state: State) -> State:
    """What is the box's own of a state."""
    return {name: frame for name, frame in state.items() if name != _NUMBERED}


def rank_leaving(
    box: Stateful,
    before: State,
    entering: Sequence[pl.DataFrame],
    leaving: Mapping[str, pl.DataFrame],
    schemas: tuple[Schema, ...],
) -> tuple[dict[str, pl.DataFrame], State]:
    """Ranks for what leaves, and what must be known for the next time.

    A box that runs in one place numbers what it gives; one that has ranks of its own has them on
    its main outputs, and what goes aside, such as late tuples, stands as it came.
    """
    if not any(rank_names(train.columns) for train in entering):
        return dict(leaving), {}
    if box.spreads():
        aside = {p: t for p, t in leaving.items() if p in box.side_ports and p != MAIN}
        return {**leaving, **{p: _as_it_came(t, schemas[0].ts) for p, t in aside.items()}}, {}
    counts = dict(before[_NUMBERED].iter_rows()) if _NUMBERED in before else {}
    numbered = {}
    for port, train in leaving.items():
        first = counts.get(port, 0)
        counts[port] = first + train.height
        number = pl.int_range(first, counts[port], dtype=pl.Int64, eager=True)
        numbered[port] = with_ranks(train, [number])
    rows = {"port": list(counts), "number": list(counts.values())}
    return numbered, {_NUMBERED: pl.DataFrame(rows, schema_overrides={"number": pl.Int64})}


def told_apart(train: pl.DataFrame) -> pl.DataFrame:
    """One more rank for tuples of the same rank: they come from one place, in their order."""
    names = rank_names(train.columns)
    if not names:
        return train
    return train.with_columns(pl.int_range(pl.len(), dtype=pl.Int64).alias(f"{RANK}{len(names)}"))


def _as_it_came(train: pl.DataFrame, ts: str) -> pl.DataFrame:
    return with_ranks(train, [train[ts], *ranks_of(train)]) if ranks_of(train) else train
