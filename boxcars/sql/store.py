"""What a box needs to know of the place where tables are stored."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

import polars as pl

from boxcars.model.entities import Table
from boxcars.sql.statement import Statement

TUPLE = "__tuple"
"""The place in its train of the tuple that a record belongs to."""


class Store(Protocol):
    """The tables of a network while it runs."""

    @property
    def tables(self) -> Mapping[str, Table]:
        """The tables as the network declares them."""
        ...

    def run(self, statement: Statement, train: pl.DataFrame, names: Sequence[str]) -> pl.DataFrame:
        """Run a statement for each tuple of a train, in order; the records that it gave.

        A record has :data:`TUPLE` and then its columns under these names. Those of one tuple come
        in the order of ORDER BY, or else in that of their values, column by column, nulls first.
        """
        ...
