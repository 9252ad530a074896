"""Ranks: a total order of the tuples of an arc, by which trains of several instances merge.

In one process the order within a train is enough. Where a box runs on several instances, each of
its trains is in order, but between tuples of equal order value only their *rank* decides: hidden
columns, compared one after the other, nulls first. An arc is ordered by its order attribute and
then by rank; an arc whose order attribute was recomputed, by rank alone. Ranks do not depend on how
the stream was partitioned or split into trains.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

import polars as pl

RANK = "__r"
"""Name prefix of the rank columns; a number follows."""


def rank_names(columns: Iterable[str]) -> list[str]:
    """The names of the rank columns, most significant first.

    >>> rank_names(["time", "__r1", "__pos", "__r0"])
    ['__r0', '__r1']
    """
    found = [name for name in columns if name.startswith(RANK)]
    return sorted(found, key=lambda name: int(name.removeprefix(RANK)))


def ranks_of(train: pl.DataFrame) -> list[pl.Series]:
    """The rank columns of a train."""
    return [train[name] for name in rank_names(train.columns)]


def with_ranks(train: pl.DataFrame, ranks: Sequence[pl.Series]) -> pl.DataFrame:
    """The train with these as its only rank columns."""
    bare = train.drop(rank_names(train.columns))
    return bare.hstack([rank.alias(f"{RANK}{number}") for number, rank in enumerate(ranks)])


def prepend_rank(first: pl.Expr, names: Sequence[str]) -> list[pl.Expr]:
    """Prepend a rank, more significant than those that exist."""
    moved = [pl.col(name).alias(f"{RANK}{number + 1}") for number, name in enumerate(names)]
    return [first.alias(f"{RANK}0"), *moved]


def merge_trains(trains: Sequence[pl.DataFrame], ts: str | None) -> pl.DataFrame:
    """Merge ordered trains into one; without ``ts``, by rank alone.

    >>> parts = [pl.DataFrame({"t": [1, 1], "__r0": [0, 3]}), pl.DataFrame({"t": [1], "__r0": [2]})]
    >>> merge_trains(parts, "t")["__r0"].to_list()
    [0, 2, 3]
    """
    full = [train for train in trains if train.height]
    if len(full) < 2:
        return (full or list(trains))[0]
    columns = full[0].columns
    by = [*([ts] if ts is not None else []), *rank_names(columns)]
    edges = pl.concat([train.select(by)[[0, -1]] for train in full])
    order = pl.arg_sort_by(by, nulls_last=False, maintain_order=True)
    trains_by_edge = [edge // 2 for edge in edges.select(order).to_series().to_list()]
    merged: pl.DataFrame = pl.concat(
        [_ordered(full[number], columns) for number in dict.fromkeys(trains_by_edge)]
    )
    if trains_by_edge[::2] == trains_by_edge[1::2]:  # the trains do not overlap
        return merged
    return merged.sort(by, nulls_last=False, maintain_order=True)


def _ordered(train: pl.DataFrame, columns: list[str]) -> pl.DataFrame:
    return train if train.columns == columns else train.select(columns)


def merge_owned(
    frames: Sequence[pl.DataFrame], owned: Callable[[pl.DataFrame], pl.Series], ts: str
) -> pl.DataFrame:
    """Merge the tuples of several instances in order, keeping only those this instance owns."""
    return merge_trains([frame.filter(owned(frame)) for frame in frames], ts)


def align_ranks(trains: Sequence[pl.DataFrame]) -> list[pl.DataFrame]:
    """Align the rank columns of several inputs; the input number becomes the first rank.

    So ranks of different inputs are never compared. They share columns where their types allow it.
    """
    names = [rank_names(train.columns) for train in trains]
    if not any(names):
        return list(trains)
    columns, slots = _common_columns(
        [[t.schema[n] for n in own] for t, own in zip(trains, names, strict=True)]
    )
    found = []
    for port, train in enumerate(trains):
        ranks = [pl.lit(port, pl.Int64), *(pl.lit(None, dtype) for dtype in columns)]
        for name, slot in zip(names[port], slots[port], strict=True):
            ranks[slot + 1] = pl.col(name)
        own = [rank.alias(f"{RANK}{number}") for number, rank in enumerate(ranks)]
        found.append(train.select(pl.exclude(names[port]), *own))
    return found


def _common_columns(
    types: Sequence[Sequence[pl.DataType]],
) -> tuple[list[pl.DataType], list[list[int]]]:
    """Column types that hold each of these lists in order, and the columns each list uses.

    >>> _common_columns([[pl.Int64(), pl.String()], [pl.Int64(), pl.Int64()]])
    ([Int64, String, Int64], [[0, 1], [0, 2]])
    """
    columns: list[pl.DataType] = []
    slots: list[list[int]] = [[] for _ in types]
    for port in sorted(range(len(types)), key=lambda port: -len(types[port])):
        at = 0
        for dtype in types[port]:
            while at < len(columns) and columns[at] != dtype:
                at += 1
            columns += [dtype] if at == len(columns) else []
            slots[port].append(at)
            at += 1
    return columns, slots
