"""A test for boxes of your own: the result must not depend on how the stream is cut."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import polars as pl
import pyarrow as pa

from boxcars.engine.preview import preview
from boxcars.model.network import Network
from boxcars.model.problem import BoxcarsError

_MOST = 100


def check_cuts(net: Network, sources: Mapping[str, Any], cuts: Iterable[int] | None = None) -> None:
    """Run a network with its input as one train and cut into several; all outputs must be equal.

    Without ``cuts`` it is cut into 2, 3 and 7 trains, and into one for each tuple (100 at most).
    What differs is one BoxcarsError, which names the output and the first row.

    >>> net = Network("n")
    >>> calls = net.input("calls", ts="t", fields={"t": "int"})
    >>> net.output("out", calls.apply(lambda train: train.head(1)).named("first"))
    >>> check_cuts(net, {"calls": {"t": [1, 2, 3]}})
    Traceback (most recent call last):
    boxcars.model.problem.BoxcarsError: output 'out' depends on the cut: ...
    """
    whole = preview(net, sources)
    longest = max(whole.stats[name].tuples_in for name in net.inputs) if net.inputs else 0
    for trains in cuts if cuts is not None else sorted({2, 3, 7, min(max(longest, 2), _MOST)}):
        cut = preview(net, sources, trains=trains)
        for name, table in whole.items():
            if not _frame(cut[name]).equals(_frame(table)):
                raise BoxcarsError(_difference(name, table, cut[name], trains))


def _frame(table: pa.Table) -> pl.DataFrame:
    """The table as Polars compares it: what is not a number equals itself."""
    frame = pl.from_arrow(table)
    assert isinstance(frame, pl.DataFrame)
    return frame


def _difference(name: str, whole: pa.Table, cut: pa.Table, trains: int) -> str:
    one, many = ([str(row) for row in table.to_pylist()] for table in (whole, cut))
    differ = [i for i, (a, b) in enumerate(zip(one, many, strict=False)) if a != b]
    row = differ[0] if differ else min(len(one), len(many))
    first, second = (rows[row] if row < len(rows) else "nothing" for rows in (one, many))
    return (
        f"output '{name}' depends on the cut: as row {row} one train gives {first}, "
        f"{trains} trains give {second}."
    )
