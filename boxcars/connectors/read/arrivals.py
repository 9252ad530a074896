"""Arrival times: the order attribute that the engine adds to tuples as they enter."""

from __future__ import annotations

from dataclasses import replace

import polars as pl

from boxcars.connectors.conform import Conformed
from boxcars.model.entities import ARRIVAL, Input
from boxcars.model.types import Type

_SECOND = 1_000_000
"""Microseconds."""


def stamp(tuples: pl.DataFrame, entity: Input, moment: int | None) -> pl.DataFrame:
    """Stamp tuples with one arrival time, in microseconds since 1970, if the input asks for it."""
    return _stamped(tuples, pl.lit(moment, pl.Int64)) if entity.stamped else tuples


def stamp_by_number(found: Conformed, entity: Input) -> Conformed:
    """Stamp the tuples of a preview: tuple ``n`` arrives ``n`` seconds after 1970-01-01.

    A preview has no wall clock, and the same data must give the same results.
    """
    if not entity.stamped:
        return found
    moments = pl.int_range(pl.len(), dtype=pl.Int64) * _SECOND
    return replace(found, tuples=_stamped(found.tuples, moments))


def _stamped(tuples: pl.DataFrame, moments: pl.Expr) -> pl.DataFrame:
    return tuples.with_columns(moments.cast(Type.TIMESTAMP.dtype).alias(ARRIVAL))
