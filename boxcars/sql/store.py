"""The interface of table stores, as boxes use it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

import polars as pl

from boxcars.model.entities import Table
from boxcars.sql.statement import Statement

TUPLE = "__tuple"
"""The row number, in its train, of the tuple that a record belongs to."""


class Store(Protocol):
    """The tables of a network while it runs."""

    @property
    def tables(self) -> Mapping[str, Table]:
        """The tables as the network declares them."""
        ...

    def run(self, statement: Statement, train: pl.DataFrame, names: Sequence[str]) -> pl.DataFrame:
        """Run a statement for each tuple of a train, in order; returns the records.

        A record has :data:`TUPLE` and then its columns under these names. The records of one tuple
        are in the order of ORDER BY, otherwise sorted by value, column by column, nulls first.
        """
        ...
