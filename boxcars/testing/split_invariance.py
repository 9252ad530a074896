"""A test for user-defined boxes: results must not depend on how a stream is split into trains."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import polars as pl
import pyarrow as pa

from boxcars.engine.preview import preview
from boxcars.model.network import Network
from boxcars.model.problem import BoxcarsError

_MOST = 100
"""Trains; the finest split that is tried by default."""


def check_cuts(net: Network, sources: Mapping[str, Any], cuts: Iterable[int] | None = None) -> None:
    """Run a network with its input as one train and split into several; raise if outputs differ.

    Without ``cuts`` the input is split into 2, 3 and 7 trains, and into one for each tuple (at most
    100). A difference raises a BoxcarsError with the output and its first row that differs.

    >>> net = Network("n")
    >>> calls = net.input("calls", ts="t", fields={"t": "int"})
    >>> net.output("out", calls.apply(lambda train: train.head(1)).named("first"))
    >>> check_cuts(net, {"calls": {"t": [1, 2, 3]}})
    Traceback (most recent call last):
    boxcars.model.problem.BoxcarsError: output 'out' depends on the split: ...
    """
    whole = preview(net, sources)
    longest = max(whole.stats[name].tuples_in for name in net.inputs) if net.inputs else 0
    for trains in cuts if cuts is not None else sorted({2, 3, 7, min(max(longest, 2), _MOST)}):
        cut = preview(net, sources, trains=trains)
        for name, table in whole.items():
            if not _frame(cut[name]).equals(_frame(table)):
                raise BoxcarsError(_difference(name, table, cut[name], trains))


def _frame(table: pa.Table) -> pl.DataFrame:
    """Convert to Polars, for which NaN equals NaN."""
    frame = pl.from_arrow(table)
    assert isinstance(frame, pl.DataFrame)
    return frame


def _difference(name: str, whole: pa.Table, cut: pa.Table, trains: int) -> str:
    one, many = ([str(row) for row in table.to_pylist()] for table in (whole, cut))
    differ = [i for i, (a, b) in enumerate(zip(one, many, strict=False)) if a != b]
    row = differ[0] if differ else min(len(one), len(many))
    first, second = (rows[row] if row < len(rows) else "missing" for rows in (one, many))
    return (
        f"output '{name}' depends on the split: row {row} is {first} with one train, and "
        f"{second} with {trains} trains."
    )
