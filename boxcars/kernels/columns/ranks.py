"""Ranks: where a tuple stands among those of its arc, so that trains from many places merge.

In one process the order of a train says it all. Where a box runs in many places, each of its
trains is in order, but between tuples of one order value only their *rank* can tell which is first:
hidden columns, compared one after the other, a null before everything. An arc is in the order of
its order attribute and then of the ranks; one whose order attribute was computed anew is in the
order of the ranks alone. They are the same however the tuples were spread and cut.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

import polars as pl

RANK = "__r"
"""What the names of the columns start with; a number follows."""


def rank_names(columns: Iterable[str]) -> list[str]:
    """The names of the ranks, the first to compare first.

    >>> rank_names(["time", "__r1", "__pos", "__r0"])
    ['__r0', '__r1']
    """
    found = [name for name in columns if name.startswith(RANK)]
    return sorted(found, key=lambda name: int(name.removeprefix(RANK)))


def ranks_of(train: pl.DataFrame) -> list[pl.Series]:
    """The ranks of the tuples."""
    return [train[name] for name in rank_names(train.columns)]


def with_ranks(train: pl.DataFrame, ranks: Sequence[pl.Series]) -> pl.DataFrame:
    """The train with these as its only ranks."""
    bare = train.drop(rank_names(train.columns))
    return bare.hstack([rank.alias(f"{RANK}{number}") for number, rank in enumerate(ranks)])


def behind(first: pl.Expr, names: Sequence[str]) -> list[pl.Expr]:
    """One more rank, to be compared before those that are there."""
    moved = [pl.col(name).alias(f"{RANK}{number + 1}") for number, name in enumerate(names)]
    return [first.alias(f"{RANK}0"), *moved]


def merge_trains(trains: Sequence[pl.DataFrame], ts: str | None) -> pl.DataFrame:
    """Trains in order as one in order; ``ts`` is None where the ranks alone say what that is.

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
    places = [place // 2 for place in edges.select(order).to_series().to_list()]
    whole: pl.DataFrame = pl.concat(
        [_ordered(full[place], columns) for place in dict.fromkeys(places)]
    )
    if places[::2] == places[1::2]:  # they lie one behind the other
        return whole
    return whole.sort(by, nulls_last=False, maintain_order=True)


def _ordered(train: pl.DataFrame, columns: list[str]) -> pl.DataFrame:
    return train if train.columns == columns else train.select(columns)


def share_tuples(
    frames: Sequence[pl.DataFrame], mine: Callable[[pl.DataFrame], pl.Series], ts: str
) -> pl.DataFrame:
    """The tuples that are one's own among those of several places, in order."""
    return merge_trains([frame.filter(mine(frame)) for frame in frames], ts)


def alike(trains: Sequence[pl.DataFrame]) -> list[pl.DataFrame]:
    """The trains of several inputs with the same ranks; the first is the number of the input.

    So ranks of different inputs are never compared, and share columns where their types allow it.
    """
    names = [rank_names(train.columns) for train in trains]
    if not any(names):
        return list(trains)
    columns, places = _fit(
        [[t.schema[n] for n in own] for t, own in zip(trains, names, strict=True)]
    )
    found = []
    for port, train in enumerate(trains):
        ranks = [pl.lit(port, pl.Int64), *(pl.lit(None, dtype) for dtype in columns)]
        for name, place in zip(names[port], places[port], strict=True):
            ranks[place + 1] = pl.col(name)
        own = [rank.alias(f"{RANK}{number}") for number, rank in enumerate(ranks)]
        found.append(train.select(pl.exclude(names[port]), *own))
    return found


def _fit(types: Sequence[Sequence[pl.DataType]]) -> tuple[list[pl.DataType], list[list[int]]]:
    """Types of columns into which all these lists fit, each in its order, and where they do.

    >>> _fit([[pl.Int64(), pl.String()], [pl.Int64(), pl.Int64()]])
    ([Int64, String, Int64], [[0, 1], [0, 2]])
    """
    columns: list[pl.DataType] = []
    places: list[list[int]] = [[] for _ in types]
    for port in sorted(range(len(types)), key=lambda port: -len(types[port])):
        at = 0
        for dtype in types[port]:
            while at < len(columns) and columns[at] != dtype:
                at += 1
            columns += [dtype] if at == len(columns) else []
            places[port].append(at)
            at += 1
    return columns, places
