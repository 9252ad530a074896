"""An application: a network, generated data, and the cases that are planted in the data."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field

import polars as pl

from boxcars.model.network import Network

Chunk = Mapping[str, pl.DataFrame]
"""Sorted tuples of an interval of event time, by input."""


@dataclass(frozen=True)
class Feed:
    """Generated data: a lazy sequence of chunks, and the cases planted in them.

    ``planted`` has the cases that each output must report; its columns are the fields that
    identify a case in a report. ``tables`` are the stored tables that the network needs.
    """

    chunks: Iterator[Chunk]
    planted: Mapping[str, pl.DataFrame]
    tables: Mapping[str, pl.DataFrame] = field(default_factory=dict)


@dataclass(frozen=True)
class App:
    """An application from the papers.

    ``feed(rows, seed)`` generates exactly ``rows`` tuples; the same seed gives the same tuples.
    """

    name: str
    family: str
    sentence: str
    unit: str
    build: Callable[[], Network]
    feed: Callable[[int, int], Feed]


@dataclass(frozen=True)
class Verdict:
    """The reports of an output, compared with the planted cases."""

    found: pl.DataFrame
    missed: pl.DataFrame
    false: pl.DataFrame


def judge(planted: pl.DataFrame, reports: pl.DataFrame) -> Verdict:
    """Compare reports with the planted cases; repeated reports of a case count once.

    >>> reports = pl.DataFrame({"phone": ["a", "a", "c"]})
    >>> verdict = judge(pl.DataFrame({"phone": ["a", "b"]}), reports)
    >>> verdict.found["phone"].to_list(), verdict.missed["phone"].to_list()
    (['a'], ['b'])
    >>> verdict.false["phone"].to_list()
    ['c']
    """
    keys = planted.columns
    planted, reported = planted.unique(maintain_order=True), reports.select(keys)
    reported = reported.unique(maintain_order=True)
    return Verdict(
        planted.join(reported, on=keys, how="semi", nulls_equal=True, maintain_order="left"),
        planted.join(reported, on=keys, how="anti", nulls_equal=True, maintain_order="left"),
        reported.join(planted, on=keys, how="anti", nulls_equal=True, maintain_order="left"),
    )
